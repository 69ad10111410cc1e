from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Cohort, Column, Layout, Records, Schema, Series, Stays, on_grid
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
        "left out 'site', 'zero': the same value in every row",
        "left out 'key': identifiers, not features",
    )


def test_problems_are_collected(frame, raises):
    n = len(frame)
    dirty = frame.assign(
        infinite=[np.inf, -np.inf] + [1.5] * (n - 2), infinite_text=["inf"] + ["1.5", "2.5"] * 29 + ["3"]
    )
    with raises(SchemaError, "'infinite' has 2 infinite cells", "'infinite_text' has 1 infinite cell;", "drop=[…]"):
        Cohort.from_frame(dirty, target="died")
    names = Cohort.from_frame(dirty, target="died", drop=["infinite", "infinite_text"]).schema.names
    assert names == tuple(frame.columns[:-1])


def test_what_cannot_be_used_is_left_out_and_said(frame, sentinel):
    n = len(frame)
    dirty = frame.assign(
        mixed=["1.5"] + [sentinel] * (n - 1),
        empty=np.nan,
        admitted=["2024-01-31"] * n,
        story=[f"{sentinel} {row}" for row in range(n)],
        nhsnumber=np.arange(n) + 4_000_000_000,
        account=np.arange(n) + 10_000,
    )
    cohort = Cohort.from_frame(dirty, target="died")
    assert cohort.schema.names == tuple(frame.columns[:-1])
    assert cohort.notes == (
        "left out 'mixed': numbers and text mixed; clean them, or name a kind in the schema file",
        "left out 'empty': no value in any row",
        "left out 'admitted': dates; with days_from in the schema file they become days",
        "left out 'story': free text",
        "left out 'nhsnumber', 'account': identifiers, not features",
    )


def test_schema_decides(frame, raises, sentinel):
    dirty = frame.assign(crp=["1.5"] + [sentinel] * (len(frame) - 1))
    as_levels = Schema((Column(name="crp", kind="categorical"), Column(name="age", kind="ignore")))
    cohort = Cohort.from_frame(dirty, target="died", schema=as_levels)
    assert cohort.schema["crp"].kind == "categorical"
    assert "age" not in cohort.schema
    for kind, meaning in (("numeric", "without a number"), ("boolean", "without a yes or no")):
        with raises(SchemaError, f"'crp' should be {kind}", meaning):
            Cohort.from_frame(dirty, target="died", schema=Schema((Column(name="crp", kind=kind),)))


def test_many_levels_are_free_text_or_codes(frame):
    long = pd.concat([frame] * 10, ignore_index=True)
    many = long.assign(
        story=[f"word {row % 201}" for row in range(600)], code=[f"A{row % 201:02}" for row in range(600)]
    )
    cohort = Cohort.from_frame(many, target="died")
    assert cohort.schema["code"].kind == "code"
    assert cohort.notes == ("left out 'story': free text",)


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


LAYOUT = Layout("stay", "hour", "name", "value", hours=3)


@pytest.fixture
def events():
    """Three hours of 60 stays of 40 patients, one measurement a line, and their table of outcomes."""
    rng = np.random.default_rng(0)
    row, hour, name = (grid.ravel() for grid in np.meshgrid(np.arange(60), np.arange(3), ["hr", "ph"], indexing="ij"))
    lines = pd.DataFrame({"stay": row + 100, "hour": hour, "name": name, "value": rng.normal(80, 9, row.size).round(1)})
    stays = pd.DataFrame(
        {
            "stay": np.arange(60)[::-1] + 100,
            "who": np.arange(60) % 40,
            "age": rng.integers(20, 90, 60),
            "ward": np.resize(["icu", "hdu", "icu"], 60),
            "died": np.resize([0, 0, 0, 1], 60),
        }
    )
    return lines.drop(index=[3, 7]), stays


