import io
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Cohort
from aliquot.cohort.readers.physionet2012 import (
    MEASUREMENTS,
    SUMMARIES,
    VENTILATION,
    physionet2012_records,
    physionet2012_series,
    physionet2012_table,
    read_stays,
)
from aliquot.errors import FileError

MEASURED = [name for name in MEASUREMENTS if name != VENTILATION]
REAL = Path(__file__).parents[4] / "shared" / "data" / "physionet2012"
HEAD = "Time,Parameter,Value\n"
FIRST, SECOND = 770011, 770012
SENTINEL = "Zq7_secret"


def stay(number: int, *lines: str, age=61, gender=1, height=-1, icu=2, weight=80.5) -> str:
    """A stay's file with its descriptors and some more lines."""
    values = {"RecordID": number, "Age": age, "Gender": gender, "Height": height, "ICUType": icu, "Weight": weight}
    return HEAD + "".join(f"{line}\n" for line in [*(f"00:00,{name},{v}" for name, v in values.items()), *lines])


@dataclass
class Tree:
    """A set of two stays as it will be written, for tests to change."""

    letter: str = "a"
    stays: dict[str, str | bytes] = field(
        default_factory=lambda: {
            f"{FIRST}.txt": stay(FIRST, "00:10,HR,80", "20:00,HR,100", "47:59,HR,60", gender=0, height=170, icu=4),
            f"{SECOND}.txt": stay(SECOND, "01:00,Temp,37.5", "01:00,GCS,15"),
        }
    )
    outcomes: str | None = (
        f"RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death\n{FIRST},6,1,5,-1,0\n{SECOND},16,8,8,3,1\n"
    )

    def write(self, folder: Path, *, packed: bool = False) -> Path:
        folder.mkdir(exist_ok=True)
        if self.outcomes is not None:
            (folder / f"Outcomes-{self.letter}.txt").write_bytes(self.outcomes.encode())
        contents = {name: text if isinstance(text, bytes) else text.encode() for name, text in self.stays.items()}
        if packed:
            with tarfile.open(folder / f"set-{self.letter}.tar.gz", "w:gz") as archive:
                directory = tarfile.TarInfo(f"set-{self.letter}")
                directory.type = tarfile.DIRTYPE
                archive.addfile(directory)
                for name, content in contents.items():
                    member = tarfile.TarInfo(f"set-{self.letter}/{name}")
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        else:
            (folder / f"set-{self.letter}").mkdir()
            for name, content in contents.items():
                (folder / f"set-{self.letter}" / name).write_bytes(content)
        return folder


def of_first(tmp_path: Path, *lines: str, **descriptors) -> pd.Series:
    """The first stay's row where its file has these lines."""
    tree = Tree()
    tree.stays[f"{FIRST}.txt"] = stay(FIRST, *lines, **descriptors)
    return physionet2012_table(tree.write(tmp_path)).iloc[0]


@pytest.mark.parametrize("packed", [True, False], ids=["archive", "folder"])
def test_table_of_two_stays(tmp_path, packed):
    table = physionet2012_table(Tree().write(tmp_path, packed=packed))
    assert table.shape == (2, 1 + 5 + 36 * 5 + 2)
    assert table.columns[:8].tolist() == [
        *("stay_id", "age_years", "gender", "height_cm", "icu_type", "weight_kg", "Albumin_first", "Albumin_last")
    ]
    assert table.columns[-2:].tolist() == ["ventilated", "died_in_hospital"]
    assert table["stay_id"].tolist() == [FIRST, SECOND]
    assert table["died_in_hospital"].tolist() == [0, 1]
    assert table["gender"].tolist() == ["female", "male"]
    assert table["icu_type"].tolist() == ["surgical", "cardiac surgery recovery"]
    assert table["weight_kg"].tolist() == [80.5, 80.5]
    assert table.loc[0, [f"HR_{summary}" for summary in SUMMARIES]].tolist() == [80, 60, 60, 100, 80]
    assert table.loc[1, ["Temp_min", "GCS_max"]].tolist() == [37.5, 15]
    assert table.filter(like="_").isna().sum().sum() == 1 + 35 * 5 + 34 * 5


def test_lines_are_summarised_as_one_stay_at_a_time_would_be(tmp_path):
    rng, tree = np.random.default_rng(0), Tree()
    expected = {}
    for number in (FIRST, SECOND):
        minutes, names = np.sort(rng.integers(1, 2881, 200)), rng.choice(MEASUREMENTS[:20], 200)
        values = rng.integers(-1, 50, 200) / 4
        lines = [f"{m // 60:02}:{m % 60:02},{n},{v}" for m, n, v in zip(minutes, names, values, strict=True)]
        tree.stays[f"{number}.txt"] = stay(number, *lines)
        measured = pd.DataFrame({"name": names, "value": values}).query("value >= 0")
        expected[number] = {name: group["value"] for name, group in measured.groupby("name")}
    table = physionet2012_table(tree.write(tmp_path, packed=True)).set_index("stay_id")
    for number, series in expected.items():
        for name in MEASURED:
            row = table.loc[number, [f"{name}_{summary}" for summary in SUMMARIES]].astype(float)
            if name in series:
                v = series[name]
                np.testing.assert_allclose(row, [v.iloc[0], v.iloc[-1], v.min(), v.max(), v.mean()], rtol=1e-12)
            else:
                assert row.isna().all()


