from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from aliquot.cohort import Cohort
from aliquot.cohort.readers.meds import read_meds
from aliquot.cohort.records import Records
from aliquot.errors import FileError, SchemaError, SettingsError

SENTINEL = "Zq7_secret"
NOW = datetime(2150, 1, 2)
FIRST, SECOND, THIRD, FOURTH = 770011, 770012, 770013, 770014
EVENTS = {"subject_id": pa.int64(), "time": pa.timestamp("us"), "code": pa.string(), "numeric_value": pa.float32()}
LABELS = {"subject_id": pa.int64(), "prediction_time": pa.timestamp("us"), "boolean_value": pa.bool_()}
SPLITS = {"subject_id": pa.int64(), "split": pa.string()}

Row = tuple


def at(hours: float) -> datetime:
    """A moment in hours from now."""
    return NOW + timedelta(hours=hours)


def table(rows: list[Row], types: dict[str, pa.DataType]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(types)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types.values(), strict=True)]
    return pa.table(dict(zip(types, arrays, strict=True)))


def person(subject: int, *events: Row, sex: str = "F") -> list[Row]:
    """Events of a subject: static ones, birth 60 years ago, and some more."""
    born = (subject, NOW - timedelta(days=60 * 365.25), "MEDS_BIRTH", None)
    return [(subject, None, f"SEX//{sex}", None), born, *((subject, *event) for event in events)]


@dataclass
class Dataset:
    """Four subjects in two shards as they will be written, for tests to change."""

    shards: dict[str, list[Row]] = field(
        default_factory=lambda: {
            "train/0": [
                *person(
                    FIRST,
                    (None, "HEIGHT", 165.0),
                    (at(-4), "HR", 50),
                    (at(-3.99), "HR", 60),
                    (at(-3), "HR", 61),
                    (at(-2.5), "HR", 70),
                    (at(-1.5), "VENT", None),
                    (at(0), "HR", 80),
                    (NOW + timedelta(microseconds=1), "HR", 999),
                ),
                *person(SECOND, (at(-1), "HR", 55), (at(-1), "HR", None), (at(-0.5), "LAB//K", 4.5), sex="M"),
            ],
            "other/deep/1": [
                *person(THIRD, (at(-0.25), "VENT", None), (at(-0.25), "RARE", 1), (at(5), "HR", 90), sex="M"),
                *person(FOURTH, (at(-30), "HR", 70)),
                *person(770099, (at(-1), "HR", 70), (at(-1), "UNLABELLED", 70)),
            ],
        }
    )
    labels: list[Row] = field(
        default_factory=lambda: [(THIRD, NOW, False), (FIRST, NOW, True), (SECOND, NOW, False), (FOURTH, NOW, True)]
    )
    splits: list[Row] | None = field(
        default_factory=lambda: [
            (FOURTH, "held_out"),
            (FIRST, "train"),
            (SECOND, "train"),
            (THIRD, "tuning"),
            (770099, "train"),
        ]
    )
    events: dict[str, pa.DataType] = field(default_factory=lambda: dict(EVENTS))

    def write(self, folder: Path) -> Path:
        for name, rows in self.shards.items():
            path = folder / "data" / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            parquet.write_table(table(rows, self.events), path)
        parquet.write_table(table(self.labels, LABELS), folder / "died.parquet")
        if self.splits is not None:
            (folder / "metadata").mkdir(exist_ok=True)
            parquet.write_table(table(self.splits, SPLITS), folder / "metadata" / "subject_splits.parquet")
        return folder


def read(folder: Path, **settings) -> Records:
    return read_meds(folder, folder / "died.parquet", **({"hours": 4, "minimum_share": 0.0} | settings))


def channel(records: Records, name: str) -> list[list[float]]:
    assert records.series is not None
    return records.series[:, :, records.channels.index(name)].tolist()


def test_the_records_of_four_labels(tmp_path):
    records = read(Dataset().write(tmp_path))
    nan = np.nan
    assert records.series is not None
    assert records.series.dtype == np.float32
    assert records.channels == ("HR", "LAB//K", "VENT")
    np.testing.assert_array_equal(
        records.series[:, :, 0], [[61, 70, nan, 80], [nan, nan, 55, nan], [nan] * 4, [nan] * 4]
    )
    np.testing.assert_array_equal(records.series[:, :, 1], [[nan] * 4, [nan, nan, nan, 4.5], [nan] * 4, [nan] * 4])
    assert channel(records, "VENT") == [[0, 0, 1, 0], [0] * 4, [0, 0, 0, 1], [0] * 4]
    assert records.labels.tolist() == [1, 0, 0, 1]
    assert records.labels.dtype == np.int8
    assert records.groups is not None
    assert records.groups.tolist() == [str(FIRST), str(SECOND), str(THIRD), str(FOURTH)]
    assert records.ids[0] == f"{FIRST}@2150-01-02T00:00:00.000000"
    assert records.roles is not None
    assert records.roles.tolist() == ["train", "train", "tuning", "held_out"]
    assert records.step_hours == 1
    assert records.target == "died"
    assert records.notes == ("<10 windows without any event",)


