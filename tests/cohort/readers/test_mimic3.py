from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from aliquot.cohort.readers.mimic3 import CHANNELS, NORMAL, SCALES, read_mimic3
from aliquot.cohort.records import Records
from aliquot.cohort.roles import draw_tuning
from aliquot.errors import FileError, SettingsError

SENTINEL = "Zq7_secret"
REFILL, TOTAL, VERBAL = "Capillary refill rate", "Glascow coma scale total", "Glascow coma scale verbal response"
EYE, MOTOR = "Glascow coma scale eye opening", "Glascow coma scale motor response"
HEADER = "Hours," + ",".join(CHANNELS)
NUMBERS = [name for name in CHANNELS if name not in SCALES]
TRAIN = [f"{patient}_timeseries.csv" for patient in ("771_episode1", "771_episode2", "772_episode1")]
TEST = [f"{patient}_timeseries.csv" for patient in ("783_episode1", "784_episode3")]


def stay(*rows: tuple[object, Mapping[str, object]]) -> str:
    """A stay's file: times, and what was measured then."""
    lines = [",".join([str(time), *(str(cells.get(name, "")) for name in CHANNELS)]) for time, cells in rows]
    return "\n".join([HEADER, *lines]) + "\n"


def lists(stays: list[str], labels: list[int]) -> str:
    return "stay,y_true\n" + "".join(f"{name},{label}\n" for name, label in zip(stays, labels, strict=True))


@dataclass
class Tree:
    """Three train stays and two test stays as they will be written, for tests to change."""

    files: dict[str, str | bytes | None] = field(
        default_factory=lambda: {
            "train/listfile.csv": lists(TRAIN, [0, 0, 1]),
            "test/listfile.csv": lists(TEST, [0, 1]),
            f"train/{TRAIN[0]}": stay(
                (0, {"Heart Rate": 80, EYE: "None", TOTAL: "15.0"}),
                (0.5, {"Heart Rate": 81, "pH": 7.31}),
                (1.0, {"Heart Rate": 82, MOTOR: "Obeys Commands"}),
                (1.0, {"Heart Rate": 83, "Glucose": 140}),
                (1.0000021, {"Heart Rate": 84}),
                (47.999, {"Heart Rate": 90, "pH": 7.5}),
                (48.0, {"Heart Rate": 91, REFILL: 1}),
            ),
            f"train/{TRAIN[1]}": stay((20.5, {"Weight": 70.25})),
            f"train/{TRAIN[2]}": stay((3, {EYE: "2 To pain"}), (5, {EYE: "To Pain"}), (7, {EYE: "1 No Response"})),
            f"test/{TEST[0]}": stay((0.25, {VERBAL: "No Response-ETT", TOTAL: 3}), (2.5, {VERBAL: "1.0 ET/Trach"})),
            f"test/{TEST[1]}": stay((12, {"Temperature": 38.5})),
        }
    )

    def write(self, folder: Path) -> Path:
        for name, text in self.files.items():
            if text is not None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder


def channel(records: Records, name: str, row: int = 0) -> np.ndarray:
    assert records.series is not None
    return records.series[row, :, records.channels.index(name)]


def of_one(tmp_path: Path, *rows: tuple[object, Mapping[str, object]], **settings) -> Records:
    """The records where the first stay's file has these rows."""
    tree = Tree()
    tree.files[f"train/{TRAIN[0]}"] = stay(*rows)
    return read_mimic3(tree.write(tmp_path), **settings)


def test_the_records_of_five_stays(tmp_path):
    records = read_mimic3(Tree().write(tmp_path))
    assert records.series is not None
    assert records.groups is not None
    assert records.series.shape == (5, 48, 60)
    assert records.series.dtype == np.float32
    assert records.labels.tolist() == [0, 0, 1, 0, 1]
    assert records.labels.dtype == np.int8
    assert records.ids.tolist() == [*TRAIN, *TEST]
    assert records.groups.tolist() == ["771", "771", "772", "783", "784"]
    assert records.frame.shape == (5, 0)
    assert records.step_hours == 1
    assert records.target == "died_in_hospital"