def test_negative_values_are_missing(tmp_path):
    row = of_first(
        tmp_path, "02:00,DiasABP,-1", "03:00,Temp,-17.8", "04:00,Temp,36", gender=-1, height=-1, weight=-1, icu=-1
    )
    assert row[["gender", "height_cm", "weight_kg", "icu_type", "DiasABP_first"]].isna().all()
    assert row[["Temp_first", "Temp_min"]].tolist() == [36, 36]


def test_lines_without_a_name_are_dropped(tmp_path):
    row = of_first(tmp_path, "02:00,,2.9", "03:00,,", "04:00,Albumin,3")
    assert row["Albumin_first"] == row["Albumin_last"] == 3
    assert row.notna().sum() == 1 + 4 + 5 + 2


def test_lines_at_one_time_all_count_and_times_are_put_in_order(tmp_path):
    row = of_first(tmp_path, "09:00,MAP,90", "05:00,MAP,70", "05:00,MAP,62", "09:00,MAP,98")
    assert row[[f"MAP_{summary}" for summary in SUMMARIES]].tolist() == [70, 98, 62, 98, 80]


def test_measurements_may_stand_among_the_descriptors(tmp_path):
    tree = Tree()
    lines = ["RecordID,770011", "Age,50", "HR,90", "Gender,0", "Height,160", "ICUType,1", "pH,7.4", "Weight,70"]
    tree.stays[f"{FIRST}.txt"] = HEAD + "\n".join(f"00:00,{line}" for line in lines)
    row = physionet2012_table(tree.write(tmp_path)).iloc[0]
    assert row[["age_years", "HR_first", "height_cm", "pH_mean", "weight_kg"]].tolist() == [50, 90, 160, 7.4, 70]


def test_weight_is_a_descriptor_and_a_series(tmp_path):
    row = of_first(tmp_path, "00:00,Weight,70.4", "00:30,Weight,71", weight=70.8)
    assert row[["weight_kg", "Weight_first", "Weight_last", "Weight_min"]].tolist() == [70.8, 70.4, 71, 70.4]


def test_a_stay_of_which_nothing_was_measured_is_kept(tmp_path):
    row = of_first(tmp_path)
    assert row["age_years"] == 61
    assert row[[f"{name}_mean" for name in MEASURED]].isna().all()


def test_ventilation_is_noted_or_not(tmp_path):
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    assert of_first(tmp_path / "with", "03:00,MechVent,1")["ventilated"] == 1
    assert of_first(tmp_path / "without", "03:00,HR,70")["ventilated"] == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rstrip(),
        lambda text: text + "\n\n",
        lambda text: text.replace("\n", "\n\n"),
    ],
    ids=["CRLF", "no last line break", "blank lines at the end", "blank lines"],
)
def test_ends_of_lines_and_files_do_not_matter(tmp_path, change):
    tree = Tree()
    expected = physionet2012_table(tree.write(tmp_path / "before"))
    tree.stays = {name: change(text) for name, text in tree.stays.items()}
    tree.outcomes = change(tree.outcomes)
    pd.testing.assert_frame_equal(physionet2012_table(tree.write(tmp_path / "after")), expected)


def test_other_files_do_not_matter(tmp_path):
    tree = Tree()
    tree.stays |= {f"._{FIRST}.txt": b"\x00\x01", "README.txt": "hello", "notes.md": "hello"}
    for packed in (True, False):
        assert len(physionet2012_table(tree.write(tmp_path / str(packed), packed=packed))) == 2


def test_the_archive_counts_where_there_is_a_folder_too(tmp_path):
    tree = Tree()
    tree.write(tmp_path, packed=True)
    tree.stays[f"{FIRST}.txt"] = stay(FIRST, "00:10,HR,33")
    assert physionet2012_table(tree.write(tmp_path)).loc[0, "HR_first"] == 80


def test_sets_follow_each_other_in_the_order_of_their_outcomes(tmp_path):
    other = Tree("c", {"5.txt": stay(5), "4.txt": stay(4)}, "In-hospital_death,RecordID\n1,5\n0,4\n")
    Tree().write(tmp_path, packed=True)
    table = physionet2012_table(other.write(tmp_path))
    assert table["stay_id"].tolist() == [FIRST, SECOND, 5, 4]
    assert table["died_in_hospital"].tolist() == [0, 1, 1, 0]