def test_what_has_no_time_is_in_the_table(tmp_path):
    frame = read(Dataset().write(tmp_path)).frame
    assert frame.columns.tolist() == ["HEIGHT", "age_years", "SEX//F", "SEX//M"]
    assert frame["SEX//F"].tolist() == [True, False, False, True]
    assert frame["SEX//M"].tolist() == [False, True, True, False]
    np.testing.assert_array_equal(frame["HEIGHT"], [165, np.nan, np.nan, np.nan])
    np.testing.assert_allclose(frame["age_years"], [60] * 4, rtol=1e-6)


@pytest.mark.parametrize(
    ("hours_before", "step"),
    [(4, None), (3.9999, 0), (3.5, 0), (3, 0), (2.9999, 1), (2, 1), (1, 2), (0.5, 3), (0, 3), (-0.0001, None)],
)
def test_the_step_of_each_time(tmp_path, hours_before, step):
    dataset = Dataset()
    dataset.shards["train/0"] = [*person(FIRST, (at(-hours_before), "X", 7)), *person(SECOND, (at(-1), "X", 7))]
    values = channel(read(dataset.write(tmp_path)), "X")
    assert np.flatnonzero(np.isfinite(values[0])).tolist() == ([] if step is None else [step])


def test_nothing_after_the_prediction_time_is_seen(tmp_path):
    dataset = Dataset()
    expected = read(dataset.write(tmp_path / "before"))
    later = [(NOW + timedelta(microseconds=1), code, 1000.0) for code in ("HR", "VENT", "LAB//K", "LATE")]
    for rows in dataset.shards.values():
        for subject in (FIRST, SECOND, THIRD, FOURTH):
            if any(row[0] == subject for row in rows):
                rows.extend((subject, *event) for event in later)
    records = read(dataset.write(tmp_path / "after"))
    assert records.channels == expected.channels
    np.testing.assert_array_equal(records.series, expected.series)  # type: ignore[arg-type]


def test_steps_may_be_of_any_length(tmp_path):
    records = read(Dataset().write(tmp_path), hours=4, step_hours=2.0, codes=["HR"])
    np.testing.assert_array_equal(channel(records, "HR")[0], [70, 80])
    assert records.step_hours == 2
    half = read(tmp_path, hours=1, step_hours=0.25, codes=["LAB//K"])
    np.testing.assert_array_equal(channel(half, "LAB//K")[1], [np.nan, 4.5, np.nan, np.nan])


def test_a_subject_may_have_several_labels(tmp_path):
    dataset = Dataset()
    dataset.labels += [(FIRST, at(-2), False), (FIRST, at(-3), True), (FIRST, at(40), False)]
    records = read(dataset.write(tmp_path), hours=2, codes=["HR", "VENT"])
    assert records.groups is not None
    assert records.groups.tolist()[:4] == [str(FIRST)] * 4
    assert records.labels.tolist()[:4] == [1, 0, 1, 0]
    nan = np.nan
    np.testing.assert_array_equal(channel(records, "HR")[:4], [[50, 61], [61, 70], [nan, 80], [nan, nan]])
    assert channel(records, "VENT")[:4] == [[0, 0], [0, 0], [1, 0], [0, 0]]


def test_age_is_that_at_the_prediction_time(tmp_path):
    dataset = Dataset()
    dataset.labels.append((FIRST, NOW - timedelta(days=365.25), False))
    ages = read(dataset.write(tmp_path)).frame["age_years"]
    np.testing.assert_allclose(ages, [59, 60, 60, 60, 60], rtol=1e-6)


