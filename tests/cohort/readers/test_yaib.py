from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import compute, parquet

from aliquot.cohort import Cohort
from aliquot.cohort.readers.yaib import read_yaib
from aliquot.errors import FileError, SettingsError

SENTINEL = "Zq7_secret"
FIRST, SECOND, THIRD = 770011, 770012, 770013
NO_PATIENTS = "there is no patient number: stays of one patient may fall on both sides of a split"


def hours(*times: float | None) -> pa.Array:
    """Times as the R scripts write them: durations in seconds."""
    return pa.array([None if time is None else int(time * 3600) for time in times], pa.duration("s"))


@dataclass
class Task:
    """Three stays of a task with one outcome each, as they will be written, for tests to change."""

    dyn: dict = field(
        default_factory=lambda: {
            "stay_id": pa.array([FIRST, FIRST, FIRST, SECOND, SECOND, THIRD], pa.int32()),
            "time": hours(0, 1, 3, 0, 2, 1),
            "hr": pa.array([80.0, None, 95.5, 70.0, float("nan"), 60.0]),
            "urine": pa.array([None, 200.0, None, None, 50.0, None]),
        }
    )
    sta: dict = field(
        default_factory=lambda: {
            "stay_id": pa.array([SECOND, FIRST, THIRD], pa.int32()),
            "age": pa.array([74.0, 61.0, None]),
            "sex": pa.array(["Female", "Male", None]),
        }
    )
    outc: dict = field(
        default_factory=lambda: {
            "stay_id": pa.array([FIRST, SECOND, THIRD], pa.int32()),
            "label": pa.array([0, 1, 0], pa.int32()),
        }
    )

    def write(self, folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        for name in ("dyn", "sta", "outc"):
            columns = getattr(self, name)
            if columns:
                parquet.write_table(pa.table(columns), folder / f"{name}.parquet")
        return folder


def test_the_records_of_three_stays(tmp_path):
    records = read_yaib(Task().write(tmp_path))
    nan = np.nan
    assert records.series is not None
    assert records.series.dtype == np.float32
    assert records.channels == ("hr", "urine")
    np.testing.assert_array_equal(
        records.series,
        [
            [[80, nan], [nan, 200], [nan, nan], [95.5, nan]],
            [[70, nan], [nan, nan], [nan, 50], [nan, nan]],
            [[nan, nan], [60, nan], [nan, nan], [nan, nan]],
        ],
    )
    assert records.labels.tolist() == [0, 1, 0]
    assert records.labels.dtype == np.int8
    assert records.ids.tolist() == [str(FIRST), str(SECOND), str(THIRD)]
    assert records.frame["age"].tolist()[:2] == [61, 74]  # in the order of the outcomes
    assert records.frame["sex"].tolist()[:2] == ["Male", "Female"]
    assert records.frame.iloc[2].isna().all()
    assert records.frame.index.equals(pd.RangeIndex(3))
    assert records.step_hours == 1
    assert records.target == "label"
    assert records.groups is None
    assert records.roles is None
    assert records.notes == (NO_PATIENTS,)


@pytest.mark.parametrize(
    "times",
    [
        pa.array([0, 1, 3, 0, 2, 1], pa.int32()),
        pa.array([0, 1, 3, 0, 2, 1], pa.int64()),
        pa.array([0.0, 1, 3, 0, 2, 1]),
        hours(0, 1, 3, 0, 2, 1).cast(pa.duration("ns")),
    ],
    ids=["int32", "int64", "double", "nanoseconds"],
)
def test_time_is_in_hours_or_a_duration(tmp_path, times):
    task = Task()
    expected = read_yaib(task.write(tmp_path / "seconds")).series
    task.dyn["time"] = times
    np.testing.assert_array_equal(read_yaib(task.write(tmp_path / "other")).series, expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [pa.array([False, True, False]), pa.array([0.0, 1.0, 0.0]), pa.array([0, 1, 0])])
def test_labels_may_be_truth_values_or_numbers(tmp_path, labels):
    task = Task()
    task.outc["label"] = labels
    assert read_yaib(task.write(tmp_path)).labels.tolist() == [0, 1, 0]


def test_stays_may_have_text_as_id(tmp_path):
    task = Task()
    for columns, text in ((task.dyn, pa.string()), (task.sta, pa.large_string()), (task.outc, pa.string())):
        columns["stay_id"] = columns["stay_id"].cast(text)
    task.sta["stay_id"] = task.sta["stay_id"].dictionary_encode()
    records = read_yaib(task.write(tmp_path))
    assert records.ids.tolist() == [str(FIRST), str(SECOND), str(THIRD)]
    assert records.frame["age"].tolist()[:2] == [61, 74]


def test_later_hours_are_left_out_and_short_stays_padded(tmp_path):
    expected = read_yaib(Task().write(tmp_path)).series
    assert expected is not None
    records = read_yaib(tmp_path, hours=2)
    np.testing.assert_array_equal(records.series, expected[:, :2])  # type: ignore[arg-type]
    assert records.notes == ("left out <10 rows from hour 2 on", NO_PATIENTS)
    longer = read_yaib(tmp_path, hours=6)
    assert longer.series is not None
    np.testing.assert_array_equal(longer.series[:, :4], expected)
    assert np.isnan(longer.series[:, 4:]).all()
    assert longer.notes == (NO_PATIENTS,)


def test_stays_without_an_outcome_are_left_out(tmp_path):
    task = Task()
    task.outc = {"stay_id": pa.array([THIRD, SECOND], pa.int64()), "label": pa.array([0, 1])}
    records = read_yaib(task.write(tmp_path))
    assert records.series is not None
    assert records.series.shape == (2, 3, 2)  # the longest stay is not among them
    assert records.ids.tolist() == [str(THIRD), str(SECOND)]
    assert records.series[0, 1, 0] == 60
    assert records.notes[0] == "left out <10 stays without an outcome"


def test_variables_that_nobody_has_are_left_out(tmp_path):
    task = Task()
    task.dyn |= {"crp": pa.nulls(6, pa.float64()), "tnt": pa.nulls(6), "ventilated": pa.array([True, False] * 3)}
    records = read_yaib(task.write(tmp_path))
    assert records.series is not None
    assert records.channels == ("hr", "urine", "ventilated")
    assert records.series[0, [0, 1, 3], 2].tolist() == [1, 0, 1]
    assert records.notes[0] == "left out 'crp', 'tnt', which no stay has"


def test_row_labels_of_pandas_are_no_variables(tmp_path):
    task = Task()
    for columns in (task.dyn, task.sta, task.outc):
        columns["__index_level_0__"] = pa.array(range(len(columns["stay_id"])))
    records = read_yaib(task.write(tmp_path))
    assert records.channels == ("hr", "urine")
    assert records.frame.columns.tolist() == ["age", "sex"]


def test_a_time_of_the_only_outcome_does_not_matter(tmp_path):
    task = Task()
    task.outc["time"] = hours(24, 24, 24)
    assert read_yaib(task.write(tmp_path)).labels.tolist() == [0, 1, 0]


def test_the_records_make_a_cohort(tmp_path):
    cohort = Cohort.from_records(read_yaib(Task().write(tmp_path)))
    assert cohort.n == 3
    assert cohort.frame.columns.tolist() == ["age", "sex"]


def with_column(part: str, name: str, values: object):
    return lambda task: getattr(task, part).update({name: values})


def without(part: str, name: str):
    return lambda task: getattr(task, part).pop(name)


def without_row(part: str, stay: int):
    def change(task: Task) -> None:
        table = pa.table(getattr(task, part))
        setattr(task, part, dict(table.filter(compute.field("stay_id") != stay).to_pydict()))

    return change


def dynamic_outcomes(task: Task) -> None:
    stays = [FIRST, FIRST, SECOND, THIRD]
    task.outc = {"stay_id": stays, "time": hours(0, 1, 0, 0), "label": [False, True, False, True]}


STAYS = [FIRST, FIRST, FIRST, SECOND, SECOND, THIRD]
MALFORMED: dict[str, tuple[Callable, tuple[str, ...]]] = {  # a change to the task, and words of the message
    "no dyn": (lambda task: task.dyn.clear(), ("dyn.parquet' is missing",)),
    "no sta": (lambda task: task.sta.clear(), ("sta.parquet' is missing",)),
    "no outc": (lambda task: task.outc.clear(), ("outc.parquet' is missing",)),
    "dyn: no stay": (without("dyn", "stay_id"), ("dyn.parquet' has not one column each named 'stay_id'",)),
    "dyn: no time": (without("dyn", "time"), ("dyn.parquet' has not one column each named 'time'",)),
    "sta: no stay": (without("sta", "stay_id"), ("sta.parquet' has not one column each named 'stay_id'",)),
    "outc: no label": (without("outc", "label"), ("outc.parquet' has not one column each named 'label'",)),
    "dyn: no variables": (
        lambda task: setattr(task, "dyn", {name: task.dyn[name] for name in ("stay_id", "time")}),
        ("dyn.parquet' has no variables",),
    ),
    "dyn: text": (with_column("dyn", "hr", [SENTINEL] * 6), ("variables that are not numbers: 'hr'",)),
    "dyn: text as time": (with_column("dyn", "time", [SENTINEL] * 6), ("another type", "'time (string)'")),
    "dyn: dates": (with_column("dyn", "time", pa.array([0] * 6, pa.timestamp("us"))), ("'time (timestamp[us])'",)),
    "dyn: stay as double": (with_column("dyn", "stay_id", [1.5] * 6), ("'stay_id (double)'",)),
    "dyn: no time given": (with_column("dyn", "time", hours(0, 1, 3, 0, None, 1)), ("1 row whose time is not",)),
    "dyn: half hour": (with_column("dyn", "time", hours(0, 0.5, 3, 0, 1.5, 1)), ("2 rows whose time is not a whole",)),
    "dyn: before admission": (with_column("dyn", "time", [0, 1, 3, -1, 2, 1]), ("1 row whose time is not",)),
    "dyn: infinite": (with_column("dyn", "hr", [80, float("inf"), 1, 2, 3, 4]), ("1 row with an infinite 'hr'",)),
    "dyn: twice": (with_column("dyn", "time", hours(0, 1, 1, 0, 2, 1)), ("1 row whose stay_id and time came before",)),
    "dyn: no id": (with_column("dyn", "stay_id", [*STAYS[:5], None]), ("1 row without a stay_id",)),
    "dyn: stay absent": (without_row("dyn", THIRD), ("dyn.parquet' lacks 1 stay of 'outc.parquet'",)),
    "sta: stay absent": (without_row("sta", THIRD), ("sta.parquet' lacks 1 stay of 'outc.parquet'",)),
    "sta: twice": (with_column("sta", "stay_id", [FIRST, SECOND, FIRST]), ("1 row whose stay_id came before",)),
    "outc: other ids": (with_column("outc", "stay_id", ["a", "b", "c"]), ("lacks 3 stays",)),
    "outc: twice": (with_column("outc", "stay_id", [FIRST, SECOND, FIRST]), ("1 row whose stay_id came before",)),
    "outc: label 2": (with_column("outc", "label", [0, 1, 2]), ("1 row whose label is not 0 or 1",)),
    "outc: no label given": (with_column("outc", "label", [0, 1, None]), ("1 row whose label is not 0 or 1",)),
    "outc: number": (
        with_column("outc", "label", [0.3, 1.4, 0.0]),
        ("2 rows whose label is not", "such as mortality24"),
    ),
    "outc: text": (with_column("outc", "label", ["0", "1", SENTINEL]), ("another type", "'label (string)'")),
    "outc: one outcome": (with_column("outc", "label", [1, 1, 1]), ("not 0 and 1, both",)),
    "outc: dynamic": (dynamic_outcomes, ("outcomes at several times of a stay (1 row more than stays)", "mortality24")),
}


@pytest.mark.parametrize(("change", "words"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_tasks_are_refused(tmp_path, raises, change, words):
    task = Task()
    change(task)
    task.write(tmp_path / "data")
    with pytest.raises(FileError) as caught:
        read_yaib(tmp_path / "data")
    assert not any(str(stay) in str(caught.value) for stay in (FIRST, SECOND, THIRD))
    with raises(FileError, *words):
        read_yaib(tmp_path / "data")


@pytest.mark.parametrize("name", ["dyn", "sta", "outc"])
@pytest.mark.parametrize("damage", [lambda content: content[:-20], lambda content: b"", lambda content: b"PAR1" * 9])
def test_damaged_files_are_refused(tmp_path, raises, name, damage):
    path = Task().write(tmp_path) / f"{name}.parquet"
    path.write_bytes(damage(path.read_bytes()))
    with raises(FileError, f"{name}.parquet' cannot be read as Parquet"):
        read_yaib(tmp_path)


def test_impossible_hours(tmp_path, raises):
    for wrong in (0, -3, 2.5):
        with raises(SettingsError, f"the first {wrong} hours", "whole number from 1"):
            read_yaib(Task().write(tmp_path), hours=wrong)  # type: ignore[arg-type]
    task = Task()
    task.dyn["time"] = hours(4, 5, 6, 7, 8, 9)
    with raises(FileError, "nothing in the hours asked for"):
        read_yaib(task.write(tmp_path), hours=2)
