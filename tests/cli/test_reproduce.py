"""``aliquot reproduce`` through the real command."""

import json

import pandas as pd
import pytest

from aliquot.paper import ALL_STUDIES, STUDIES


def test_the_command_lists_the_studies_that_there_are(tell):
    code, said, _ = tell("reproduce", "--help")
    assert code == 0
    assert all(name in said for name in (*STUDIES, ALL_STUDIES))


def test_a_small_study_is_run_written_and_not_run_again(tell, tmp_path):
    out = tmp_path / "out"
    words = ("reproduce", "storage", "--budget", "smoke", "--cohorts", "simulated", "--only", "puh", "--out", out)
    code, said, shown = tell(*words)
    assert code == 0, shown
    assert "btm" in shown
    table = pd.read_csv(out / "storage" / "table.csv").iloc[0]
    assert (table["experts"], table["epochs"]) == (4, 8)
    assert table["ratio"] == pytest.approx(9 / 3, rel=0.05)  # 9 checkpoints against 3 points, as files
    text = (out / "storage" / "table.md").read_text("utf-8")
    assert "simulated" in text
    assert "33.0 ×" in text  # the paper's
    assert "Files of experts" in said
    assert (out / "private").stat().st_mode & 0o077 == 0
    finished = {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}
    assert len(finished) == 1
    code, again, _ = tell(*words)
    assert (code, again) == (0, said)
    code, again, _ = tell(*words, "--json")
    assert code == 0
    assert json.loads(again)["tables"]["storage"][0]["ratio"] == pytest.approx(table["ratio"])
    assert {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()} == finished


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["table-curiel"], "did you mean 'table-curial'? known: table-curial, table-icu"),
        (["storage", "--cohorts", "nowhere"], "is no folder"),
        (["storage", "--only", "eicuu"], "known here: cohort ouh, puh, uhb, eicu, mimic3"),
        (["table-icu", "--only", "50,mimic3,kmeans"], "--only kmeans"),
        (["storage", "--budget", "cpuu"], "did you mean 'cpu'"),
        (["storage", "--executor", "jobs"], "local, joblib, ray"),
    ],
)
def test_mistakes_end_with_one_sentence_before_anything_is_written(tell, tmp_path, words, hint):
    code, said, shown = tell("reproduce", *words, "--out", tmp_path / "out")
    assert (code, said) == (2, "")
    assert hint in shown
    assert shown.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_files_is_left_alone(tell, tmp_path):
    (tmp_path / "thesis.tex").touch()
    code, _, shown = tell("reproduce", "storage", "--budget", "smoke", "--only", "puh", "--out", tmp_path)
    assert code == 2
    assert "holds other files" in shown
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
