"""Measurements to a grid: both layouts, window and ties, times, outcomes beside, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aliquot.cohort import Layout, on_grid
from aliquot.cohort.time.steps import MAX_STEPS
from aliquot.errors import SchemaError, SettingsError

LONG = Layout("id", "hour", "name", "value")
WIDE = Layout("id", "hour")


def lines(*rows):
    """Measurements, one per line."""
    return pd.DataFrame(rows, columns=["id", "hour", "name", "value"])


def grid_of(stays, channel=0):
    return stays.series.values[:, :, channel].tolist()


quarters = st.integers(-8, 40).map(lambda quarter: quarter / 4)  # sums of such numbers are exact in any order
measurements = st.lists(st.tuples(st.integers(1, 4), quarters, st.sampled_from("abc"), quarters), min_size=2)


def wide_of(long):
    return long.pivot(index=["id", "hour"], columns="name", values="value").reset_index()


@settings(max_examples=30, deadline=None)
@given(rows=measurements, hours=st.sampled_from([None, 4.0, 6.0]), step=st.sampled_from([0.5, 1.0, 2.0]))
def test_long_and_wide_of_the_same_data_are_the_same(rows, hours, step):
    long = lines(*rows).drop_duplicates(["id", "hour", "name"])
    assume(len(long) > 1 and ((long.hour >= 0) & (long.hour < (hours or 99))).any())
    stays = pd.DataFrame({"id": [1, 2, 3, 4]})
    asked = {"channels": sorted(set(long.name))}
    one = on_grid(long, Layout("id", "hour", "name", "value", hours, step), stays, **asked)
    wide = wide_of(long)
    assume(len(wide) > 1)
    other = on_grid(wide, Layout("id", "hour", None, None, hours, step), stays, **asked)
    np.testing.assert_array_equal(one.series.values, other.series.values)
    assert (one.series.channels, one.series.step_hours) == (other.series.channels, other.series.step_hours)
    assert one.notes == other.notes


@settings(max_examples=30, deadline=None)
@given(rows=measurements, seed=st.integers(0, 99))
def test_the_order_of_lines_does_not_matter(rows, seed):
    long, stays = lines(*rows), pd.DataFrame({"id": [1, 2, 3, 4]})
    assume((long.hour >= 0).any())
    shuffled = long.sample(frac=1, random_state=seed)
    asked = sorted(set(long.name))
    one, other = (on_grid(table, LONG, stays, channels=asked) for table in (long, shuffled))
    np.testing.assert_array_equal(one.series.values, other.series.values)
    assert (one.series.channels, one.notes) == (other.series.channels, other.notes)


@settings(max_examples=30, deadline=None)
@given(rows=measurements)
def test_every_step_is_the_mean_of_its_measurements(rows):
    long = lines(*rows)
    assume((long.hour >= 0).any())
    series = on_grid(long, LONG, pd.DataFrame({"id": [1, 2, 3, 4]}), channels=sorted(set(long.name))).series
    expected = np.full(series.values.shape, np.nan)
    for stay, hour, name in {(stay, int(hour), name) for stay, hour, name, _ in rows if hour >= 0}:
        there = [row[3] for row in rows if row[0] == stay and hour <= row[1] < hour + 1 and row[2] == name]
        expected[stay - 1, hour, series.channels.index(name)] = sum(there) / len(there)
    np.testing.assert_allclose(series.values, expected, rtol=1e-6)


def test_a_grid_holds_its_beginning_and_not_its_end():
    long = lines((1, 0.0, "hr", 1.0), (1, 1.999, "hr", 2.0), (1, 2.0, "hr", 3.0), (1, -0.001, "hr", 4.0))
    stays = on_grid(long, Layout("id", "hour", "name", "value", hours=2))
    assert grid_of(stays) == [[1.0, 2.0]]
    assert stays.notes == ("<10 stays with measurements outside of hours 0 to 2",)


def test_steps_that_floats_cannot_write():
    hours = [step / 10 for step in range(10)]
    stays = on_grid(lines(*[(1, hour, "hr", hour) for hour in hours]), Layout("id", "hour", "name", "value", 1, 0.1))
    np.testing.assert_allclose(stays.series.values[0, :, 0], hours, rtol=1e-6)
    assert stays.notes == ()


def test_without_hours_the_grid_is_as_long_as_the_longest_stay(raises):
    stays = on_grid(lines((1, 0, "hr", 1.0), (2, 5.5, "hr", 2.0)), LONG)
    assert stays.series.values.shape == (2, 6, 1)
    long = lines((1, 0, "hr", 1.0), (2, MAX_STEPS, "hr", 2.0))
    with raises(SettingsError, "more than 1000 steps of 1 hours", "--hours"):
        on_grid(long, LONG)
    assert on_grid(long, Layout("id", "hour", "name", "value", step_hours=2)).series.values.shape == (2, 501, 1)
    assert on_grid(long, Layout("id", "hour", "name", "value", hours=1200)).series.values.shape == (2, 1200, 1)


@pytest.mark.parametrize("form", ["text", "ISO", "zone", "timestamps", "objects"])
def test_timestamps_count_from_the_first_of_the_stay(form):
    moments = pd.Series(
        pd.to_datetime(["2150-03-01 23:30", "2150-03-01 22:00", "2149-01-01 05:00", "2149-01-01 06:59"])
    )
    written = {
        "text": moments.astype(str),
        "ISO": moments.dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "zone": moments.dt.tz_localize("Europe/Vienna"),
        "timestamps": moments,
        "objects": moments.astype(object),
    }
    long = lines((1, 0, "hr", 80.0), (1, 0, "hr", 90.0), (2, 0, "hr", 70.0), (2, 0, "hr", 75.0))
    stays = on_grid(long.assign(hour=written[form]), LONG)
    assert grid_of(stays) == [[90.0, 80.0], [70.0, 75.0]]


def test_hours_may_be_text_or_durations():
    long = lines((1, "0.5", "hr", 80.0), (1, "1", "hr", 90.0))
    assert grid_of(on_grid(long, LONG)) == [[80.0, 90.0]]
    durations = long.assign(hour=pd.to_timedelta([30, 60], unit="min"))
    assert grid_of(on_grid(durations, LONG)) == [[80.0, 90.0]]


def test_what_never_changes_is_beside_and_the_rest_are_channels():
    wide = pd.DataFrame(
        {
            "id": ["b", "b", "a", "a"],
            "hour": [0, 1, 0, 1],
            "sex": ["f", "f", None, None],
            "age": [61, 61, 74, 74],
            "hr": [80, 90, 70, 70],
            "once": [None, 1.5, 2.5, 2.5],  # an empty cell differs from a full one
            "written": ["1", "2", "3", "4"],
            "flag": [True, False, True, True],
            "never": [None] * 4,
        }
    )
    stays = on_grid(wide, WIDE)
    assert stays.frame.columns.tolist() == ["id", "sex", "age"]
    assert stays.frame["id"].tolist() == ["b", "a"]
    assert stays.frame["age"].dtype == np.int64
    assert stays.series.channels == ("hr", "once", "written", "flag")
    assert grid_of(stays, 2) == [[1, 2], [3, 4]]
    assert stays.notes == ("left out 'never': never measured",)


def test_outcomes_decide_order_and_columns_beside():
    long = lines((7, 0.5, "hr", 80.0), (8.0, 1.5, "hr", 70.0)).assign(unit="/min", age=1)
    table = pd.DataFrame({"id": ["8", "9", "7"], "age": [74, 50, 61], "died": [1, 0, 0]}, index=[5, 5, 5])
    stays = on_grid(long, LONG, table, constant=["died"])
    pd.testing.assert_frame_equal(stays.frame, table.reset_index(drop=True))
    np.testing.assert_array_equal(stays.series.values[:, :, 0], [[np.nan, 70], [np.nan, np.nan], [80, np.nan]])
    assert stays.notes == (
        "left out 'age': also in the table of outcomes",
        "left out 'unit': not measurements",
        "<10 stays without any measurement in hours 0 to 2",
    )


def test_wide_columns_that_never_change_join_the_outcomes():
    wide = pd.DataFrame({"id": [7, 7, 8], "hour": [0, 1, 0], "hr": [80, 90, 70], "ward": ["a", "a", "b"], "died": 5})
    stays = on_grid(wide, WIDE, pd.DataFrame({"id": [8, 9, 7], "died": [1, 0, 0]}), constant=["died"])
    assert stays.frame.columns.tolist() == ["id", "died", "ward"]
    assert stays.frame["died"].tolist() == [1, 0, 0]
    assert stays.frame["ward"].fillna("-").tolist() == ["b", "-", "a"]


def test_counts_of_ten_or_more_are_told():
    long = lines(*[(stay, 50.0, "hr", 80.0) for stay in range(12)], (99, 0.0, "hr", 80.0), (99, 1.0, "hr", 81.0))
    stays = on_grid(long, Layout("id", "hour", "name", "value", hours=48))
    assert stays.notes == (
        "12 stays with measurements outside of hours 0 to 48",
        "12 stays without any measurement in hours 0 to 48",
    )


def test_columns_and_variables_can_be_dropped(raises, sentinel):
    long = lines((1, 0, "hr", 80.0), (1, 0, "note", sentinel), (1, 1, "hr", 90.0)).assign(age=61, ward="a")
    stays = on_grid(long, LONG, drop=["note", "ward"])
    assert stays.series.channels == ("hr",)
    assert stays.frame.columns.tolist() == ["id", "age"]
    wide = pd.DataFrame({"id": [1, 1], "hour": [0, 1], "hr": [80, 90], "note": [sentinel, "b"]})
    assert on_grid(wide, WIDE, drop=["note"]).series.channels == ("hr",)
    with raises(SchemaError, "asked to leave out 'notes'", "did you mean 'note'?"):
        on_grid(wide, WIDE, drop=["notes"])


def test_channels_asked_for_are_taken_as_they_are(raises):
    wide = pd.DataFrame({"id": [1, 1], "hour": [0, 1], "ph": [7.4, 7.4], "hr": [80, 90], "note": ["a", "b"]})
    stays = on_grid(wide, WIDE, channels=("ph", "hr"))  # one does not change, and the text is none of our business
    assert stays.series.channels == ("ph", "hr")
    assert stays.notes == ("left out 'note': no channels of the release",)
    long = lines((1, 0, "hr", 80.0), (1, 1, "ph", None), (1, 1, "other", "text"))
    stays = on_grid(long, LONG, channels=("ph", "hr"))
    assert np.isnan(stays.series.values[:, :, 0]).all()
    assert stays.notes == ("left out 'other': no channels of the release",)
    for table, layout in ((wide, WIDE), (long, LONG)):
        with raises(SchemaError, "lacks channels", "'lactate'", "without values where they were not measured"):
            on_grid(table, layout, channels=("hr", "lactate"))


GOOD = lines((1, 0, "hr", 80.0), (1, 1, "hr", 90.0), (2, 0, "ph", 7.4), (2, 1, "hr", 70.0))
TABLE = pd.DataFrame({"id": [1, 2], "died": [0, 1]})
SECRET = "Zq7_secret"  # what the fixture ``raises`` looks for
MALFORMED = {
    "no such stay": (GOOD.rename(columns={"id": "ID"}), None, "the stay identifier 'id' is not a column of the table"),
    "no such time": (GOOD.drop(columns="hour"), None, "the time 'hour' is not a column"),
    "no such variable": (GOOD.drop(columns="name"), None, "the variable 'name' is not a column"),
    "no such value": (GOOD.drop(columns="value"), None, "the value 'value' is not a column"),
    "no lines": (GOOD.head(0), None, "the table has no rows"),
    "twice": (GOOD.set_axis(["id", "hour", "name", "name"], axis=1), None, "more than once ('name')"),
    "stay missing": (GOOD.assign(id=[1, None, 2, None]), None, "'id' is missing in 2 lines"),
    "variable missing": (GOOD.assign(name=["hr", None, "ph", "hr"]), None, "'name' is missing in 1 line;"),
    "no times": (GOOD.assign(hour=[0, SECRET, "soon", 1]), None, "the time 'hour' has 2 lines with neither"),
    "times missing": (GOOD.assign(hour=[0, 1, None, 1]), None, "has 1 line with neither a number of hours nor"),
    "times infinite": (GOOD.assign(hour=[0, 1, np.inf, 1]), None, "has 1 line with neither"),
    "days first": (GOOD.assign(hour="31.12.2024 08:00"), None, "a timestamp such as 2024-01-31 08:00"),
    "text values": (GOOD.assign(value=[80.0, SECRET, 7.4, "high"]), None, "'hr' has 2 values without a number"),
    "only text": (GOOD.assign(value=SECRET), None, "'value' holds no number at all"),
    "exchanged": (GOOD.rename(columns={"name": "value", "value": "name"}), None, "'value' holds no number at all"),
    "infinite": (GOOD.assign(value=[80, np.inf, 7.4, 1e31]), None, "'hr' has 2 values that are infinite or too large"),
    "name of the stay": (GOOD.assign(name=[f"{SECRET}{i}" for i in (1, 1, 2, 2)]), None, "never changes within a stay"),
    "all names differ": (
        lines(*[(row // 2, 0, f"{SECRET}{row}", 1.0) for row in range(1002)]),
        None,
        "'name' has 1002 different names",
    ),
    "nothing inside": (GOOD.assign(hour=-1), None, "nothing was measured in hours 0 to 1"),
    "nothing at all": (GOOD.assign(value=np.nan), None, "nothing was measured"),
    "outcomes without stay": (GOOD, TABLE.drop(columns="id"), "'id' is not a column of the table of outcomes"),
    "outcomes twice": (GOOD, pd.concat([TABLE, TABLE]), "has 2 rows for a stay that came before"),
    "outcomes missing": (GOOD, TABLE.assign(id=[1, None]), "'id' is missing in 1 row"),
    "no outcome": (GOOD, TABLE.assign(id=[1, SECRET]), "1 of the 2 stays with measurements are not in the table"),
    "both": (GOOD, TABLE.assign(hr=80), "'hr' would be both a channel over time and a column"),
    "changing": (
        GOOD.assign(died=[0, 1, 1, 1]),
        None,
        "'died' must be the same throughout a stay, but changes within 1",
    ),
    "half empty": (GOOD.assign(died=[0, 0, None, 1]), None, "changes within 1 stay"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_lines(name, raises):
    frame, outcomes, words = MALFORMED[name]
    with raises(SchemaError, words):
        on_grid(frame, LONG, outcomes, constant=["died"])


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"hr": [80, 80], "age": [61, 61]}, ["no column of the table changes within a stay", "--time"]),
        (
            {"hr": [80, np.inf], "note": [SECRET, "5"]},
            [
                "'hr' has 1 infinite cell",
                "'note' changes in time but has 1 cell without a number",
                "turn it into numbers",
                "--drop COLUMN",
            ],
        ),
        ({"list": [[SECRET], [1]]}, ["no column of the table changes within a stay"]),
    ],
)
def test_malformed_columns(columns, words, raises):
    with raises(SchemaError, *words):
        on_grid(pd.DataFrame({"id": 1, "hour": [0, 1], **columns}), WIDE)


def test_columns_without_any_number_are_no_channels_and_that_is_said():
    when = pd.to_datetime(["2024-01-01", "2024-01-02"])
    lines = pd.DataFrame({"id": 1, "hour": [0, 1], "hr": [80, 90], "note": [SECRET, "b"], "when": when})
    stays = on_grid(lines, WIDE)
    assert stays.series.channels == ("hr",)
    assert stays.notes == ("left out 'note', 'when': changes in time but is no number",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variable": "name"}, "only one of variable and value"),
        ({"value": "value"}, "only one of variable and value"),
        ({"variable": "hour", "value": "value"}, "one column was named for two"),
        ({"hours": 0}, "asked for 0 hours"),
        ({"hours": -4}, "ask for one or more whole steps"),
        ({"hours": 5, "step_hours": 2}, "asked for 5 hours in steps of 2"),
        ({"step_hours": 0}, "in steps of 0"),
        ({"hours": float("nan")}, "whole steps"),
        ({"hours": float("inf")}, "whole steps"),
    ],
)
def test_layouts_that_make_no_sense(options, words, raises):
    with raises(SettingsError, words):
        Layout("id", "hour", **options)