def test_the_hour_of_each_time_and_the_last_value_in_it(tmp_path):
    rate = channel(read_mimic3(Tree().write(tmp_path)), "Heart Rate")
    assert rate[0] == 83  # of 0, 0.5, 1.0 and 1.0
    assert rate[1:47].tolist() == [84] * 46  # 1.0000021 is after the first hour, and is carried
    assert rate[47] == 91  # of 47.999 and 48.0


@pytest.mark.parametrize(
    ("time", "hour"),
    [
        (0, 0),
        (0.5, 0),
        (1.0, 0),
        ("1.0000005", 0),
        ("1.0000015", 1),
        (1.5, 1),
        (2, 1),
        (46.5, 46),
        (47, 46),
        (47.999, 47),
        (48.0, 47),
        ("48.0000009", 47),
        ("-0.0000009", 0),
    ],
)
def test_hour_k_holds_what_is_after_k_up_to_k_and_one(tmp_path, time, hour):
    records = of_one(tmp_path, (time, {"Glucose": 99}), fill="none")
    assert np.flatnonzero(~np.isnan(channel(records, "Glucose"))).tolist() == [hour]


def test_masks_are_made_before_filling(tmp_path):
    records = read_mimic3(Tree().write(tmp_path))
    assert np.flatnonzero(channel(records, "mask->Heart Rate")).tolist() == [0, 1, 47]
    assert np.flatnonzero(channel(records, "mask->pH")).tolist() == [0, 47]
    assert np.flatnonzero(channel(records, f"mask->{REFILL}")).tolist() == [47]
    assert np.flatnonzero(channel(records, f"mask->{EYE}", 2)).tolist() == [2, 4, 6]
    assert not channel(records, "mask->Height").any()
    assert np.flatnonzero(channel(records, "mask->Weight", 1)).tolist() == [20]
    assert records.series is not None
    assert records.series[1, :, -17:].sum() == 1


def test_values_are_carried_forward_and_normal_before_the_first(tmp_path):
    records = read_mimic3(Tree().write(tmp_path))
    np.testing.assert_allclose(channel(records, "pH"), [7.31] * 47 + [7.5], rtol=1e-6)
    assert channel(records, "Weight", 1).tolist() == [81] * 20 + [70.25] * 28
    assert channel(records, f"{REFILL}->0.0").tolist() == [1] * 47 + [0]
    assert channel(records, f"{EYE}->4 Spontaneously", 2).tolist() == [1] * 2 + [0] * 46
    assert channel(records, f"{EYE}->2 To pain", 2).tolist() == [0] * 2 + [1] * 4 + [0] * 42
    assert channel(records, f"{EYE}->1 No Response", 2).tolist() == [0] * 6 + [1] * 42


def test_a_stay_of_which_nothing_was_measured_has_normal_values(tmp_path):
    records = of_one(tmp_path, (5, {}), columns="codes", masks=False)
    assert records.series is not None
    expected = [0, 59, 0.21, 4, 6, 15, 5, 128, 86, 170, 77, 98, 19, 118, 36.6, 81, 7.4]
    np.testing.assert_allclose(records.series[0], [expected] * 48, rtol=1e-6)
    assert records.channels == CHANNELS


def test_none_is_a_level_and_numbers_may_have_a_point(tmp_path):
    records = read_mimic3(Tree().write(tmp_path))
    assert channel(records, f"{EYE}->None").all()
    assert channel(records, f"{TOTAL}->15").all()
    assert channel(records, f"{TOTAL}->3", 3).all()
    raw = of_one(tmp_path, (0, {REFILL: "1", TOTAL: "11.0"}), (1.5, {REFILL: "0", TOTAL: "8"}), columns="raw")
    assert channel(raw, f"{REFILL}->1.0").tolist() == [1] + [0] * 47
    assert channel(raw, f"{TOTAL}->11").tolist() == [1] + [0] * 47
    assert channel(raw, f"{TOTAL}->8").tolist() == [0] + [1] * 47


