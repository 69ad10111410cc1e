"""Single patients are planted where a release could tell of them, and hunted through all that is written and said."""

import contextlib
import io
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from aliquot.cli import main
from aliquot.release.card import plain

from .hunt import Planted, leaks, resolution

TINY = [
    *("--budget", "smoke", "--rows-per-class", "3"),
    *(f"--set=evaluation.{name}=2" for name in ("search_epochs", "final_epochs", "final_networks", "full_epochs")),
    "--set=evaluation.search_networks=1",
]
MEANS = ["--method", "kmeans"]  # nothing to compile but the evaluation
DRAWN = ["--method", "dm", "--start", "gaussian", "--set=distribution.iterations=4", "--set=distribution.judge_every=2"]
N = 330
OLDEST, ALONE, ONCE, THRICE = 52384.75, 918273.25, 73195.5, 65512.75  # numbers that no picture has


def command(*words: object) -> tuple[int, str]:
    """The exit code of a command, and everything that it says."""
    said, before = io.StringIO(), sys.argv
    sys.argv = ["aliquot", *map(str, words)]
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main()
    except SystemExit as end:
        return int(end.code or 0), said.getvalue()
    finally:
        sys.argv = before
    return 0, said.getvalue()


def patients() -> pd.DataFrame:
    """330 patients of three classes, some with two rows and one with twenty; what is theirs alone is unmistakable."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "pid": np.arange(N) + 8_412_000,
            "age_days": rng.uniform(7300, 31000, N),
            "lactate": rng.lognormal(0.7, 0.8, N),
            "dose": np.zeros(N),  # of one patient alone
            "troponin": np.nan,  # measured in four
            "crp": rng.gamma(2, 40, N),
            "hiv": np.where(np.arange(N) % 97 == 5, "yes", "no"),
            "ward": rng.choice(["icu", "medical", "surgical"], N),
            "unit": rng.choice(["north", "south"], N),
            "outcome": rng.choice(["died", "home", "moved"], N, p=[0.3, 0.4, 0.3]),
        }
    )
    table.loc[3, "age_days"], table.loc[8, "dose"] = OLDEST, ALONE
    table.loc[[11, 40, 77, 200], "troponin"] = THRICE + np.arange(4)
    table.loc[[1, 2, 3], "crp"] = np.nan
    table.loc[20:24, "unit"] = "Wxq-smallunit"
    table.loc[9, "ward"] = "Wxq-ward"
    return pd.concat([table, table.iloc[:40], *[table.iloc[[9]]] * 19], ignore_index=True)


def measurements() -> tuple[pd.DataFrame, pd.DataFrame]:
    """90 stays, of whom one has a channel of their own and three another, and the table of outcomes."""
    rng = np.random.default_rng(0)
    stays = pd.DataFrame(
        {"id": np.arange(90) + 500, "age_days": rng.uniform(7300, 31000, 90), "died": rng.integers(0, 2, 90)}
    )
    stays.loc[3, "age_days"] = OLDEST
    place, hour, name = (part.ravel() for part in np.meshgrid(np.arange(90), np.arange(4), ["hr", "sbp"]))
    lines = pd.DataFrame({"id": place + 500, "hour": hour, "name": name, "value": rng.normal(80, 10, len(place))})
    few = pd.DataFrame({"id": [505, 511, 512, 513], "hour": 1, "name": ["Wxq-once", *["Wxq-thrice"] * 3]})
    few["value"] = [ONCE, THRICE, THRICE + 1, THRICE + 2]
    return pd.concat([lines[rng.random(len(lines)) < 0.8], few], ignore_index=True), stays


@pytest.fixture(scope="module")
def table_run(tmp_path_factory) -> tuple[Path, Planted, str]:
    """A release of a table with several classes, several rows per patient and subgroups."""
    folder, table = tmp_path_factory.mktemp("table"), patients()
    table.to_csv(folder / "table.csv", index=False)
    columns = ["--target", "outcome", "--patient-id", "pid", "--subgroup", "unit", *DRAWN]
    code, said = command("condense", folder / "table.csv", *columns, *TINY, "--out", folder / "run")
    assert code == 0, said
    known = {name: (table[name].to_numpy(), table["pid"].to_numpy()) for name in table}
    words = ("Wxq", "dose=", "troponin=", "hiv=")
    return folder / "run" / "release", Planted(words, (OLDEST, ALONE, THRICE, *table["pid"][[9]]), known), said


@pytest.fixture(scope="module")
def series_run(tmp_path_factory) -> tuple[Path, Planted, str]:
    """A release of series."""
    folder, (lines, stays) = tmp_path_factory.mktemp("series"), measurements()
    lines.to_csv(folder / "lines.csv", index=False)
    stays.to_csv(folder / "stays.csv", index=False)
    layout = ["--time", "hour", "--variable", "name", "--value", "value", "--hours", "4", "--network", "lstm-1"]
    columns = ["--outcomes", folder / "stays.csv", "--target", "died", "--patient-id", "id", *MEANS]
    code, said = command("condense", folder / "lines.csv", *columns, *layout, *TINY, "--out", folder / "run")
    assert code == 0, said
    values = {name: (part["value"].to_numpy(), part["id"].to_numpy()) for name, part in lines.groupby("name")}
    known = {**values, "age_days": (stays["age_days"].to_numpy(), stays["id"].to_numpy())}
    return folder / "run" / "release", Planted(("Wxq",), (OLDEST, ONCE, THRICE), known), said


@pytest.mark.parametrize("kind", ["table_run", "series_run"])
def test_nothing_of_fewer_than_ten_patients_is_released_or_said(kind, request):
    assert leaks(*request.getfixturevalue(kind)) == []


def test_what_is_left_out_is_said_by_name_or_by_number(table_run, series_run):
    for release, _, said in (table_run, series_run):
        notes = json.loads((release / "metrics.json").read_text("utf-8"))["notes"]
        for note in notes:
            assert f"Note: {' '.join(note.split()[:4])}" in " ".join(said.split())
            assert note.split(": ")[0].replace("'", "&#39;") in (release / "report.html").read_text("utf-8")
            assert plain(note) in (release / "card.md").read_text("utf-8")
    notes = json.loads((table_run[0] / "metrics.json").read_text("utf-8"))["notes"]
    assert [note for note in notes if "'dose', 'troponin', 'hiv'" in note]
    notes = json.loads((series_run[0] / "metrics.json").read_text("utf-8"))["notes"]
    assert "left out 1 channel measured in fewer than 10 patients" in notes  # of the one with one value
    assert sum("channel" in note for note in notes) == 2


def edited(release: Path, name: str, change) -> None:
    document = json.loads((release / name).read_text("utf-8"))
    change(document)
    (release / name).write_text(json.dumps(document), "utf-8")


def column(document: dict, name: str) -> dict:
    return next(entry for entry in document["columns"] if entry["name"] == name)


def spoil_level(release: Path) -> None:
    edited(release, "encoder.json", lambda one: column(one, "ward")["levels"].append("Wxq-ward"))


def spoil_column(release: Path) -> None:
    extra = {"name": "troponin", "missing": True, "levels": []}
    edited(release, "encoder.json", lambda one: one["columns"].append(extra))


def spoil_median(release: Path) -> None:
    value = float(patients()["lactate"].sort_values().iloc[150])
    edited(release, "encoder.json", lambda one: column(one, "lactate").update(median=value))


def spoil_centre(release: Path) -> None:
    value = round(float(patients()["crp"].mean()), 4)
    edited(release, "encoder.json", lambda one: column(one, "crp").update(centre=value))


def spoil_end(release: Path) -> None:
    edited(release, "encoder.json", lambda one: column(one, "age_days").update(row_high=40000.0))


def spoil_gap(release: Path) -> None:
    edited(release, "encoder.json", lambda one: column(one, "crp").update(missing=True))


def spoil_count(release: Path) -> None:
    edited(release, "metrics.json", lambda one: one["subgroups"]["unit"][0].update(patients=7))


def spoil_sum(release: Path) -> None:
    edited(release, "metrics.json", lambda one: one["subgroups"]["unit"][0].update(patients=33))


def spoil_classes(release: Path) -> None:
    edited(release, "metrics.json", lambda one: one["data"].update(tuning=["<10", 23, 31]))


def spoil_score(release: Path) -> None:
    edited(release, "metrics.json", lambda one: one["held_out"]["aliquot"]["auroc"].update(mean=7 / 13))


def spoil_text(release: Path) -> None:
    (release / "card.md").write_text(
        (release / "card.md").read_text("utf-8") + "\nThe oldest has lived for 52,400 days."
    )


def spoil_page(release: Path) -> None:
    page = (release / "report.html").read_text("utf-8")
    (release / "report.html").write_text(page.replace("</svg>", "<text>918,300</text></svg>", 1), "utf-8")


def spoil_rows(release: Path) -> None:
    rows = pq.read_table(release / "rows.parquet").to_pandas().assign(**{"ward=Wxq-ward": 0.0})
    rows.to_parquet(release / "rows.parquet")


SPOILT = {
    spoil_level: "'Wxq'",
    spoil_column: "'troponin' has fewer than ten patients",
    spoil_median: "median of 'lactate' is the value of few patients",
    spoil_centre: "centre × ",
    spoil_end: "row_high of 'age_days' has fewer than ten patients beyond",
    spoil_gap: "gaps of 'crp'",
    spoil_count: "patients counts 7",
    spoil_sum: "33 patients of a group by 'unit'",
    spoil_classes: "23 gives a hidden class away",
    spoil_score: "held_out has 0.538",
    spoil_text: "card.md: 52400.0",
    spoil_page: "report.html: 918300.0",
    spoil_rows: "rows.parquet: 'Wxq'",
}


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_the_hunt_finds_what_is_there(spoil, table_run, tmp_path):
    release, planted, said = table_run
    shutil.copytree(release, tmp_path / "release")
    spoil(tmp_path / "release")
    assert [leak for leak in leaks(tmp_path / "release", planted, said) if SPOILT[spoil] in leak]


def test_the_hunt_listens_too(table_run):
    release, planted, said = table_run
    assert leaks(release, planted, f"{said} Wxq-ward") == ["what was said: 'Wxq'"]
    assert leaks(release, planted, f"{said} 918 thousand or 918,000") == ["what was said: 918000.0"]


def test_the_last_digit_of_a_number_says_how_much_it_tells():
    assert [resolution(value) for value in (0.25, 60.0, 61.0, 0.0)] == [0.05, 20.0, 1.0, 0.0]


@pytest.mark.parametrize("few", [1, 9])
def test_a_class_of_few_patients_is_refused_without_its_name(few, tmp_path):
    table = patients()
    table.loc[table["pid"].isin(table["pid"].unique()[9 : 9 + few]), "outcome"] = "Wxq-class"
    part = np.select([table["pid"] % 5 == 3, table["pid"] % 5 == 4], ["held_out", "tuning"], "train")
    table.assign(part=part).to_csv(tmp_path / "table.csv", index=False)
    columns = ["--target", "outcome", "--patient-id", "pid", "--split", "part", *TINY, *MEANS]
    code, said = command("condense", tmp_path / "table.csv", *columns, "--out", tmp_path / "run")
    assert code == 2
    assert "merge small classes" in said
    assert "Wxq" not in said
    assert not (tmp_path / "run" / "release").exists()
