"""Parts: everything that the split decides, in one value with a fingerprint of all that it was made from."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aliquot
from aliquot.cohort import ROLES, Cohort, Column, EncoderSettings, Parts, Schema, encode_parts

N = 60
TINY = {
    "network": {"hidden": [4]},
    "expert": {"count": 2, "epochs": 2, "pilots": 1},
    "curve": {"steps": 10},
    "match": {"iterations": 2, "judge_every": 1, "student_steps": 2},
    "evaluation": {"final_networks": 2, "full_epochs": 2, "final_epochs": 5, "search_epochs": 2},
}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 90, N),
            "crp": np.round(rng.lognormal(2, 1, N), 1),
            "grade": np.resize([1, 2, 3, 3], N),
            "ward": np.resize(["medical", "surgical", "icu"], N),
            "died": np.resize([0, 0, 0, 1], N),
            "patient": np.arange(N) // 2,
        }
    )


def parts_of(frame: pd.DataFrame, seed: int = 0, **columns) -> Parts:
    cohort = Cohort.from_frame(frame, **{"target": "died", "patient_id": "patient", "subgroups": ["ward"], **columns})
    return encode_parts(cohort, seed=seed, settings=EncoderSettings(), rows_per_class=2)


WHOLE = parts_of(table())


def test_the_same_patients_have_the_same_fingerprint():
    again = table()
    again.index = again.index[::-1]  # row labels do not count
    assert parts_of(again).fingerprint == WHOLE.fingerprint


@settings(max_examples=30, deadline=None)
@given(row=st.integers(0, N - 1), column=st.sampled_from(["age", "crp", "grade", "ward", "patient"]))
def test_any_changed_cell_changes_the_fingerprint(row, column):
    changed = table()
    other = {"ward": "another"}.get(column, 777)
    changed[column] = changed[column].where(changed.index != row, other)
    assert parts_of(changed).fingerprint != WHOLE.fingerprint


@settings(max_examples=10, deadline=None)
@given(row=st.integers(0, N - 1))
def test_any_changed_outcome_changes_the_fingerprint(row):
    changed = table()
    changed.loc[row, "died"] = 1 - changed.loc[row, "died"]
    assert parts_of(changed).fingerprint != WHOLE.fingerprint


@settings(max_examples=20, deadline=None)
@given(row=st.integers(0, 39), step=st.integers(0, 2), channel=st.integers(0, 1))
def test_any_changed_measurement_changes_the_fingerprint(row, step, channel):
    def fingerprint(values: np.ndarray) -> str:
        cohort = Cohort.from_arrays(values, np.arange(40) % 2)
        return encode_parts(cohort, seed=0, settings=EncoderSettings(), rows_per_class=2).fingerprint

    values = np.random.default_rng(0).normal(size=(40, 3, 2))
    changed = values.copy()
    changed[row, step, channel] = np.nan
    assert fingerprint(changed) != fingerprint(values) == fingerprint(values.copy())


@pytest.mark.parametrize(
    "columns",
    [
        {"schema": Schema((Column(name="crp", kind="numeric", log=True),))},
        {"schema": Schema((Column(name="grade", kind="categorical"),))},
        {"schema": Schema((Column(name="age", kind="integer", unit="years"),))},
        {"schema": Schema((Column(name="age", kind="integer", high=80.0),))},
        {"seed": 1},
        {"subgroups": []},
        {"subgroups": ["ward", "grade"]},
        {"patient_id": None, "drop": ["patient"]},
        {"drop": ["crp"]},
    ],
)
def test_what_is_said_of_columns_and_the_seed_change_the_fingerprint(columns):
    assert parts_of(table(), **columns).fingerprint != WHOLE.fingerprint


def test_the_target_s_name_and_classes_count():
    renamed = parts_of(table().rename(columns={"died": "dead"}), target="dead")
    words = parts_of(table().assign(died=table()["died"].map({0: "no", 1: "yes"})))
    assert len({renamed.fingerprint, words.fingerprint, WHOLE.fingerprint}) == 3


def test_each_part_has_its_patients_and_groups():
    frame = table()
    for code, role in enumerate(ROLES):
        part, rows = getattr(WHOLE, role), frame[WHOLE.roles == code]
        assert part.patients.tolist() == rows["patient"].tolist()
        assert part.groups["ward"].tolist() == rows["ward"].tolist()
        assert part.labels.tolist() == rows["died"].tolist()
    assert WHOLE.prevalence == (0.75, 0.25)


def test_patients_are_split_once_per_run(monkeypatch):
    from aliquot.cohort import split

    calls = []
    counted = split.split_patients

    def split_patients(*words, **named):
        calls.append(named)
        return counted(*words, **named)

    monkeypatch.setattr("aliquot.cohort.parts.split_patients", split_patients)
    monkeypatch.setattr("aliquot.cohort.split_patients", split_patients)
    monkeypatch.setattr("aliquot.cohort.split.split_patients", split_patients)
    frame = table().drop(columns="patient")
    asked = {"method": "kmeans", "rows_per_class": 2, "budget": "smoke", "settings": TINY}
    aliquot.condense(frame, "died", subgroups=["ward"], **asked)
    assert len(calls) == 1