def test_windows_are_filled_as_one_at_a_time_would_be(tmp_path):
    rng, dataset = np.random.default_rng(0), Dataset()
    subjects, codes = [FIRST, SECOND, THIRD, FOURTH], ["A", "B", "C"]
    minutes = np.sort(rng.integers(-3000, 1, 600))
    events = [
        (int(rng.choice(subjects)), at(m / 60), str(rng.choice(codes)), float(v))
        for m, v in zip(minutes, rng.integers(1, 50, 600), strict=True)
    ]
    dataset.shards = {"0": sorted(events, key=lambda event: event[0])}
    dataset.labels = [(s, at(h), bool((s + h) % 2)) for s in subjects for h in (-40, -20, -7, 0)]
    records = read(dataset.write(tmp_path), hours=12, step_hours=3, codes=codes)
    expected = np.full((16, 4, 3), np.nan)
    for row, (subject, end, _) in enumerate(sorted(dataset.labels)):
        for owner, time, code, value in events:
            for step in range(4):
                start = end - timedelta(hours=12 - 3 * step)
                if owner == subject and start < time <= start + timedelta(hours=3):
                    expected[row, step, codes.index(code)] = value
    np.testing.assert_array_equal(records.series, expected)  # type: ignore[arg-type]


def test_rows_of_a_subject_may_be_in_any_order(tmp_path):
    dataset = Dataset()
    expected = read(dataset.write(tmp_path / "sorted"))
    dataset.shards = {name: rows[::-1] for name, rows in dataset.shards.items()}
    dataset.shards["train/0"].remove((SECOND, at(-1), "HR", None))
    records = read(dataset.write(tmp_path / "reversed"))
    np.testing.assert_array_equal(records.series, expected.series)  # type: ignore[arg-type]


def test_codes_are_taken_where_enough_training_windows_have_them(tmp_path):
    records = read(Dataset().write(tmp_path), minimum_share=0.6)
    assert records.channels == ("HR",)  # 2 of 2; the others 1 of 2, and RARE only in tuning
    assert records.frame.columns.tolist() == ["age_years"]
    assert read(tmp_path, minimum_share=0.5).channels == ("HR", "LAB//K", "VENT")
    dataset = Dataset(splits=None)
    everything = read(dataset.write(tmp_path / "no split"), minimum_share=0.25)
    assert everything.channels == ("HR", "LAB//K", "RARE", "VENT")
    assert everything.roles is None
    assert everything.notes[0] == "the dataset has no subject_splits.parquet, so the split is left to Aliquot"


def test_codes_may_be_named(tmp_path):
    records = read(Dataset().write(tmp_path), codes=["VENT", "SEX//M", "HR", "MEDS_BIRTH"], minimum_share=1.0)
    assert records.channels == ("VENT", "HR")
    assert records.frame.columns.tolist() == ["SEX//M", "age_years"]
    assert channel(records, "VENT")[0] == [0, 0, 1, 0]


def test_a_code_with_and_without_time_is_in_both(tmp_path):
    dataset = Dataset()
    dataset.shards["train/0"].append((SECOND, None, "HR", 44.0))
    records = read(dataset.write(tmp_path), codes=["HR"])
    np.testing.assert_array_equal(channel(records, "HR")[1], [np.nan, np.nan, 55, np.nan])
    np.testing.assert_array_equal(records.frame["HR"], [np.nan, 44, np.nan, np.nan])


def test_numbers_may_be_absent_altogether(tmp_path):
    dataset = Dataset()
    dataset.shards = {name: [row[:3] for row in rows] for name, rows in dataset.shards.items()}
    del dataset.events["numeric_value"]
    records = read(dataset.write(tmp_path))
    assert channel(records, "HR") == [[1, 1, 0, 1], [0, 0, 1, 0], [0] * 4, [0] * 4]
    assert records.frame["HEIGHT"].tolist() == [True, False, False, False]
    np.testing.assert_allclose(records.frame["age_years"], [60] * 4, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("code", pa.large_string()),
        ("code", pa.dictionary(pa.int32(), pa.string())),
        ("numeric_value", pa.float64()),
        ("subject_id", pa.int32()),
        ("time", pa.timestamp("ns")),
        ("time", pa.timestamp("ms")),
    ],
)
def test_related_types_are_read_too(tmp_path, name, kind):
    dataset = Dataset()
    for rows in dataset.shards.values():
        rows[:] = [row for row in rows if row[1] is None or row[1].microsecond == 0]
    expected = read(dataset.write(tmp_path / "standard"))
    dataset.events[name] = kind
    records = read(dataset.write(tmp_path / "other"))
    np.testing.assert_array_equal(records.series, expected.series)  # type: ignore[arg-type]
    assert records.frame.equals(expected.frame)


