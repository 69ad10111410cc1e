import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Cohort, Column, Schema
from aliquot.errors import SchemaError, SplitError, TargetError


def test_features_come_as_they_came(frame):
    cohort = Cohort.from_frame(frame, target="died")
    pd.testing.assert_frame_equal(cohort.frame, frame.drop(columns="died"))
    assert cohort.schema.names == tuple(cohort.frame.columns)
    assert (cohort.n, cohort.n_classes, cohort.prevalence) == (60, 2, (0.75, 0.25))
    assert cohort.notes == ()


def test_patient_and_split_are_no_features(frame):
    patient, roles = np.arange(60) // 2, np.repeat(["Train", "dev", "TEST"], 20)
    cohort = Cohort.from_frame(
        frame.assign(pid=patient, part=roles), target="died", patient_id="pid", split="part", drop=["ward"]
    )
    assert cohort.schema.names == ("age", "crp", "lactate", "smoker")
    assert cohort.patient is not None
    assert cohort.patient.dtype == np.int64
    assert cohort.split is not None
    assert np.bincount(cohort.split).tolist() == [20, 20, 20]


def test_constants_and_identifiers_are_left_out_and_said(frame, sentinel):
    dirty = frame.assign(site=sentinel, zero=[0.0, np.nan] * 30, key=[f"{sentinel}{row}" for row in range(60)])
    cohort = Cohort.from_frame(dirty, target="died")
    assert cohort.schema.names == tuple(frame.columns[:-1])
    assert cohort.notes == (
        "left out 'key': identifiers, not features",
        "left out 'site', 'zero': the same value in every row",
    )


def test_problems_are_collected(frame, raises, sentinel):
    n = len(frame)
    dirty = frame.assign(
        mixed=["1.5"] + [sentinel] * (n - 1),
        infinite=[np.inf, -np.inf] + [1.5] * (n - 2),
        infinite_text=["inf"] + ["1.5", "2.5"] * 29 + ["3"],
        empty=np.nan,
        admitted=["2024-01-31"] * n,
        story=[f"{sentinel} {row}" for row in range(n)],
    )
    words = [
        "'mixed' mixes",
        "'infinite' has 2 infinite cells",
        "'infinite_text' has 1 infinite cell;",
        "'empty' has only missing cells",
        "'admitted' holds dates",
        "'story' is free text with 60 levels",
        "--drop",
    ]
    with raises(SchemaError, *words):
        Cohort.from_frame(dirty, target="died")
    extra = [name for name in dirty if name not in frame]
    assert Cohort.from_frame(dirty, target="died", drop=extra).schema.names == tuple(frame.columns[:-1])


def test_schema_decides(frame, raises, sentinel):
    dirty = frame.assign(crp=["1.5"] + [sentinel] * (len(frame) - 1))
    as_levels = Schema((Column(name="crp", kind="categorical"), Column(name="age", kind="ignore")))
    cohort = Cohort.from_frame(dirty, target="died", schema=as_levels)
    assert cohort.schema["crp"].kind == "categorical"
    assert "age" not in cohort.schema
    for kind, meaning in (("numeric", "without a number"), ("boolean", "without a yes or no")):
        with raises(SchemaError, f"'crp' should be {kind}", meaning):
            Cohort.from_frame(dirty, target="died", schema=Schema((Column(name="crp", kind=kind),)))


def test_many_levels_are_free_text(frame, raises):
    long = pd.concat([frame] * 10, ignore_index=True)
    with raises(SchemaError, "'x' is free text with 201 levels"):
        Cohort.from_frame(long.assign(x=[f"word {row % 201}" for row in range(600)]), target="died")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"target": "dyed"}, TargetError, ["target 'dyed'", "did you mean 'died'?"]),
        ({"target": "outcome"}, TargetError, ["known columns: 'age', 'crp'"]),
        ({"target": "died", "patient_id": "Age"}, SchemaError, ["patient identifier 'Age'", "'age'"]),
        ({"target": "died", "split": "part"}, SchemaError, ["split 'part'"]),
        ({"target": "died", "drop": ["wards"]}, SchemaError, ["'wards'", "did you mean 'ward'?"]),
        ({"target": "died", "split": "died"}, SchemaError, ["two of target"]),
        ({"target": "died", "patient_id": "lactate"}, SchemaError, ["'lactate' is missing in 12 rows"]),
        (
            {"target": "died", "split": "ward"},
            SplitError,
            ["'ward' has 60 rows with a missing or unknown role"],
        ),
        (
            {"target": "died", "drop": ["age", "crp", "lactate", "ward", "smoker"]},
            SchemaError,
            ["no column left"],
        ),
    ],
)
def test_wrong_arguments(arguments, error, words, frame, raises):
    with raises(error, *words):
        Cohort.from_frame(frame, **arguments)


def test_splits_that_cannot_be_used(frame, raises):
    parts = np.repeat(["train", "val", "test"], 20)
    with raises(SplitError, "'part' puts 1 patient into more than one role"):
        Cohort.from_frame(frame.assign(part=parts, pid=[*range(59), 0]), target="died", split="part", patient_id="pid")
    with raises(SplitError, "no row with the role held_out"):
        Cohort.from_frame(frame.assign(part=np.repeat(["train", "val"], 30)), target="died", split="part")
    with raises(SplitError, "1 row "):
        Cohort.from_frame(frame.assign(part=[None, *parts[1:]]), target="died", split="part")


def test_frames_without_table_shape(frame, raises):
    with raises(SchemaError, "no columns"):
        Cohort.from_frame(pd.DataFrame(), target="died")
    with raises(SchemaError, "only one row"):
        Cohort.from_frame(frame.head(1), target="died")
    with raises(SchemaError, "more than once"):
        Cohort.from_frame(frame.rename(columns={"crp": "age"}), target="died")


def test_column_names_become_text(frame):
    cohort = Cohort.from_frame(frame.rename(columns={"age": 1}), target="died")
    assert cohort.schema.names[0] == "1"


def test_take(frame):
    cohort = Cohort.from_frame(frame.assign(pid=range(60)), target="died", patient_id="pid")
    part = cohort.take(np.array([3, 0]))
    assert part.labels.tolist() == [1, 0]
    assert part.patient is not None
    assert part.patient.tolist() == [3, 0]
    assert part.frame["age"].tolist() == frame["age"].iloc[[3, 0]].tolist()
    assert cohort.take(cohort.labels == 1).prevalence == (0.0, 1.0)


def test_from_arrays(raises):
    X, y = np.arange(80.0).reshape(20, 4), np.arange(20) % 2
    cohort = Cohort.from_arrays(X, y, names=["a", "b", "c", "d"], patient=np.arange(20) // 2)
    assert cohort.schema.names == ("a", "b", "c", "d")
    assert cohort.target == "y"
    with raises(SchemaError, "shape (20, 4)"):
        Cohort.from_arrays(X, y[:-1])
    with raises(SchemaError, "2 names"):
        Cohort.from_arrays(X, y, names=["a", "b"])