CODES = {  # written by hand from the table of the benchmark's levels
    EYE: [
        *(("None", 0), ("1 No Response", 1), ("2 To pain", 2), ("To Pain", 2), ("3 To speech", 3), ("To Speech", 3)),
        *(("4 Spontaneously", 4), ("Spontaneously", 4)),
    ],
    MOTOR: [
        *(("1 No Response", 1), ("No response", 1), ("2 Abnorm extensn", 2), ("Abnormal extension", 2)),
        *(("3 Abnorm flexion", 3), ("Abnormal Flexion", 3), ("4 Flex-withdraws", 4), ("Flex-withdraws", 4)),
        *(("5 Localizes Pain", 5), ("Localizes Pain", 5), ("6 Obeys Commands", 6), ("Obeys Commands", 6)),
    ],
    VERBAL: [
        *(("1 No Response", 1), ("No Response", 1), ("No Response-ETT", 1), ("1.0 ET/Trach", 1)),
        *(("2 Incomp sounds", 2), ("Incomprehensible sounds", 2), ("3 Inapprop words", 3), ("Inappropriate Words", 3)),
        *(("4 Confused", 4), ("Confused", 4), ("5 Oriented", 5), ("Oriented", 5)),
    ],
    TOTAL: [(str(total), total) for total in range(3, 16)],
    REFILL: [("0.0", 0), ("1.0", 1)],
}


@pytest.mark.parametrize("scale", CODES)
def test_every_spelling_has_its_code_and_its_column(tmp_path, scale):
    rows = [(hour + 0.5, {scale: spelling}) for hour, (spelling, _) in enumerate(CODES[scale])]
    codes = [code for _, code in CODES[scale]]
    assert channel(of_one(tmp_path, *rows, fill="none"), scale)[: len(codes)].tolist() == codes
    merged, raw = (of_one(tmp_path, *rows, columns=columns) for columns in ("merged", "raw"))
    for hour, (spelling, code) in enumerate(CODES[scale]):
        numbered = next(text for text, same in CODES[scale] if same == code)  # the first of the code, as in the table
        set_in = {
            columns: [name for name in records.channels if name.startswith(scale) and channel(records, name)[hour]]
            for columns, records in (("merged", merged), ("raw", raw))
        }
        assert set_in == {"merged": [f"{scale}->{numbered}"], "raw": [f"{scale}->{spelling}"]}


def test_names_of_the_merged_columns(tmp_path):
    names = read_mimic3(Tree().write(tmp_path)).channels
    assert names[:9] == (
        *(f"{REFILL}->0.0", f"{REFILL}->1.0", "Diastolic blood pressure", "Fraction inspired oxygen"),
        *(f"{EYE}->{level}" for level in ("None", "1 No Response", "2 To pain", "3 To speech", "4 Spontaneously")),
    )
    motor = ("1 No Response", "2 Abnorm extensn", "3 Abnorm flexion", "4 Flex-withdraws", "5 Localizes Pain")
    assert names[9:15] == (*(f"{MOTOR}->{level}" for level in motor), f"{MOTOR}->6 Obeys Commands")
    assert names[15:28] == tuple(f"{TOTAL}->{total}" for total in range(3, 16))
    verbal = ("1 No Response", "2 Incomp sounds", "3 Inapprop words", "4 Confused", "5 Oriented")
    assert names[28:33] == tuple(f"{VERBAL}->{level}" for level in verbal)
    assert names[33:43] == CHANNELS[7:]
    assert names[43:] == tuple(f"mask->{name}" for name in CHANNELS)


def test_names_of_the_raw_columns_are_those_of_the_suite(tmp_path):
    names = read_mimic3(Tree().write(tmp_path), columns="raw").channels
    eye = ("To Pain", "3 To speech", "1 No Response", "4 Spontaneously", "None", "To Speech", "Spontaneously")
    assert names[4:12] == (*(f"{EYE}->{level}" for level in eye), f"{EYE}->2 To pain")
    assert names[24:37] == tuple(f"{TOTAL}->{total}" for total in (11, 10, 13, 12, 15, 14, 3, 5, 4, 7, 6, 9, 8))
    assert names[59:] == tuple(f"mask->{name}" for name in CHANNELS)


@pytest.mark.parametrize(
    ("settings", "columns"),
    [
        ({}, 60),
        ({"masks": False}, 43),
        ({"columns": "raw"}, 76),
        ({"columns": "raw", "masks": False}, 59),
        ({"columns": "codes"}, 34),
        ({"columns": "codes", "masks": False}, 17),
        ({"fill": "none"}, 17),
        ({"columns": "codes", "fill": "none"}, 17),
    ],
)
def test_number_of_columns(tmp_path, settings, columns):
    records = read_mimic3(Tree().write(tmp_path), **settings)
    assert records.series is not None
    assert records.series.shape == (5, 48, columns)
    assert len(set(records.channels)) == columns
    assert np.isnan(records.series).any() == (settings.get("fill") == "none")


