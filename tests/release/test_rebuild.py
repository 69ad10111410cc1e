"""The report of a release, written again from the release alone."""

import json

import numpy as np
import pandas as pd
import pytest

import aliquot
from aliquot.cohort import Cohort
from aliquot.errors import TamperedError
from aliquot.release.bundle import condensation_of, read_release, rebuild_report
from aliquot.release.report import report

QUICK = {
    "network": {"hidden": [8]},
    "expert": {"count": 2, "epochs": 3, "pilots": 1},
    "curve": {"steps": 20},
    "match": {"iterations": 10, "judge_every": 5, "student_steps": 3},
    "evaluation": {"final_networks": 2, "full_epochs": 4, "final_epochs": 20, "search_epochs": 5},
}


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    severity = rng.normal(size=1200)
    frame = pd.DataFrame(
        {
            "lactate": np.where(rng.random(1200) < 0.2, np.nan, np.exp(severity / 2).round(2)),
            "age": (60 + 10 * rng.normal(size=1200)).round().astype(int),
            "ward": rng.choice(["icu", "hdu"], 1200),
            "site": rng.choice(["north", "south"], 1200),
            "died": (severity + rng.normal(size=1200) > 0.8).astype(int),
        }
    )
    asked = {"rows_per_class": 4, "budget": "smoke", "settings": QUICK}
    return aliquot.condense(frame, "died", drop=["site"], subgroups=["site"], **asked)


@pytest.fixture
def folder(result, tmp_path):
    return result.save(tmp_path / "release")


def test_a_run_measures_everything_that_the_report_shows(result):
    metrics = result.metrics
    assert list(metrics["subgroups"]) == ["site", "age"]
    assert [group["name"] for group in metrics["subgroups"]["site"]] == ["north", "south"]
    assert {entry["name"] for entry in metrics["features"]} == {"lactate", "age", "ward"}
    assert metrics["outside_range"]["of"] > 0
    assert set(metrics["ranking"]) == {"random", "aliquot", "full_best_epoch"}
    assert len(metrics["learning"]["judged_at"]) == 3
    assert np.shape(metrics["paths"]["plane"]["curve"])[1:] == (21, 2)
    assert metrics["copying"]["equal"] == 0
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics


def test_the_report_from_the_release_is_the_same(result, folder):
    assert report(condensation_of(read_release(folder))) == report(result)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert rebuild_report(folder) == folder / "report.html"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_report_that_is_missing_or_changed_is_written_again(folder, damage):
    whole = (folder / "report.html").read_bytes()
    if damage == "missing":
        (folder / "report.html").unlink()
    else:
        (folder / "report.html").write_bytes(b"<html>")
    rebuild_report(folder)
    assert (folder / "report.html").read_bytes() == whole
    read_release(folder)


def test_any_other_changed_file_is_refused(folder):
    path = folder / "metrics.json"
    path.write_text(path.read_text("utf-8").replace("0.", "1."), "utf-8")
    with pytest.raises(TamperedError, match=r"metrics\.json"):
        rebuild_report(folder)


@pytest.mark.slow
def test_series_are_measured_too():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    values = rng.normal(size=(300, 4, 2)) + labels[:, None, None]
    values[rng.random(values.shape) < 0.2] = np.nan
    cohort = Cohort.from_arrays(values, labels, ["hr", "ph"], static=pd.DataFrame({"age": rng.integers(20, 90, 300)}))
    settings = {**QUICK, "network": {"kind": "lstm-1"}}
    metrics = aliquot.condense(cohort, rows_per_class=2, budget="smoke", settings=settings).metrics
    assert {entry["name"] for entry in metrics["features"]} == {"hr", "ph", "age"}
    assert list(metrics["subgroups"]) == ["age"]
    assert metrics["outside_range"]["of"] <= 4 * (2 * 4 + 1)