def test_from_events_with_outcomes(events):
    lines, stays = events
    cohort = Cohort.from_events(lines, layout=LAYOUT, outcomes=stays, target="died", patient_id="who")
    assert cohort.frame.columns.tolist() == ["age", "ward"]
    assert cohort.schema.names == ("age", "ward")
    assert cohort.labels.tolist() == stays["died"].tolist()
    assert cohort.patient is not None
    assert cohort.patient.tolist() == stays["who"].tolist()
    assert cohort.series is not None
    assert (cohort.series.values.shape, cohort.series.channels) == ((60, 3, 2), ("hr", "ph"))
    assert cohort.series.values[-1, 0, 0] == np.float32(lines["value"].iloc[0])
    assert cohort.notes == ()


@pytest.mark.parametrize("wide", [False, True])
def test_from_events_without_outcomes_or_static_columns(events, wide):
    lines, stays = events
    table = lines.pivot(index=["stay", "hour"], columns="name", values="value").reset_index() if wide else lines
    table = table.merge(stays[["stay", "died"]])
    layout = Layout("stay", "hour", hours=3) if wide else LAYOUT
    cohort = Cohort.from_events(table, layout=layout, target="died", patient_id="stay")
    assert cohort.frame.shape == (60, 0)
    assert len(cohort.schema) == 0
    assert cohort.labels.tolist() == stays["died"].tolist()[::-1]
    assert np.unique(cohort.patient).size == 60
    assert cohort.series is not None
    assert cohort.series.channels == ("hr", "ph")


def test_from_events_reads_roles_classes_and_schema(events, raises):
    lines, stays = events
    stays = stays.assign(part=np.repeat(["train", "val", "test"], 20), died=np.resize(["home", "ward", "dead"], 60))
    asked = {"layout": LAYOUT, "outcomes": stays, "target": "died"}
    schema = Schema((Column(name="age", kind="numeric"), Column(name="ph", kind="ignore")))
    cohort = Cohort.from_events(lines, **asked, split="part", schema=schema, drop=["ward", "who"])
    assert cohort.classes == ("dead", "home", "ward")
    assert cohort.split is not None
    assert cohort.split.tolist() == np.repeat([0, 1, 2], 20).tolist()
    assert [(column.name, column.kind) for column in cohort.schema] == [("age", "numeric")]
    assert cohort.series is not None
    assert cohort.series.channels == ("hr",)
    with raises(SchemaError, "log, low or high for 'hr'"):
        Cohort.from_events(lines, **asked, schema=Schema((Column(name="hr", kind="numeric", low=0),)))
    with raises(SchemaError, "columns that the table lacks ('hrs')"):
        Cohort.from_events(lines, **asked, schema=Schema((Column(name="hrs", kind="numeric"),)))
    with raises(TargetError, "the target 'dead'", "'died'"):
        Cohort.from_events(lines, **{**asked, "target": "dead"})
    with raises(TargetError, "a positive class was named"):
        Cohort.from_events(lines, **asked, positive="dead")
    with raises(SchemaError, "two of target"):
        Cohort.from_events(lines, **asked, split="died")


def test_channels_that_say_nothing_are_left_out_and_said(events, raises):
    lines, stays = events
    extra = pd.DataFrame({"stay": 100, "hour": [0, 0], "name": ["once", "empty"], "value": [1.0, np.nan]})
    flat = lines.assign(name="flat", value=1.0)
    asked = {"layout": LAYOUT, "outcomes": stays, "target": "died"}
    cohort = Cohort.from_events(pd.concat([lines, flat, extra]), **asked)
    assert cohort.series is not None
    assert cohort.series.channels == ("hr", "ph")
    assert cohort.notes == (
        "left out 2 channels measured in fewer than 10 patients",
        "left out 'flat': the same value wherever it was measured",
    )
    with raises(SchemaError, "no channel left"):
        Cohort.from_events(lines.assign(value=1.0), **asked)


def test_the_outcome_is_never_a_feature(events):
    lines, stays = events
    lines = lines.merge(stays[["stay", "died", "who"]])  # in both tables
    cohort = Cohort.from_events(lines, layout=LAYOUT, outcomes=stays, target="died", patient_id="who")
    assert cohort.frame.columns.tolist() == ["age", "ward"]


