import gzip
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Cohort
from aliquot.cohort.datasets import read_dataset
from aliquot.cohort.readers.curial import ARRIVAL, DEVICE, FEATURES, OUTCOME, PRESENTATION, read_curial, read_wide
from aliquot.errors import FileError, SettingsError

N = 60
SENTINEL = "Zq7_secret"
CRP, HAEMOGLOBIN, SATURATION = "Blood_Test CRP", "Blood_Test HAEMOGLOBIN", "Vital_Sign Oxygen Saturation"
EMPTY, POSITIVE = (7, 8, 9), range(6)
OTHERS = ("Age", "Gender", "Ethnicity", "Flu Positive", "Discharged", "ICU", "death", "Blood_Test TROPONIN")


def presentations(features: str = "gas") -> pd.DataFrame:
    """Sixty rows of text: six positive, three not tested, arrivals a day apart, some empty cells, two signs."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: np.round(rng.gamma(4, 10, N), 1).astype(str) for name in sorted(FEATURES[features])})
    table[DEVICE] = np.resize(["0", "1.0", "2", "3", ""], N)
    table.loc[3:5, HAEMOGLOBIN] = ""
    table.loc[0, CRP], table.loc[1, SATURATION] = "<5", ">90"
    table[OUTCOME] = np.where(np.isin(np.arange(N), EMPTY), "", np.where(np.isin(np.arange(N), POSITIVE), "1.0", "0.0"))
    table[ARRIVAL] = [f"2019-11-{day:02} 08:30:00" for day in range(1, 31)] + [
        f"2020-03-{day:02} 23:59:59" for day in range(1, 31)
    ]
    table[PRESENTATION] = [f"P{i}{SENTINEL}" for i in range(N)]
    return table.assign(**dict.fromkeys(OTHERS, "1"))


def written(path: Path, table: pd.DataFrame | None = None, *, index: bool = True) -> Path:
    (presentations() if table is None else table).to_csv(path, index=index)
    return path


@pytest.mark.parametrize(("features", "count"), [("lab", 27), ("rapid", 17), ("gas", 41)])
@pytest.mark.parametrize("index", [True, False], ids=["index", "no index"])
def test_features_in_their_order(tmp_path, features, count, index):
    records = read_curial(written(tmp_path / "OUH.csv", index=index), features=features, empty_label="negative")
    assert records.frame.shape == (N, count)
    assert records.frame.columns.tolist() == list(FEATURES[features])
    assert not set(records.frame) & {*OTHERS, OUTCOME, ARRIVAL, PRESENTATION}
    assert {str(kind) for name, kind in records.frame.dtypes.items() if name != DEVICE} == {"float64"}
    assert records.target == OUTCOME
    assert records.ids[0] == f"P0{SENTINEL}"
    assert records.roles is None


def test_names_of_the_features():
    assert FEATURES["lab"][:3] == ("Blood_Test ALBUMIN", "Blood_Test ALK.PHOSPHATASE", "Blood_Test ALT")
    assert FEATURES["lab"][19:21] == ("Blood_Test eGFR", "Vital_Sign Respiratory Rate")
    assert FEATURES["lab"][-1] == "Vital_Sign Diastolic Blood Pressure"
    assert FEATURES["rapid"][0] == "Blood_Test BASOPHILS"
    assert FEATURES["rapid"][-7:] == FEATURES["lab"][-7:]
    assert FEATURES["gas"][27:30] == ("Blood_Test APTT", "Blood_Test Prothromb. Time", "Blood_Gas BE Std (BG)")
    assert FEATURES["gas"][-1] == "Blood_Gas pO2 (BG)"
    assert all(len(set(names)) == len(names) for names in FEATURES.values())


def test_cells_become_numbers_and_levels(tmp_path):
    source = presentations()
    source.loc[2, CRP], source.loc[3, CRP], source.loc[4, CRP] = " 7 ", "NaN", "<= 8"
    records = read_curial(written(tmp_path / "OUH.csv", source), empty_label="negative")
    assert records.frame.loc[[0, 1, 2, 4], CRP].tolist() == [5, *source.loc[[1], CRP].astype(float), 7, 8]
    assert records.frame.loc[1, SATURATION] == 90
    assert records.frame[CRP].isna().to_numpy().nonzero()[0].tolist() == [3]
    assert records.frame[HAEMOGLOBIN].isna().sum() == 3
    assert records.frame[DEVICE].dtype == "Int8"
    assert records.frame[DEVICE].head(4).tolist() == [0, 1, 2, 3]
    assert records.frame[DEVICE].isna().sum() == N / 5
    assert records.notes[0] == "<10 cells of 'OUH.csv' with < or > read as the number after it"


@pytest.mark.parametrize(
    ("empty_label", "rows", "words"),
    [("negative", N, "they count as negative"), ("drop", N - 3, "these rows are left out")],
)
def test_empty_outcomes_are_what_the_user_says(tmp_path, empty_label, rows, words):
    records = read_curial(written(tmp_path / "OUH.csv"), empty_label=empty_label)
    assert len(records.labels) == len(records.ids) == len(records.frame) == rows
    assert records.labels.dtype == np.int8
    assert records.labels.sum() == 6
    assert np.flatnonzero(records.labels).tolist() == list(POSITIVE)
    assert f"<10 outcomes empty: {words}" in records.notes
    assert any("patient number" in note for note in records.notes)
    assert f"P7{SENTINEL}" in records.ids or empty_label == "drop"


def test_the_meaning_of_an_empty_outcome_has_no_default(tmp_path, raises):
    with pytest.raises(TypeError):
        read_curial(written(tmp_path / "OUH.csv"))  # type: ignore[call-arg]
    with raises(SettingsError, "empty_label", "'negative', 'drop'"):
        read_curial(tmp_path / "OUH.csv", empty_label="positive")  # type: ignore[arg-type]


def test_notes_on_gaps_and_units(tmp_path):
    notes = read_curial(written(tmp_path / "OUH.csv"), empty_label="drop").notes
    median = read_curial(tmp_path / "OUH.csv", empty_label="drop").frame[HAEMOGLOBIN].median()
    assert "about 1% of the cells missing" in notes
    assert f"median of 'Blood_Test HAEMOGLOBIN': {median:.4g} (OUH)" in notes[-2]


def test_a_median_of_few_is_not_shown(tmp_path):
    few, many = written(tmp_path / "few.csv", presentations()[:9]), written(tmp_path / "many.csv", presentations()[:13])
    assert read_curial(few, empty_label="drop").notes[-2].endswith("measured too rarely")  # it may be one patient's
    assert read_curial(many, empty_label="negative").notes[-2].endswith("(many)")


def test_many_empty_outcomes_are_counted_and_none_are_not_mentioned(tmp_path):
    source = presentations()
    path = written(tmp_path / "OUH.csv", source.assign(**{OUTCOME: ["1", *[""] * 12, *["0"] * (N - 13)]}))
    assert "12 outcomes empty: these rows are left out" in read_curial(path, empty_label="drop").notes
    written(path, source.assign(**{OUTCOME: ["1", *["0"] * (N - 1)]}))
    assert not [note for note in read_curial(path, empty_label="drop").notes if "outcome" in note]


def test_sites_by_name_or_by_folder(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "._OUH.csv").write_bytes(b"\x00\x01")
    paths = {site: written(tmp_path / f"{site}.csv") for site in ("UHB", "OUH")}
    by_folder = read_curial(tmp_path, empty_label="drop")
    by_name = read_curial(paths, empty_label="drop")
    assert by_folder.ids[0] == f"OUH:P0{SENTINEL}"
    assert by_name.ids[0] == f"UHB:P0{SENTINEL}"
    assert len(by_folder.labels) == len(set(by_folder.ids)) == 2 * (N - 3)
    assert "<10 outcomes empty: these rows are left out" in by_folder.notes
    pd.testing.assert_frame_equal(by_folder.frame, by_name.frame)


def test_units_that_differ_between_sites_are_noted(tmp_path):
    other = presentations()
    other[HAEMOGLOBIN] = [cell and str(float(cell) / 10) for cell in other[HAEMOGLOBIN]]
    files = {"OUH": written(tmp_path / "a.csv"), "UHB": written(tmp_path / "b.csv", other)}
    notes = read_curial(files, empty_label="drop").notes
    assert "(OUH)" in notes[-3]
    assert "(UHB)" in notes[-3]
    assert notes[-2] == f"medians differ more than threefold between sites, check the units of: {HAEMOGLOBIN!r}"


def test_sites_as_split(tmp_path, raises):
    for site in ("BH", "OUH", "PUH"):
        written(tmp_path / f"{site}.csv")
    roles = {"OUH": "train", "PUH": "tuning", "BH": "held_out"}
    records = read_curial(tmp_path, empty_label="negative", site_roles=roles)
    assert records.roles is not None
    assert records.roles.tolist() == ["held_out"] * N + ["train"] * N + ["tuning"] * N
    spelt = {"empty_label": "negative", "site_roles": "OUH:train, PUH:tuning,BH:held_out"}
    assert read_dataset("curial", tmp_path, spelt).roles.tolist() == records.roles.tolist()
    two = read_curial(tmp_path, empty_label="negative", site_roles=roles | {"PUH": "train"}).roles.tolist()
    assert two[:N] == ["held_out"] * N
    assert 0 < two.count("tuning") < two.count("train")
    for text in ("OUH", "OUH:", "OUH:train,,PUH:tuning"):
        with raises(SettingsError, "site_roles takes pairs such as OUH:train"):
            read_dataset("curial", tmp_path, {"empty_label": "negative", "site_roles": text})
    for wrong in ({"OUH": "train"}, roles | {"UHB": "train"}, roles | {"BH": "test"}):
        with raises(SettingsError, "'BH', 'OUH', 'PUH'", "'held_out'"):
            read_curial(tmp_path, empty_label="negative", site_roles=wrong)


def test_arrival_from_a_day_until_before_another(tmp_path):
    path = written(tmp_path / "OUH.csv")
    kept = read_curial(path, empty_label="negative", arrived_from="2019-11-06", arrived_until=date(2020, 3, 30))
    assert kept.ids.tolist() == [f"P{i}{SENTINEL}" for i in range(5, 59)]
    assert "left out <10 rows that arrived before 2019-11-06" in kept.notes
    assert "left out <10 rows that arrived from 2020-03-30 on" in kept.notes
    assert "<10 outcomes empty: they count as negative" in kept.notes


def test_positives_of_the_pandemic_meet_negatives_from_before(tmp_path):
    source = presentations()
    source.loc[40:44, OUTCOME], source.loc[45, OUTCOME] = "1", ""
    path = written(tmp_path / "OUH.csv", source)
    records = read_curial(path, empty_label="negative", arrived_until="2020-05-01", negatives_until="2019-12-01")
    assert records.ids.tolist() == [f"P{i}{SENTINEL}" for i in [*range(30), *range(40, 45)]]
    assert records.labels.sum() == 11
    assert "left out 25 rows without the outcome that arrived from 2019-12-01 on" in records.notes


def test_presentations_without_a_date_are_left_out_only_if_dates_are_asked_for(tmp_path):
    source = presentations()
    source.loc[10:12, ARRIVAL] = ""
    path = written(tmp_path / "OUH.csv", source)
    assert len(read_curial(path, empty_label="negative").labels) == N
    records = read_curial(path, empty_label="negative", arrived_from="2019-01-01")
    assert len(records.labels) == N - 3
    assert "left out <10 rows without a date of arrival" in records.notes
    written(tmp_path / "OUH.csv", source.drop(columns=ARRIVAL))
    assert len(read_curial(path, empty_label="negative").labels) == N


def test_compressed_files_and_files_with_a_mark_are_read(tmp_path):
    text = presentations().to_csv(index=False)
    (tmp_path / "OUH.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "UHB.csv").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    expected = read_curial(written(tmp_path / "OUH.csv"), empty_label="drop").frame
    for name in ("OUH.csv.gz", "UHB.csv"):
        pd.testing.assert_frame_equal(read_curial(tmp_path / name, empty_label="drop").frame, expected)


def test_records_become_a_cohort(tmp_path):
    records = read_curial(written(tmp_path / "OUH.csv"), empty_label="negative")
    cohort = Cohort.from_frame(records.frame.assign(covid=records.labels), target="covid")
    assert cohort.n == N
    assert len(cohort.frame.columns) == 27


def with_cell(column: str, value: str, row: int = 20):
    def change(table: pd.DataFrame) -> pd.DataFrame:
        table.loc[row, column] = value
        return table

    return change


def without(*names: str):
    return lambda table: table.drop(columns=[*names])


MALFORMED = {
    "no feature": (without(CRP), ("lacks the column 'Blood_Test CRP'",)),
    "no features": (without(CRP, DEVICE), (f"lacks the columns {CRP!r}, {DEVICE!r}",)),
    "no outcome": (without(OUTCOME), (f"lacks the column {OUTCOME!r}",)),
    "no presentation": (without(PRESENTATION), ("lacks the column 'ClusterID'",)),
    "no arrival": (without(ARRIVAL), ("lacks the column 'ArrivalDateTime'",)),
    "feature twice": (lambda table: table.rename(columns={"Age": CRP}), (f"more than once the column {CRP!r}",)),
    "text": (with_cell(CRP, SENTINEL), (f"1 row without a number in {CRP!r}",)),
    "sign only": (with_cell(CRP, "<"), (f"1 row without a number in {CRP!r}",)),
    "infinite": (with_cell(CRP, "inf"), (f"1 row without a number in {CRP!r}",)),
    "decimal comma": (with_cell(CRP, "7,1"), (f"1 row without a number in {CRP!r}",)),
    "device unknown": (with_cell(DEVICE, "4"), (f"1 row whose {DEVICE!r} is no level",)),
    "device between": (with_cell(DEVICE, "1.5"), (f"1 row whose {DEVICE!r} is no level",)),
    "another label": (with_cell(OUTCOME, "2"), (f"1 row whose {OUTCOME!r} is not 0 or 1",)),
    "text as label": (with_cell(OUTCOME, SENTINEL), (f"1 row whose {OUTCOME!r} is not 0 or 1",)),
    "label with a sign": (with_cell(OUTCOME, "<1"), (f"1 row whose {OUTCOME!r} is not 0 or 1",)),
    "no id": (with_cell(PRESENTATION, ""), ("1 row without 'ClusterID'",)),
    "id twice": (with_cell(PRESENTATION, f"P0{SENTINEL}"), ("1 row whose 'ClusterID' came before",)),
    "day first": (with_cell(ARRIVAL, "31/03/2020"), ("1 row whose 'ArrivalDateTime' is no date",)),
    "no date": (with_cell(ARRIVAL, SENTINEL), ("1 row whose 'ArrivalDateTime' is no date",)),
    "one class": (lambda table: table.assign(**{OUTCOME: "0"}), ("0 rows with the outcome and 60 without",)),
    "only positives": (lambda table: table.assign(**{OUTCOME: "1"}), ("60 rows with the outcome and 0 without",)),
    "no rows": (lambda table: table.head(0), ("0 rows with the outcome and 0 without",)),
    "several": (
        lambda table: with_cell(CRP, "x")(with_cell(OUTCOME, "x")(table)),
        (f"1 row without a number in {CRP!r}", f"1 row whose {OUTCOME!r}"),
    ),
}


@pytest.mark.parametrize(("change", "words"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_tables_are_refused(tmp_path, raises, change, words):
    path = written(tmp_path / "OUH.csv", change(presentations()))
    with raises(FileError, *words):
        read_curial(path, empty_label="negative", arrived_from="2019-01-01")


TEXT = {
    "empty": (b"", ("lacks the columns",)),
    "semicolons": (presentations().to_csv(sep=";").encode(), ("lacks the columns",)),
    "ragged": (presentations().to_csv().encode() + b"1,2\n", ("more or fewer cells",)),
    "Latin-1": (presentations().replace({OUTCOME: {"0.0": "\xb0"}}).to_csv().encode("latin-1"), ("no UTF-8 text",)),
    "not text": (b"\x00\xff" * 100, ("lacks the columns",)),
}


@pytest.mark.parametrize(("content", "words"), TEXT.values(), ids=TEXT.keys())
def test_files_that_are_no_table_are_refused(tmp_path, raises, content, words):
    path = tmp_path / "OUH.csv"
    path.write_bytes(content)
    with raises(FileError, "OUH.csv", *words):
        read_curial(path, empty_label="drop")


def test_missing_files_are_named(tmp_path, raises):
    with raises(FileError, "OUH.csv' does not exist"):
        read_curial(tmp_path / "OUH.csv", empty_label="drop")
    with raises(FileError, "no .csv file"):
        read_curial(tmp_path, empty_label="drop")
    with raises(FileError, "no .csv file"):
        read_curial({}, empty_label="drop")
    with raises(FileError, "cannot be read"):
        read_curial({"OUH": tmp_path}, empty_label="drop")
    (tmp_path / "OUH.csv.gz").write_bytes(gzip.compress(presentations().to_csv().encode())[:-40])
    with raises(FileError, "OUH.csv.gz' cannot be read to its end"):
        read_curial(tmp_path / "OUH.csv.gz", empty_label="drop")


def test_wrong_arguments_are_refused(tmp_path, raises):
    path = written(tmp_path / "OUH.csv")
    with raises(SettingsError, "features cannot be 'all'", "'lab', 'rapid', 'gas'"):
        read_curial(path, empty_label="drop", features="all")  # type: ignore[arg-type]
    with raises(SettingsError, "2020-03-31"):
        read_curial(path, empty_label="drop", arrived_from="31/03/2020")


def test_any_wide_table(tmp_path):
    path = tmp_path / "ward.csv"
    path.write_text(",mrn,crp,died,note\n0,a,<5,0,x\n1,b,,1.0,y\n2,c,>90,,z\n")
    records = read_wide(path, "died", ["crp"], ids="mrn", empty_label="drop")
    np.testing.assert_array_equal(records.frame, [[5], [np.nan]])
    assert records.frame.columns.tolist() == ["crp"]
    assert (records.labels.tolist(), records.ids.tolist(), records.target) == ([0, 1], ["a", "b"], "died")
    negative = read_wide(path, "died", ["crp"], empty_label="negative")
    assert (negative.labels.tolist(), negative.ids.tolist()) == ([0, 1, 0], ["1", "2", "3"])


def test_the_same_reading_for_curial_as_a_wide_table(tmp_path):
    path = written(tmp_path / "OUH.csv")
    wide = read_wide(path, OUTCOME, FEATURES["lab"], ids=PRESENTATION, empty_label="drop")
    records = read_curial(path, empty_label="drop")
    pd.testing.assert_frame_equal(wide.frame, records.frame)
    assert wide.ids.tolist() == records.ids.tolist()


def test_wrong_wide_tables_are_refused(tmp_path, raises):
    path = tmp_path / "ward.csv"
    path.write_text(f"mrn,crp,died,note\na,4,0,{SENTINEL}\nb,5,1,\na,6,,\n")
    with raises(FileError, "1 of 3 outcomes empty", "empty_label"):
        read_wide(path, "died", ["crp"])
    with raises(FileError, "1 row without a number in 'note'"):
        read_wide(path, "died", ["note"], empty_label="drop")
    with raises(FileError, "1 row whose 'mrn' came before"):
        read_wide(path, "died", ["crp"], ids="mrn", empty_label="drop")
    with raises(FileError, "lacks the columns 'age', 'death'"):
        read_wide(path, "death", ["age"])
    for outcome, features in (("died", []), ("died", ["crp", "died"]), ("died", ["crp", "crp"])):
        with raises(SettingsError, "different columns"):
            read_wide(path, outcome, features)
