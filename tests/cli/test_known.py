"""Known datasets through the real command: each entry is condensed from a small tree, and its options are heard."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aliquot import read_release
from aliquot.cli.sources import ColumnOptions, KnownDataset, LayoutOptions, known_source
from aliquot.cohort import SeriesEncoder
from aliquot.cohort.readers.curial import FEATURES
from aliquot.cohort.readers.mimic3 import CHANNELS, SCALES
from aliquot.cohort.readers.physionet2012 import MEASUREMENTS, SUMMARIES, VENTILATION
from aliquot.evaluate.other_models import MODELS
from aliquot.registry import READERS
from aliquot.run.source import Source

from .known_trees import LABELS, WHOLE, asked, fiddle, meds, physionet2012, yaib

REAL = Path(__file__).parents[3] / "shared" / "data" / "physionet2012"
FOLDERS = [name for name in READERS if READERS[name].files]
NO_PATIENTS = "there is no patient number"


@pytest.fixture(autouse=True)
def _fewer_models(monkeypatch):
    """The others take a second or more of every run, and other tests train them."""
    for name in {*MODELS} - {"k nearest neighbours"}:
        monkeypatch.delitem(MODELS, name)


@dataclass(frozen=True, kw_only=True)
class Case:
    """An entry, a tree of it, and what its release must be."""

    cohort: str
    tree: Callable[[Path], Path] | None = None  # where it is not the usual one
    read: tuple[str, ...] = ()
    names: tuple[str, ...]  # of the channels, or of the columns of a table
    fixed: tuple[str, ...] = ()  # columns beside the channels
    shape: tuple[int, ...]  # of a row
    target: str = "died_in_hospital"
    patients: int = 60
    prevalence: float = 0.33
    notes: tuple[str, ...] = ()  # words of each

    def write(self, folder: Path) -> Path:
        return (self.tree or WHOLE[self.cohort])(folder)

    @property
    def network(self) -> list[str]:
        return ["--network", "lstm-1"] if len(self.shape) == 2 else []


def merged(channel: str) -> list[str]:
    """Names of the columns of a channel of MIMIC-III: a level has the numbered one of its spellings."""
    codes = SCALES.get(channel, {})
    levels = [min(text for text, same in codes.items() if same == code) for code in sorted({*codes.values()})]
    return [f"{channel}->{level}" for level in levels] or [channel]


VITAL, UNITS = tuple(f"Vital Signs|{name}_mask" for name in "abcd"), tuple(f"unittype_value:{i}" for i in range(4))
NO_GAPS = "no cell missing"
LIGHT = "left out 'weight_kg': the same value in every row"
HOURLY = {
    "names": MEASUREMENTS,
    "fixed": ("age_years", "gender", "height_cm", "icu_type"),
    "shape": (48, 37 + 36 + 1 + 3 + 1 + 3),  # ventilation has no gaps; two levels and a rare one where there are levels
    "notes": (LIGHT,),
}
CASES = {  # fiddle, eicu, yaib and meds have rows of the same shapes, so that few programs must be compiled
    "physionet2012": Case(cohort="physionet2012", **HOURLY),
    "physionet2012 unpacked": Case(cohort="physionet2012", tree=partial(physionet2012, packed=False), **HOURLY),
    "physionet2012-table": Case(
        cohort="physionet2012-table",
        names=(
            *("age_years", "gender", "height_cm", "icu_type"),
            *(f"{name}_{summary}" for name in MEASUREMENTS if name != VENTILATION for summary in SUMMARIES),
            "ventilated",
        ),
        shape=(1 + 3 + 1 + 3 + 36 * 5 + 1,),
        notes=(LIGHT,),
    ),
    "mimic3": Case(
        cohort="mimic3",
        names=(*(name for channel in CHANNELS for name in merged(channel)), *(f"mask->{name}" for name in CHANNELS)),
        shape=(48, 60),
        patients=40,
        prevalence=0.26,
        notes=("so 15 % of the training patients (12 stays) are used for tuning",),
    ),
    "fiddle": Case(
        cohort="fiddle",
        read=("task=ARF_4h", "summary=mean"),
        names=(*VITAL, "x", "y", *UNITS),
        shape=(10,),
        target="ARF_LABEL",
        notes=(NO_GAPS, NO_PATIENTS, "left out 'z', 'unittype_value:4': the same value"),
    ),
    "fiddle series": Case(
        cohort="fiddle",
        read=("task=ARF_4h", "summary=series", "features=^[xyz]$|a_mask|value"),
        names=(VITAL[0], "x", "y"),
        fixed=UNITS,
        shape=(4, 7),
        target="ARF_LABEL",
        notes=(NO_GAPS, NO_PATIENTS, "left out 'z': the same value", "left out 'unittype_value:4': the same value"),
    ),
    "eicu": Case(
        cohort="eicu",
        names=UNITS,
        shape=(4,),
        target="mortality_LABEL",
        patients=30,
        notes=(
            NO_GAPS,
            "12 of 12 features",
            "left out 'z', 'unittype_value:4': the same value",
            "'x', 'y': fewer than 10 training patients have a value, or another one than the others",
        ),
    ),
    "curial": Case(
        cohort="curial",
        read=("empty_label=negative",),
        names=FEATURES["lab"],
        shape=(27 + 1,),  # whether the delivery device was noted
        target="Covid-19 Positive",
        patients=180,
        prevalence=0.1,
        notes=(
            *(f"<10 cells of '{site}.csv' with < or > read as the number after it" for site in ("OUH", "PUH", "UHB")),
            "<10 outcomes empty: they count as negative",
            "about 1% of the cells missing",
            "units are those of the files; median of 'Blood_Test HAEMOGLOBIN'",
            NO_PATIENTS,
        ),
    ),
    "yaib": Case(
        cohort="yaib",
        read=("hours=4",),
        names=("hr", "urine"),
        fixed=("age", "sex"),
        shape=(4, 7),
        target="label",
        notes=(
            "left out <10 stays without an outcome",
            "left out 60 rows from hour 4 on",
            "left out 'crp', which no stay has",
            NO_PATIENTS,
        ),
    ),
    "meds": Case(
        cohort="meds",
        read=(LABELS, "hours=4"),
        names=("HR", "LAB//K", "VENT"),
        fixed=("SEX//F", "SEX//M"),
        shape=(4, 7),
        target="died",
        notes=("<10 windows without any event", "left out 'age_years': the same value"),
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_every_entry_has_a_case(name):
    assert name in {case.cohort for case in CASES.values()}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_tree_is_condensed(case, tell, tmp_path):
    folder, run = case.write(tmp_path / "data"), tmp_path / "run"
    code, said, error = tell(*asked(case.cohort, folder, case.read, run), *case.network)
    assert (code, error) == (0, "")
    release = read_release(run)
    encoder, metrics = release.encoder, release.metrics
    assert release.x.shape == (4, *case.shape)
    assert np.isfinite(release.x).all()
    assert release.targets.tolist() == [0, 0, 1, 1]
    assert release.recipe["labels"] == {"target": case.target, "classes": [0, 1], "kind": "hard", "weight": "weight"}
    assert metrics["data"]["patients"] == case.patients
    assert metrics["data"]["prevalence"] == [round(1 - case.prevalence, 2), case.prevalence]
    assert metrics["data"].get("steps") == (case.shape[0] if case.network else None)
    for note, words in zip(metrics["notes"], case.notes, strict=True):
        assert words in note
        assert f"Note: {note}." in said
    readable = pd.read_csv(run / "release" / "rows.csv")
    if isinstance(encoder, SeriesEncoder):
        assert encoder.channel_names == case.names
        assert tuple(code.name for code in encoder.static.columns) == case.fixed
        assert {*case.fixed, case.target} <= {*readable["variable"]} <= {*case.names, *case.fixed, case.target}
    else:
        assert tuple(code.name for code in encoder.columns) == case.names
        assert readable.columns.tolist() == [*case.names, case.target]


OPTIONS = [  # rows, columns of the table, and steps and channels of the series
    ("mimic3", ("columns=codes", "masks=false"), (82, 0, (48, 17))),
    ("mimic3", ("columns=raw",), (82, 0, (48, 76))),
    ("mimic3", ("fill=none",), (82, 0, (48, 17))),
    ("mimic3", ("balance=under", "seed=3"), (48, 0, (48, 60))),
    ("fiddle", ("task=ARF_4h", "features=^Vital|value", "minimum_share=0.6"), (60, 4, None)),
    ("fiddle", ("task=ARF_4h", "summary=any"), (60, 10, None)),
    ("eicu", ("task=mortality_48h",), (60, 10, None)),
    ("curial", ("empty_label=drop", "features=rapid", "arrived_from=2019-11-06"), (156, 17, None)),
    ("curial", ("empty_label=drop", "arrived_from=20191106", "arrived_until=2020-03-30"), (153, 27, None)),
    ("curial", ("empty_label=negative", "features=gas", "negatives_until=2019-12-01"), (90, 41, None)),
    ("curial", ("empty_label=drop", "site_roles=OUH:train,PUH:tuning,UHB:held_out"), (171, 27, None)),
    ("yaib", (), (60, 2, (5, 2))),
    ("yaib", ("hours=2",), (60, 2, (2, 2))),
    ("meds", (LABELS, "hours=12", "step_hours=2", "minimum_share=0.95", "seed=1"), (60, 0, (6, 3))),
]


def source_of(cohort: str, folder: Path, *read: str, drop: list[str] | None = None) -> Source:
    known = KnownDataset(cohort=cohort, path=folder, read=list(read))
    return known_source(known, None, ColumnOptions(drop=drop), LayoutOptions())


@pytest.mark.parametrize(("cohort", "read", "shape"), OPTIONS)
def test_options_reach_the_reader(cohort, read, shape, tmp_path):
    folder = WHOLE[cohort](tmp_path / "data")
    source = source_of(cohort, folder, *(option.format(folder=folder) for option in read))
    found = source.read()
    assert (found.n, found.frame.shape[1], found.series and found.series.values.shape[1:]) == shape


@pytest.mark.parametrize("name", FOLDERS)
def test_every_option_is_tried(name):
    tried = [option.partition("=")[0] for cohort, read, _ in OPTIONS if cohort == name for option in read]
    assert {*READERS[name].options} <= {*tried}


def test_a_column_that_nobody_has_is_left_out(tmp_path):
    folder = yaib(tmp_path / "data")
    static = pd.read_parquet(folder / "sta.parquet").assign(height=np.nan, site="a")
    static.to_parquet(folder / "sta.parquet")
    found = source_of("yaib", folder).read()
    assert found.frame.columns.tolist() == ["age", "sex"]
    assert found.notes[-2:] == (
        "left out 'height': no value in any row",
        "left out 'site': the same value in every row",
    )


def test_columns_and_channels_can_be_dropped(tmp_path):
    folder = yaib(tmp_path / "data")
    static = pd.read_parquet(folder / "sta.parquet")
    static.assign(story=[f"{row} came" for row in range(61)]).to_parquet(folder / "sta.parquet")
    found = source_of("yaib", folder, drop=["age", "story", "urine"]).read()
    assert found.frame.columns.tolist() == ["sex"]
    assert found.series is not None
    assert found.series.channels == ("hr",)
    assert not [note for note in found.notes if "story" in note or "urine" in note]


@pytest.mark.parametrize("name", ["curial", "yaib", "meds", "fiddle"])
def test_notes_give_no_small_count_away(name, tmp_path):
    folder = CASES[name].write(tmp_path / "data")
    read = [option.format(folder=folder) for option in CASES[name].read]
    notes = source_of(name, folder, *read).read().notes
    assert not [note for note in notes if re.search(r"(?<![0-9<.])[1-9] (of|stay|row|window|cell|outcome)", note)]
    assert not [note for note in notes if "with the outcome" in note]  # the rate times the rows would be a count


def test_labels_are_found_from_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(meds(tmp_path / "data"))
    source = source_of("meds", Path(), "labels=died.parquet", "hours=4")
    monkeypatch.chdir(tmp_path)
    source.read()


def test_names_and_paths_may_have_brackets(tell, tmp_path):
    folder = fiddle(tmp_path / "data")
    names = folder / "features" / "ARF_4h" / "X.feature_names.json"
    names.write_text(names.read_text().replace('"z"', '"z [/min] [mg/dL] :key:"'))
    code, said, _ = tell(*asked("fiddle", folder, ("task=ARF_4h",), tmp_path / "run [red]"))
    assert code == 0
    assert "left out 'z [/min] [mg/dL] :key:'" in said
    assert f"release: {tmp_path}/run [red]/release" in said


def test_the_list_says_files_licence_and_options(tell):
    code, said, _ = tell("cohorts")
    assert code == 0
    for name in FOLDERS:
        known = READERS[name]
        entry = f"{name}: {known.title} files: {known.files} from: {known.licence}"
        for option, meant in known.options.items():
            entry += f" --read {option}=…{' (needed)' if option in known.needed else ''}: {meant.text}"
        assert entry in said


@pytest.mark.skipif(not REAL.is_dir(), reason="the data of the challenge are not here")
def test_a_published_set_is_condensed(tell, tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("set-a.tar.gz", "Outcomes-a.txt"):
        (tmp_path / "data" / name).symlink_to(REAL / name)
    code, said, error = tell(*asked("physionet2012-table", tmp_path / "data", (), tmp_path / "run"))
    assert (code, error) == (0, "")
    release = read_release(tmp_path / "run")
    assert len(release.encoder.columns) == 186
    assert release.metrics["data"]["patients"] == 4000
    assert release.metrics["data"]["prevalence"] == [0.8615, 0.1385]
    assert release.metrics["data"]["train"] == [2412, 388]
    assert release.metrics["notes"] == []
    assert "2,800" in said