@pytest.mark.parametrize("columns", ["merged", "raw"])
def test_only_the_twelve_numbers_are_left_to_scale(tmp_path, columns):
    records = read_mimic3(Tree().write(tmp_path), columns=columns)
    assert records.series is not None
    plain = [name for name in records.channels if "->" not in name]
    assert plain == NUMBERS
    assert len(plain) == 12
    others = [place for place, name in enumerate(records.channels) if "->" in name]
    assert set(np.unique(records.series[..., others])) == {0, 1}
    scales = [place for place, name in enumerate(records.channels) if "->" in name and "mask" not in name]
    assert (records.series[..., scales].sum(axis=2) == 5).all()


def test_without_filling_gaps_stay_and_scales_are_codes(tmp_path):
    records = read_mimic3(Tree().write(tmp_path), fill="none")
    assert records.channels == CHANNELS
    eye = channel(records, EYE, 2)
    assert eye[[2, 4, 6]].tolist() == [2, 2, 1]
    assert np.isnan(eye).sum() == 45
    assert records.series is not None
    assert np.isfinite(records.series[1]).sum() == 1


def test_a_folder_with_two_lists_gets_a_tuning_part_from_train(tmp_path):
    records = read_mimic3(big_tree().write(tmp_path), seed=3)
    assert records.roles is not None
    assert records.groups is not None
    counts = {role: (records.roles == role).sum() for role in ("train", "tuning", "held_out")}
    assert counts == {"train": 68, "tuning": 12, "held_out": 2}  # 15 % of 30 and of 10 patients, two stays each
    assert records.labels[records.roles == "tuning"].sum() == 2
    assert not set(records.groups[records.roles == "train"]) & set(records.groups[records.roles == "tuning"])
    assert records.notes == (
        "the folder has no list of validation stays, so 15 % of the training patients (12 stays) are used for tuning",
    )
    again, other = read_mimic3(tmp_path, seed=3), read_mimic3(tmp_path, seed=4)
    assert (again.roles == records.roles).all()
    assert (other.roles != records.roles).any()


def test_the_three_lists_are_the_split_where_they_exist(tmp_path):
    tree = Tree()
    tree.files |= {
        "train_listfile.csv": lists(TRAIN[:2], [0, 1]),
        "val_listfile.csv": lists(TRAIN[2:], [0]),
        "test_listfile.csv": lists(TEST[1:], [1]),
        "train/listfile.csv": None,
    }
    records = read_mimic3(tree.write(tmp_path))
    assert records.ids.tolist() == [*TRAIN, TEST[1]]
    assert records.labels.tolist() == [0, 1, 0, 1]
    assert records.roles is not None
    assert records.roles.tolist() == ["train", "train", "tuning", "held_out"]
    assert records.notes == ()


def test_two_of_the_three_lists_do_not_count(tmp_path):
    tree = Tree()
    tree.files |= {"train_listfile.csv": lists(TRAIN[:2], [0, 1]), "test_listfile.csv": lists(TEST[1:], [1])}
    assert len(read_mimic3(tree.write(tmp_path)).labels) == 5


def test_without_test_stays_the_split_is_left_open(tmp_path):
    tree = Tree()
    tree.files["test/listfile.csv"] = None
    records = read_mimic3(tree.write(tmp_path))
    assert records.roles is None
    assert len(records.labels) == 3
    assert records.notes == ("the folder has no list of test stays, so the split is left to Aliquot",)


def test_stays_that_are_not_listed_do_not_matter(tmp_path):
    tree = Tree()
    tree.files |= {"train/799_episode1_timeseries.csv": SENTINEL, "test/notes.txt": b"\xff", "val_listfile.txt": "?"}
    assert len(read_mimic3(tree.write(tmp_path)).labels) == 5


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rstrip(),
        lambda text: text.replace("\n", "\n\n"),
    ],
    ids=["CRLF", "no last line break", "blank lines"],
)
def test_ends_of_lines_and_files_do_not_matter(tmp_path, change):
    tree = Tree()
    expected = read_mimic3(tree.write(tmp_path / "before"))
    tree.files = {name: change(text) for name, text in tree.files.items()}
    records = read_mimic3(tree.write(tmp_path / "after"))
    assert records.series is not None
    np.testing.assert_array_equal(records.series, expected.series)