def test_labels_may_be_several_files(tmp_path):
    dataset = Dataset()
    expected = read(dataset.write(tmp_path))
    folder = tmp_path / "tasks" / "death"
    for place, row in enumerate(dataset.labels):
        (folder / str(place)).mkdir(parents=True)
        parquet.write_table(table([row], LABELS), folder / str(place) / "0.parquet")
    parquet.write_table(table([], LABELS), folder / "empty.parquet")
    records = read_meds(tmp_path, folder, hours=4, minimum_share=0)
    assert records.target == "death"
    assert records.ids.tolist() == expected.ids.tolist()
    np.testing.assert_array_equal(records.series, expected.series)  # type: ignore[arg-type]


def test_a_tuning_part_is_drawn_where_there_is_none(tmp_path):
    subjects = [*range(100, 140), *range(200, 210)]
    dataset = Dataset(
        shards={"0": [row for subject in subjects for row in person(subject, (at(-1), "HR", 70.0))]},
        labels=[(subject, NOW, bool(subject % 4 == 0)) for subject in subjects],
        splits=[(subject, "train" if subject < 200 else "held_out") for subject in subjects],
    )
    first, again, other = (read(dataset.write(tmp_path), seed=seed) for seed in (1, 1, 2))
    assert first.roles is not None
    assert again.roles is not None
    assert other.roles is not None
    counts = {role: first.roles.tolist().count(role) for role in ("train", "tuning", "held_out")}
    assert counts == {"train": 34, "tuning": 6, "held_out": 10}
    assert first.roles.tolist() == again.roles.tolist() != other.roles.tolist()
    assert "15 % of the training subjects" in first.notes[0]


def test_a_split_without_held_out_is_left_open(tmp_path):
    dataset = Dataset()
    dataset.splits = [(subject, "train") for subject in (FIRST, SECOND, THIRD, FOURTH)]
    records = read(dataset.write(tmp_path))
    assert records.roles is None
    assert records.notes[0] == "no subject of tuning, held_out has a label, so the split is left to Aliquot"


def test_the_records_make_a_cohort(tmp_path):
    cohort = Cohort.from_records(read(Dataset().write(tmp_path)))
    assert cohort.n == 4
    assert cohort.series is not None
    assert cohort.series.values.shape == (4, 4, 2)
    assert "left out 1 channel measured in fewer than 10 patients" in cohort.notes


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"hours": 0}, ("asked for 0 hours",)),
        ({"hours": 4, "step_hours": 3}, ("4 hours in steps of 3", "whole steps")),
        ({"step_hours": 0}, ("in steps of 0",)),
        ({"step_hours": -1}, ("in steps of -1",)),
        ({"step_hours": 1e-12}, ("in steps of 1e-12",)),
        ({"hours": float("inf")}, ("asked for inf hours",)),
        ({"minimum_share": 1.5}, ("minimum_share of 1.5",)),
        ({"codes": []}, ("one or more different codes",)),
        ({"codes": ["HR", "HR"]}, ("name each once",)),
        ({"codes": "HR"}, ("a list",)),
        ({"limit_bytes": 191}, ("4 windows of 4 steps with 3 codes take 192 bytes", "191")),
    ],
)
def test_impossible_settings(tmp_path, raises, settings, words):
    with raises(SettingsError, *words):
        read(Dataset().write(tmp_path), **settings)


def test_codes_that_do_not_occur_are_named(tmp_path, raises):
    with raises(SchemaError, "2 codes that no training window has: 'hr', 'RARE'"):
        read(Dataset().write(tmp_path), codes=["hr", "HR", "RARE"])
    with raises(SchemaError, "no code with a time", "lower minimum_share"):
        read(tmp_path, hours=1, step_hours=0.25, minimum_share=1.0)
    with raises(SchemaError, "no code with a time"):
        read(tmp_path, codes=["SEX//F"])


def with_label(*row):
    return lambda dataset: dataset.labels.append(row)


def with_event(*row):
    return lambda dataset: dataset.shards["train/0"].append(row)


def with_split(*row):
    return lambda dataset: dataset.splits.append(row)


def with_type(name: str, kind: pa.DataType, values: Callable):
    def change(dataset: Dataset) -> None:
        place = [*EVENTS].index(name)
        dataset.events[name] = kind
        for rows in dataset.shards.values():
            rows[:] = [(*row[:place], values(row[place]), *row[place + 1 :]) for row in rows]

    return change


def all_labels(value: bool):
    return lambda dataset: setattr(dataset, "labels", [(*row[:2], value) for row in dataset.labels])