def test_from_stays_drops_channels_and_columns(events, raises):
    lines, stays = events
    read = on_grid(lines, LAYOUT, stays)
    cohort = Cohort.from_stays(read, target="died", drop=["ph", "who"])
    assert cohort.series is not None
    assert cohort.series.channels == ("hr",)
    assert cohort.schema.names == ("age", "ward")  # the stay is no feature
    with raises(SchemaError, "column to drop 'phh'"):
        Cohort.from_stays(read, target="died", drop=["phh"])
    with raises(TargetError, "the target 'ph'"):
        Cohort.from_stays(read, target="ph")
    with raises(SchemaError, "no columns"):
        Cohort.from_stays(Stays(pd.DataFrame(index=range(20)), Series(np.zeros((20, 2, 1)), ("a",))), target="y")


@pytest.fixture
def records():
    """Twenty stays: columns and channels that say something, and some that do not."""
    frame = pd.DataFrame({"age": np.arange(20), "height": np.nan, "note": [None] * 20, "site": "a"})
    values = np.arange(20 * 3 * 3, dtype=np.float32).reshape(20, 3, 3)
    values[:, :, 1], values[:, :, 2] = 1, np.nan
    return Records(np.arange(20) % 2, np.arange(20).astype(str), frame, values, ("hr", "flat", "crp"), 2.0)


def test_from_records_leaves_out_what_says_nothing(records):
    cohort = Cohort.from_records(records)
    assert cohort.frame.columns.tolist() == ["age"]
    assert cohort.series is not None
    assert (cohort.series.channels, cohort.series.step_hours) == (("hr",), 2.0)
    assert cohort.notes == (
        "left out 1 channel measured in fewer than 10 patients",
        "left out 'flat': the same value wherever it was measured",
        "left out 'height', 'note': no value in any row",
        "left out 'site': the same value in every row",
    )


def test_from_records_drops_columns_and_channels_before_checks(records, raises):
    dates = replace(records, frame=records.frame.assign(admitted=["2024-01-31"] * 20))
    assert any(note.startswith("left out 'admitted': dates") for note in Cohort.from_records(dates).notes)
    cohort = Cohort.from_records(dates, drop=["admitted", "height", "note", "crp"])
    assert cohort.frame.columns.tolist() == ["age"]
    assert cohort.notes == (
        "left out 'flat': the same value wherever it was measured",
        "left out 'site': the same value in every row",
    )
    with raises(SchemaError, "column to drop 'hrs'", "did you mean 'hr'?"):
        Cohort.from_records(records, drop=["hrs"])
    with raises(SchemaError, "no channel left"):
        Cohort.from_records(records, drop=["hr"])


def test_from_arrays_with_static_columns(raises):
    X, y = np.arange(120.0).reshape(20, 3, 2), np.arange(20) % 2
    static = pd.DataFrame({"age": np.arange(20), "site": "a"}, index=np.arange(20) + 7)
    cohort = Cohort.from_arrays(X, y, static=static)
    assert cohort.frame.columns.tolist() == ["age"]
    assert cohort.frame.index.tolist() == list(range(20))
    assert cohort.notes == ("left out 'site': the same value in every row",)
    with raises(SchemaError, "static with one row each"):
        Cohort.from_arrays(X, y, static=static[1:])
    with raises(SchemaError, "three dimensions"):
        Cohort.from_arrays(X[:, 0], y, static=static)


def test_events_leave_out_what_is_no_number_and_say_so(sentinel):
    stays = pd.DataFrame({"id": np.arange(20) + 7, "mrn": sentinel, "age": np.arange(20), "died": np.arange(20) % 2})
    lines = stays.loc[stays.index.repeat(2)].assign(hour=[0, 1] * 20, hr=np.arange(40.0), crp=["<0.2", "5.5"] * 20)
    lines["note"] = [f"{sentinel} {place}" for place in range(40)]
    lines["mrn"] = [f"{sentinel}{name}" for name in lines["id"]]
    ignored = Schema((Column(name="note", kind="text"), Column(name="mrn", kind="identifier")))
    for schema, why in ((None, "changes in time but is no number"), (ignored, "free text")):
        cohort = Cohort.from_events(lines, layout=Layout("id", "hour"), target="died", schema=schema)
        assert cohort.series.channels == ("hr", "crp")
        assert cohort.schema.names == ("age",)
        assert {*cohort.notes} == {f"left out 'note': {why}", "left out 'mrn': identifiers, not features"}
