import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Column, Schema, infer_schema, profile
from aliquot.cohort.proposals import gap_marks, unit_factor

REST = np.linspace(35.0, 41.0, 120).round(1)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("mark", [-999.0, -99.0, -9.0, -1.0, 999.0, 9999.0, 99.9, 888.0])
def test_marks_of_gaps_stand_apart_and_repeat(mark):
    assert gap_marks(np.append(REST, [mark] * 10)) == (mark,)
    assert gap_marks(np.append(REST, [mark] * 9)) == ()
    assert gap_marks(np.append(REST, [mark] * 20), np.append(np.arange(120), [0] * 20)) == ()


def test_several_marks_are_found_together():
    assert gap_marks(np.concatenate([REST, [999.0] * 10, [888.0] * 10])) == (888.0, 999.0)


@pytest.mark.parametrize(
    "values",
    [
        np.append(np.arange(98.0), [99.0] * 20),  # ages up to 99
        np.append(REST, [500.0] * 20),  # no mark that people use
        np.repeat(np.arange(10.0), 20),  # a score up to 9
        np.full(50, 999.0),
        np.full(50, np.nan),
    ],
)
def test_values_within_reach_of_others_are_no_marks(values):
    assert gap_marks(values) == ()


@pytest.mark.parametrize("factor", [10.0, 18.0, 88.4, 1000.0])
def test_two_units_are_told_by_their_factor(factor):
    first = RNG.lognormal(0, 0.2, 300)
    assert unit_factor(np.append(first, factor * first[:10])) == factor
    assert unit_factor(np.append(first, factor * first[:9])) is None


@pytest.mark.parametrize(
    "values", [RNG.lognormal(0, 2, 500), RNG.integers(0, 2, 200), np.repeat([1.0, 5.0], 50), np.zeros(50)]
)
def test_spread_out_numbers_are_not_two_units(values):
    assert unit_factor(values.astype(float)) is None


def test_proposals_are_said_and_never_applied():
    frame = pd.DataFrame({"temperature": np.append(REST, [99.9] * 12), "crp": np.append(np.ones(100), [np.nan] * 32)})
    frame["crp"] = np.append(first := RNG.lognormal(0, 0.2, 100), 10 * first[:32])
    found = {one.name: one for one in profile(frame, infer_schema(frame))}
    assert found["temperature"].verdict == found["crp"].verdict == "decide"
    assert found["temperature"].why == "a mark of gaps? then: missing = [99.9]"
    assert found["crp"].why == "two units? a group of values is about 10 times the others"
    applied = Schema((Column(name="temperature", kind="numeric", gap_values=(99.9,)),))
    after = profile(frame, applied)[0]
    assert (after.verdict, after.gaps) == ("feature", "9 %")
    assert after.content == "35.5 to 40.5"