def test_columns_are_found_by_name(tmp_path):
    tree = Tree()
    tree.files[f"train/{TRAIN[1]}"] = f"pH,{','.join(CHANNELS[:-1])},more,Hours\n7.2{',' * 17}x,20.5\n"
    records = read_mimic3(tree.write(tmp_path), fill="none")
    assert records.series is not None
    np.testing.assert_allclose(records.series[1, 20, -1], 7.2, rtol=1e-6)
    assert np.isfinite(records.series[1]).sum() == 1
    assert channel(records, "Heart Rate")[0] == 83  # the others have the usual order


def test_many_stays_are_read_as_few(tmp_path, monkeypatch):
    expected = read_mimic3(Tree().write(tmp_path))
    monkeypatch.setattr("aliquot.cohort.readers.mimic3._STAYS_AT_ONCE", 2)
    np.testing.assert_array_equal(read_mimic3(tmp_path).series, expected.series)  # type: ignore[arg-type]


def big_tree() -> Tree:
    """Eighty train stays, two of each patient, a quarter of whom died, and two test stays."""
    tree = Tree()
    names = [f"{patient}_episode{k}_timeseries.csv" for patient in range(100, 140) for k in (1, 2)]
    tree.files["train/listfile.csv"] = lists(names, [int(place % 8 == 0) for place in range(80)])
    for place, name in enumerate(names):
        tree.files[f"train/{name}"] = stay((1, {"Heart Rate": place}))
    return tree


@pytest.mark.parametrize(("balance", "survived", "died"), [("none", 60, 8), ("under", 8, 8), ("over", 60, 60)])
def test_balance_is_for_the_training_part_only(tmp_path, balance, survived, died):
    whole = read_mimic3(big_tree().write(tmp_path))
    records = read_mimic3(tmp_path, balance=balance)
    assert records.roles is not None
    assert whole.roles is not None
    assert np.bincount(records.labels[records.roles == "train"]).tolist() == [survived, died]
    for role in ("tuning", "held_out"):
        assert records.ids[records.roles == role].tolist() == whole.ids[whole.roles == role].tolist()


def test_repeated_stays_are_the_same_stays_with_ids_of_their_own(tmp_path):
    records = read_mimic3(big_tree().write(tmp_path), balance="over")
    assert records.series is not None
    assert records.groups is not None
    assert len(set(records.ids)) == len(records.ids) == 82 + 52
    copies = np.array(["#" in name for name in records.ids])
    assert copies.tolist() == [False] * 82 + [True] * 52
    assert records.labels[copies].all()
    rate = records.series[:, 0, records.channels.index("Heart Rate")]
    place = dict(zip(records.ids, rate, strict=True))
    for name, patient, value in zip(records.ids[copies], records.groups[copies], rate[copies], strict=True):
        assert value == place[name.split("#")[0]]
        assert name.startswith(f"{patient}_")
    times = np.unique([name.split("#")[0] for name in records.ids[copies]], return_counts=True)[1]
    assert sorted(times) == [6, 6, 6, 6, 7, 7, 7, 7]  # 52 copies of 8 stays
    assert records.notes[1:] == ("52 training stays repeated to balance the outcomes",)


def test_balance_draws_with_the_seed(tmp_path):
    big_tree().write(tmp_path)
    first, again, other = (read_mimic3(tmp_path, balance="under", seed=seed) for seed in (1, 1, 2))
    assert first.ids.tolist() == again.ids.tolist()
    assert first.ids.tolist() != other.ids.tolist()
    assert first.notes[1:] == ("52 training stays left out to balance the outcomes",)