MALFORMED: dict[str, tuple[Callable, tuple[str, ...]]] = {  # a change to the dataset, and words of the message
    "no shards": (lambda dataset: dataset.shards.clear(), ("no Parquet files in 'data'",)),
    "event: subject as text": (with_type("subject_id", pa.string(), str), ("another type", "'subject_id (string)'")),
    "event: time as text": (with_type("time", pa.string(), lambda v: SENTINEL), ("'time (string)'",)),
    "event: time zone": (with_type("time", pa.timestamp("us", "UTC"), lambda v: v), ("UTC",)),
    "event: code as number": (with_type("code", pa.int64(), lambda v: 5), ("'code (int64)'",)),
    "event: number as text": (
        with_type("numeric_value", pa.string(), lambda v: SENTINEL),
        ("'numeric_value (string)'",),
    ),
    "event: no code": (with_event(FIRST, NOW, None, 1.0), ("1 row without a code",)),
    "event: infinite": (with_event(FIRST, NOW, "HR", float("inf")), ("1 row with an infinite numeric_value",)),
    "event: subject in two shards": (with_event(THIRD, NOW, "HR", 1.0), ("1 in more than one file",)),
    "label: unknown subject": (
        lambda dataset: [with_label(770015, NOW, True)(dataset), with_split(770015, "train")(dataset)],
        ("lack 1 of the 5 subjects with labels",),
    ),
    "label: twice": (with_label(FIRST, NOW, False), ("1 row whose subject_id and prediction_time came before",)),
    "label: empty": (with_label(FIRST, at(1), None), ("1 row without a boolean_value",)),
    "label: no time": (with_label(FIRST, None, True), ("1 row without a prediction_time",)),
    "label: no subject": (with_label(None, NOW, True), ("1 row without a subject_id",)),
    "label: only yes": (all_labels(True), ("4 labels that are true and 0 that are false",)),
    "label: only no": (all_labels(False), ("0 labels that are true and 4 that are false",)),
    "label: none": (lambda dataset: dataset.labels.clear(), ("0 labels that are true and 0 that are false",)),
    "split: lacks a subject": (lambda dataset: dataset.splits.pop(0), ("no split for 1 of the 4 subjects",)),
    "split: another name": (
        lambda dataset: dataset.splits.__setitem__(0, (FOURTH, SENTINEL)),
        ("none of train, tuning, held_out for 1",),
    ),
    "split: twice": (with_split(FIRST, "train"), ("1 row whose subject_id came before",)),
    "split: empty": (with_split(5, None), ("1 row without a split",)),
}


@pytest.mark.parametrize(("change", "words"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_datasets_are_refused(tmp_path, raises, change, words):
    dataset = Dataset()
    change(dataset)
    dataset.write(tmp_path)
    with pytest.raises(FileError) as caught:
        read(tmp_path)
    assert not any(str(subject) in str(caught.value) for subject in range(770011, 770016))
    with raises(FileError, *words):
        read(tmp_path)


LABEL_FILES = {
    "other value": (LABELS | {"boolean_value": pa.int64()}, ("another type", "'boolean_value (int64)'")),
    "time as text": (LABELS | {"prediction_time": pa.string()}, ("another type", "'prediction_time (string)'")),
}


@pytest.mark.parametrize(("types", "words"), LABEL_FILES.values(), ids=LABEL_FILES.keys())
def test_labels_of_another_type_are_refused(tmp_path, raises, types, words):
    Dataset().write(tmp_path)
    parquet.write_table(pa.table({name: pa.array([], kind) for name, kind in types.items()}), tmp_path / "died.parquet")
    with raises(FileError, *words):
        read(tmp_path)


def test_files_that_are_not_there_are_named(tmp_path, raises):
    Dataset().write(tmp_path)
    with raises(FileError, "nowhere.parquet' is missing"):
        read_meds(tmp_path, tmp_path / "nowhere.parquet", hours=4)
    (tmp_path / "tasks").mkdir()
    with raises(FileError, "tasks' has no Parquet files"):
        read_meds(tmp_path, tmp_path / "tasks", hours=4)
    with raises(FileError, "nowhere' has no Parquet files in 'data'"):
        read_meds(tmp_path / "nowhere", tmp_path / "died.parquet", hours=4)
    parquet.write_table(pa.table({"subject_id": [1], "integer_value": [3]}), tmp_path / "died.parquet")
    with raises(FileError, "not one column each named 'prediction_time', 'boolean_value'", "yes or no"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["data/train/0.parquet", "died.parquet", "metadata/subject_splits.parquet"])
def test_damaged_files_are_refused(tmp_path, raises, name):
    path = Dataset().write(tmp_path) / name
    path.write_bytes(path.read_bytes()[:-30])
    with raises(FileError, "cannot be read as Parquet"):
        read(tmp_path)