def test_long_frame(tmp_path):
    deaths, lines = read_stays(Tree().write(tmp_path, packed=True))
    assert deaths.to_dict() == {FIRST: 0, SECOND: 1}
    assert lines.columns.tolist() == ["stay_id", "minute", "variable", "value"]
    heart_rate = lines[lines["variable"] == "HR"]
    assert heart_rate["minute"].tolist() == [10, 1200, 2879]
    assert heart_rate["value"].tolist() == [80, 100, 60]
    assert len(lines["variable"].cat.categories) == 41
    assert lines.index.equals(pd.RangeIndex(len(lines)))


def with_line(line: str | bytes):
    def change(tree: Tree) -> None:
        text = tree.stays[f"{FIRST}.txt"]
        assert isinstance(text, str)
        tree.stays[f"{FIRST}.txt"] = text.encode() + (line if isinstance(line, bytes) else line.encode()) + b"\n"

    return change


def with_stay(name: str, text: str):
    return lambda tree: tree.stays.update({name: text})


def with_outcomes(old: str, new: str):
    def change(tree: Tree) -> None:
        assert tree.outcomes is not None
        tree.outcomes = tree.outcomes.replace(old, new)

    return change


LINE = {  # a change to one line of a stay, and words of the message
    "text as value": (f"01:00,HR,{SENTINEL}", ("1 line without a finite number",)),
    "no value": ("01:00,HR,", ("1 line without a finite number",)),
    "infinite value": ("01:00,HR,inf", ("1 line without a finite number",)),
    "two wrong values": ("01:00,HR,a\n01:00,HR,b", ("2 lines without a finite number",)),
    "late": ("48:01,HR,80", ("1 line without a time",)),
    "early": ("-1:00,HR,80", ("1 line without a time",)),
    "no minute": ("01:60,HR,80", ("1 line without a time",)),
    "seconds": ("01:00:00,HR,80", ("1 line without a time",)),
    "another name": (f"01:00,{SENTINEL},80", ("1 line with a name unknown",)),
    "several": ("1h,what,80", ("1 line without a time", "1 line with a name unknown")),
    "two cells": ("01:00,HR", ("more or fewer cells",)),
    "four cells": (f"01:00,HR,80,{SENTINEL}", ("more or fewer cells",)),
    "Latin-1": (b"01:00,HR,8\xb0", ("no text",)),
    "two in one": ("01:00,HR,80\r01:00,HR,80", ("break inside",)),
    "another number": (f"00:00,RecordID,{SECOND}", ("1 line whose RecordID is not the file's",)),
}
MALFORMED = {
    **{f"line: {name}": (with_line(line), words) for name, (line, words) in LINE.items()},
    "stay: another header": (with_stay(f"{FIRST}.txt", f"Time,{SENTINEL}\n1,2\n"), ("1 stay with another first line",)),
    "stay: no header": (with_stay(f"{FIRST}.txt", "00:00,Age,50\n01:00,HR,80\n"), ("1 stay with another first line",)),
    "stay: no bytes": (with_stay(f"{FIRST}.txt", ""), ("1 stay without any line",)),
    "stay: no lines": (with_stay(f"{FIRST}.txt", HEAD), ("1 stay without any line",)),
    "stay: twice": (with_stay(f"0{FIRST}.txt", stay(FIRST)), ("1 stay that came before",)),
    "stay: no outcome": (with_stay("770013.txt", stay(770013)), ("1 have no outcome and 0",)),
    "stay: gender": (with_stay(f"{FIRST}.txt", stay(FIRST, gender=2)), ("1 stay whose Gender is none of 0, 1",)),
    "stay: unit": (with_stay(f"{FIRST}.txt", stay(FIRST, icu=5)), ("1 stay whose ICUType is none of 1, 2, 3, 4",)),
    "set: empty": (lambda tree: tree.stays.clear(), ("set-a", "no stays")),
    "outcomes: none": (lambda tree: setattr(tree, "outcomes", None), ("Outcomes-a.txt' is missing",)),
    "outcomes: empty": (lambda tree: setattr(tree, "outcomes", ""), ("Outcomes-a.txt",)),
    "outcomes: no target": (with_outcomes("In-hospital_death", SENTINEL), ("lacks", "'In-hospital_death'")),
    "outcomes: no number": (with_outcomes("RecordID", SENTINEL), ("lacks", "'RecordID'")),
    "outcomes: ragged": (with_outcomes("-1,0\n", "-1\n"), ("more or fewer cells",)),
    "outcomes: unreadable number": (with_outcomes(str(FIRST), SENTINEL), ("1 line without a whole number",)),
    "outcomes: twice": (with_outcomes(str(FIRST), str(SECOND)), ("1 line whose RecordID came before",)),
    "outcomes: unreadable": (with_outcomes("-1,0\n", "-1,2\n"), ("1 line whose In-hospital_death is not",)),
    "outcomes: no stay": (with_outcomes(f"{FIRST}", "770013"), ("1 have no outcome and 1 nothing but",)),
}