def test_carving_keeps_patients_whole_and_other_roles():
    rng = np.random.default_rng(0)
    groups, labels = rng.integers(0, 200, 500), rng.integers(0, 2, 500)
    roles = np.where(groups < 40, "held_out", "train")
    carved = draw_tuning(labels, groups, roles, seed=1)
    assert ((carved == "held_out") == (roles == "held_out")).all()
    tuning = set(groups[carved == "tuning"])
    assert not tuning & set(groups[carved != "tuning"])
    assert len(tuning) == pytest.approx(0.15 * len(set(groups[groups >= 40])), abs=1)
    alone = draw_tuning(np.array([0, 1]), np.array(["a", "b"]), np.array(["train", "train"]), seed=0)
    assert alone.tolist() == ["train", "train"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"columns": "both"}, ("unknown columns 'both'", "merged, raw, codes")),
        ({"fill": "next"}, ("unknown fill 'next'", "previous, none")),
        ({"balance": "smote"}, ("unknown balance 'smote'", "none, under, over")),
        ({"columns": "raw", "fill": "none"}, ('columns="raw"', "without filling")),
    ],
)
def test_impossible_settings(tmp_path, raises, settings, words):
    with raises(SettingsError, *words):
        read_mimic3(Tree().write(tmp_path), **settings)


def test_a_part_that_cannot_be_balanced_is_said(tmp_path, raises):
    tree = Tree()
    tree.files["train/listfile.csv"] = lists(TRAIN, [0, 0, 0])
    with raises(SettingsError, 'balance="over"', "only one outcome"):
        read_mimic3(tree.write(tmp_path), balance="over")
    (tmp_path / "test" / "listfile.csv").unlink()
    with raises(SettingsError, 'balance="under"', "without a list of test stays"):
        read_mimic3(tmp_path, balance="under")


def with_row(time: object, cells: dict[str, object]):
    return lambda tree: tree.files.update({f"train/{TRAIN[1]}": stay((20, {"Weight": 70}), (time, cells))})


def with_file(name: str, text: str | bytes | None):
    return lambda tree: tree.files.update({name: text})


def with_stay(text: str | bytes | None):
    return with_file(f"train/{TRAIN[1]}", text)


def with_list(old: str, new: str):
    return lambda tree: tree.files.update({"train/listfile.csv": lists(TRAIN, [0, 0, 1]).replace(old, new)})


def with_rows_in_all(tree: Tree) -> None:
    for name in (*TRAIN, *TEST):
        part = "train" if name in TRAIN else "test"
        tree.files[f"{part}/{name}"] = stay((1, {EYE: SENTINEL}), (2, {EYE: "none", "pH": "acid"}))


