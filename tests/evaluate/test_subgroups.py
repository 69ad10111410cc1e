"""Groups: small counts are hidden, also from subtraction; scores only where every class has enough patients."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aliquot.cohort import Cohort, EncoderSettings, encode_parts
from aliquot.disclosure import hidden
from aliquot.errors import SchemaError
from aliquot.evaluate.subgroups import held_out_groups, subgroup_scores


def scored(groups, labels, patient=None):
    logits = {"aliquot": np.random.default_rng(0).normal(size=(2, len(labels)))}
    return {
        group.name: group.to_json()
        for group in subgroup_scores({"ward": pd.Categorical(groups)}, labels, logits, patient)["ward"]
    }


@given(st.lists(st.integers(0, 60), min_size=1, max_size=8))
def test_hidden_counts_cannot_be_had_by_subtraction(counts):
    away = hidden(np.array(counts))
    assert away[np.array(counts) < 10].all()
    kept_back = np.array(counts)[away]
    assert not len(kept_back) or kept_back.sum() >= 10 or away.all()


def test_a_small_group_has_neither_count_nor_scores_and_the_next_smallest_protects_it():
    found = scored(["a"] * 4 + ["b"] * 50 + ["c"] * 80, np.arange(134) % 2)
    assert found["a"] == {"name": "a", "patients": "<10"}
    assert found["b"] == {"name": "b", "patients": None}
    assert found["c"]["patients"] == 80
    assert set(found["c"]["aliquot"]) == {"auroc", "auprc"}


def test_no_scores_where_a_class_is_small():
    labels = np.array([0] * 45 + [1] * 5 + [0] * 25 + [1] * 25)
    found = scored(["a"] * 50 + ["b"] * 50, labels)
    assert found["a"] == {"name": "a", "patients": 50}
    assert found["b"]["aliquot"]["auroc"]["n"] == 2


def test_neither_counts_nor_scores_can_be_solved_for_deaths():
    found = scored(["a"] * 47 + ["b"] * 88, np.arange(135) % 2)
    assert [found[name]["patients"] for name in ("a", "b")] == [50, 90]
    for scores in (one["aliquot"][metric] for one in found.values() for metric in ("auroc", "auprc")):
        assert [scores["mean"], scores["std"]] == [round(scores["mean"], 3), round(scores["std"], 3)]


def test_patients_are_counted_not_their_rows():
    found = scored(["a"] * 40 + ["b"] * 40, np.arange(80) % 2, patient=np.r_[np.arange(40) // 8, np.arange(40) + 100])
    assert found["a"]["patients"] == "<10"
    assert found["b"]["patients"] is None


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 95, 1000),
            "sex": rng.choice(["f", "m"], 1000),
            "site": ["rare place"] * 5 + ["north", "south"] * 497 + [None],
            "died": rng.integers(0, 2, 1000),
        }
    )


def test_groups_may_be_columns_that_models_do_not_see(frame):
    cohort = Cohort.from_frame(frame, target="died", drop=["site"], subgroups=["site"])
    assert "site" not in cohort.frame
    groups = held_out_groups(encode_parts(cohort, seed=0, settings=EncoderSettings(), rows_per_class=5))
    assert list(groups) == ["site", "age"]
    assert "rare place" not in groups["site"].categories
    assert list(groups["age"].categories) == ["under 40", "40–64", "65–79", "80 and over"]


def test_taking_rows_takes_their_groups(frame):
    cohort = Cohort.from_frame(frame, target="died", subgroups=["sex"])
    part = cohort.take(np.arange(10, 20))
    assert part.groups["sex"].tolist() == frame["sex"][10:20].tolist()


@pytest.mark.parametrize(("column", "word"), [("ward", "did you mean|known columns"), ("number", "at most 20")])
def test_impossible_groups_are_refused(frame, column, word):
    with pytest.raises(SchemaError, match=word):
        Cohort.from_frame(frame.assign(number=np.arange(1000)), target="died", subgroups=[column])