@pytest.mark.parametrize("packed", [True, False], ids=["archive", "folder"])
@pytest.mark.parametrize(("change", "words"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_sets_are_refused(tmp_path, raises, change, words, packed):
    tree = Tree()
    change(tree)
    refused(tree.write(tmp_path / "data", packed=packed), raises, *words)


def refused(folder: Path, raises, *words: str) -> None:
    with pytest.raises(FileError) as caught:
        physionet2012_table(folder)
    assert not any(str(number) in str(caught.value) for number in (FIRST, SECOND, 770013))
    with raises(FileError, *words):
        physionet2012_table(folder)


def test_missing_parts_are_named(tmp_path, raises):
    refused(tmp_path / "nowhere", raises, "has no set", "Outcomes-a.txt")
    refused(tmp_path, raises, "has no set", "Outcomes-a.txt")
    (tmp_path / "Outcomes-b.txt").write_text("RecordID,In-hospital_death\n")
    refused(tmp_path, raises, "set-b.tar.gz' is missing", "Outcomes-b.txt")
    (tmp_path / "Outcomes-b.txt").unlink()
    (tmp_path / "Outcomes-b.txt").mkdir()
    (tmp_path / "set-b").mkdir()
    refused(tmp_path, raises, "Outcomes-b.txt' cannot be read")


def test_a_stay_in_two_sets_is_refused(tmp_path, raises):
    Tree().write(tmp_path)
    Tree("b").write(tmp_path, packed=True)
    refused(tmp_path, raises, "share 2 stays")


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:-4],
        lambda content: content[:-8] + b"12345678",
        lambda content: content[:60] + b"\xff" * 40 + content[100:],
        lambda content: b"",
        lambda content: b"not an archive",
    ],
    ids=["half", "without its end", "another checksum", "overwritten", "empty", "text"],
)
def test_damaged_archives_are_refused(tmp_path, raises, damage):
    archive = Tree().write(tmp_path, packed=True) / "set-a.tar.gz"
    archive.write_bytes(damage(archive.read_bytes()))
    refused(tmp_path, raises, "set-a.tar.gz' cannot be read to its end")


@pytest.mark.skipif(not REAL.is_dir(), reason="the data of the challenge are not here")
def test_the_published_sets():
    table = physionet2012_table(REAL)
    assert table.shape == (12_000, 188)
    assert table["stay_id"].is_unique
    assert table["died_in_hospital"].to_numpy().reshape(3, 4000).sum(axis=1).tolist() == [554, 568, 585]
    assert not [name for name in table if any(word in name.lower() for word in ("saps", "sofa", "length", "surviv"))]
    numbers = table.select_dtypes("number")
    assert numbers.min().min() == 0
    assert table.loc[0, ["stay_id", "gender", "icu_type"]].tolist() == [132539, "female", "surgical"]
    assert table["HR_first"].notna().to_numpy().reshape(3, 4000).sum(axis=1).tolist()[:2] == [3937, 3935]
    cohort = Cohort.from_frame(table, target="died_in_hospital", patient_id="stay_id")
    assert cohort.n == 12_000
    assert cohort.notes == ()


def test_hours_hold_the_mean_of_what_was_measured_in_them(tmp_path):
    tree = Tree()
    lines = ["00:00,HR,70", "00:30,HR,80", "01:00,HR,90", "01:01,HR,60", "48:00,HR,50", "05:00,MechVent,1"]
    tree.stays[f"{FIRST}.txt"] = stay(FIRST, *lines)
    records = physionet2012_series(tree.write(tmp_path))
    assert records.series.shape == (2, 48, 37)
    hr = records.series[0, :, MEASUREMENTS.index("HR")]
    np.testing.assert_allclose(hr[[0, 1, 47]], [80, 60, 50])
    assert np.isnan(hr[2:47]).all()
    ventilated = records.series[0, :, MEASUREMENTS.index(VENTILATION)]
    assert ventilated[4] == 1
    assert ventilated.sum() == 1  # 0 where it was not noted
    assert records.frame.columns.tolist() == ["age_years", "gender", "height_cm", "icu_type", "weight_kg"]
    assert records.labels.tolist() == [0, 1]


def test_the_table_as_records(tmp_path):
    records = physionet2012_records(Tree().write(tmp_path))
    assert records.series is None
    assert "stay_id" not in records.frame
    assert "died_in_hospital" not in records.frame
    assert records.target == "died_in_hospital"
