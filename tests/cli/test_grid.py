"""``aliquot grid status``, and the options that say where cells are run."""

import json

import pandas as pd
import pytest

QUICK = ["--budget", "smoke", "--seeds", "1", "--rows-per-class", "4", "--set", "evaluation.full_epochs=2", "--quiet"]


def test_status_of_a_comparison(tell, tmp_path):
    out = tmp_path / "c"
    assert tell("compare", "--methods", "random", "--out", out, *QUICK)[0] == 0
    code, said, _ = tell("grid", "status", out)
    assert (code, said) == (0, "2 of 2 cells done, 0 running, 0 failed, 0 waiting")
    code, said, _ = tell("grid", "status", out, "--json")
    assert code == 0
    assert json.loads(said) == {"done": 2, "running": [], "failed": [], "waiting": 0, "minutes_left": None}
    code, said, _ = tell("compare", "--methods", "random", "--out", out, *QUICK, "--json")
    assert code == 0
    table = json.loads(said)["table"]
    assert [line["method"] for line in table] == ["full data", "random"]
    assert table[1]["auprc"] == pytest.approx(pd.read_csv(out / "comparison.csv")["auprc"][1])
    assert table[1]["auprc_seeds"] is None  # one seed: JSON knows no NaN


def test_no_grid_is_one_sentence(tell, tmp_path):
    code, _, said = tell("grid", "status", tmp_path)
    assert code == 2
    assert "there is none" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--executor", "slurm"], "known: local, joblib, ray"),
        (["--workers", "2"], "use joblib or ray"),
        (["--executor", "joblib", "--address", "auto"], "only ray"),
        (["--executor", "ray", "--address", "nowhere"], "HOST:PORT"),
    ],
)
def test_mistakes_end_before_anything_is_written(tell, tmp_path, words, hint):
    pytest.importorskip("ray")
    code, _, said = tell("compare", "--methods", "random", "--out", tmp_path / "c", *QUICK, *words)
    assert code == 2
    assert hint in said
    assert said.count("\n") == 1
    assert not (tmp_path / "c").exists()