MALFORMED = {  # a change to the folder, and words of the message
    "no train list": (with_file("train/listfile.csv", None), ("no 'train/listfile.csv'",)),
    "list: empty": (with_file("train/listfile.csv", ""), ("train/listfile.csv", "another first line")),
    "list: no header": (with_list("stay,y_true\n", ""), ("another first line than stay,y_true",)),
    "list: other header": (with_list("y_true", SENTINEL), ("another first line",)),
    "list: other task": (with_list("stay,y_true", "stay,period_length,y_true"), ("another first line",)),
    "list: no stays": (with_file("train/listfile.csv", "stay,y_true\n"), ("lists no stays",)),
    "list: no text": (with_file("train/listfile.csv", b"stay,y_true\n\xff"), ("cannot be read as text",)),
    "list: label 2": (with_list("csv,1", "csv,2"), ("1 line whose y_true is not 0 or 1",)),
    "list: label text": (with_list("csv,1", f"csv,{SENTINEL}"), ("1 line whose y_true is not 0 or 1",)),
    "list: no label": (with_list(".csv,0", ".csv"), ("2 lines with more or fewer than 2 cells",)),
    "list: three cells": (with_list("csv,1", "csv,48,1"), ("1 line with more or fewer than 2 cells",)),
    "list: strange name": (with_list(TRAIN[2], f"{SENTINEL}.csv"), ("1 line without the name of a stay",)),
    "list: path as name": (with_list(TRAIN[2], f"../test/{TEST[0]}"), ("1 line without the name of a stay",)),
    "list: twice": (with_list(TRAIN[1], TRAIN[0]), ("1 stay listed more than once",)),
    "list: one outcome": (
        lambda tree: tree.files.update(
            {"train/listfile.csv": lists(TRAIN, [0] * 3), "test/listfile.csv": lists(TEST, [0, 0])}
        ),
        ("not 0 and 1, both",),
    ),
    "patient in two parts": (
        lambda tree: tree.files.update(
            {"test/listfile.csv": lists(TRAIN[1:2], [1]), f"test/{TRAIN[1]}": stay((1, {}))}
        ),
        ("1 stay listed more than once", "1 patient in more than one of the list files"),
    ),
    "stay: no file": (with_stay(None), ("1 listed stay without a file",)),
    "stay: no bytes": (with_stay(""), ("1 stay without any line after the first",)),
    "stay: header only": (with_stay(HEADER + "\n"), ("1 stay without any line after the first",)),
    "stay: no header": (
        with_stay(stay((1, {}), (2, {})).partition("\n")[2]),
        ("without one column each named 'Hours'",),
    ),
    "stay: other header": (with_stay(f"{SENTINEL},b\n1,2\n"), ("without one column each", "'Hours'", "10 more")),
    "stay: lacks pH": (with_stay(stay((1, {})).replace("pH", "ph")), ("without one column each named 'pH';",)),
    "stay: pH twice": (with_stay(stay((1, {})).replace("Weight", "pH")), ("named 'Weight', 'pH';",)),
    "stay: short line": (with_stay(stay((1, {})).replace("1,", "1", 1)), ("more or fewer cells",)),
    "stay: long line": (with_stay(stay((1, {"pH": f"7.1,{SENTINEL}"}))), ("more or fewer cells",)),
    "stay: Latin-1": (with_stay(HEADER.encode() + b"\n1" + b"," * 4 + b"\xb0" + b"," * 13), ("no text",)),
    "text as number": (with_row(21, {"pH": SENTINEL}), ("1 cell of 'pH' without a finite number",)),
    "infinite number": (with_row(21, {"pH": "inf"}), ("1 cell of 'pH' without a finite number",)),
    "far too large": (with_row(21, {"pH": "1e39"}), ("1 cell of 'pH' without a finite number",)),
    "unknown level": (with_row(21, {VERBAL: SENTINEL}), (f"1 cell of '{VERBAL}' without a known level",)),
    "level of another scale": (with_row(21, {VERBAL: "None"}), (f"1 cell of '{VERBAL}' without a known level",)),
    "total of 2": (with_row(21, {TOTAL: 2}), (f"1 cell of '{TOTAL}' without a known level",)),
    "total of 14.5": (with_row(21, {TOTAL: 14.5}), (f"1 cell of '{TOTAL}' without a known level",)),
    "quoted level": (with_row(21, {EYE: '"None"'}), (f"1 cell of '{EYE}' without a known level",)),
    "several": (with_rows_in_all, (f"10 cells of '{EYE}' without a known", "5 cells of 'pH' without a finite")),
    "late": (with_row(48.1, {}), ("1 line without a time from 0 to 48 hours",)),
    "early": (with_row(-1, {}), ("1 line without a time from 0 to 48 hours", "1 line with an earlier time")),
    "no time": (with_row("", {}), ("1 line without a time from 0 to 48 hours",)),
    "text as time": (with_row(SENTINEL, {}), ("1 line without a time from 0 to 48 hours",)),
    "not ascending": (with_row(19.5, {}), ("1 line with an earlier time than the line before",)),
}


@pytest.mark.parametrize(("change", "words"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_folders_are_refused(tmp_path, raises, monkeypatch, change, words):
    monkeypatch.setattr("aliquot.cohort.readers.mimic3._STAYS_AT_ONCE", 2)  # counts are of all stays all the same
    tree = Tree()
    change(tree)
    tree.write(tmp_path / "data")
    with pytest.raises(FileError) as caught:
        read_mimic3(tmp_path / "data")
    assert not any(name.partition("_")[0] in str(caught.value) for name in (*TRAIN, *TEST))
    with raises(FileError, *words):
        read_mimic3(tmp_path / "data")


def test_a_folder_that_is_not_there_is_named(tmp_path, raises):
    with raises(FileError, "nowhere", "no 'train/listfile.csv'", "in-hospital-mortality"):
        read_mimic3(tmp_path / "nowhere")


def test_a_stay_that_is_a_folder_is_refused(tmp_path, raises):
    tree = Tree()
    tree.files[f"train/{TRAIN[1]}"] = None
    (tree.write(tmp_path) / "train" / TRAIN[1]).mkdir()
    with raises(FileError, "a stay that cannot be read"):
        read_mimic3(tmp_path)


def test_tables_agree_with_each_other():
    assert len(CHANNELS) == 17
    assert [len(scale) for scale in SCALES.values()] == [2, 8, 12, 13, 12]
    assert all(NORMAL[name] in SCALES[name] for name in SCALES)
