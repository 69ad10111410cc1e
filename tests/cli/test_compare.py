import sys

import pytest

from aliquot.cli import main
from aliquot.methods import METHODS

QUICK = ["--budget", "smoke", "--seeds", "1", "--rows-per-class", "4", "--set", "evaluation.full_epochs=2"]


def command(monkeypatch, *words) -> int:
    monkeypatch.setattr(sys, "argv", ["aliquot", "compare", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code or 0


def test_the_embedded_cohort_is_compared_without_a_file(monkeypatch, tmp_path, capsys):
    out = tmp_path / "c"
    assert command(monkeypatch, "--methods", "kmeans,random", "--out", out, *QUICK) == 0
    said = capsys.readouterr()
    assert "4 rows per class" in said.out
    assert "kmeans" in said.out
    assert "2/3 kmeans, 4 rows per class, seed 0" in said.err
    assert (out / "comparison.csv").exists()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--methods", "btm,mttt"], "mttt"),
        (["--methods", "btm:papers"], "papers"),
        (["--rows-per-class", "10,many"], "10,50"),
        (["table.csv"], "--target"),
        (["--set", "match.steps=3"], "unknown setting 'steps'"),
    ],
)
def test_mistakes_end_with_one_sentence_before_anything_is_written(monkeypatch, tmp_path, capsys, words, hint):
    assert command(monkeypatch, *words, "--out", tmp_path / "c") == 2
    said = capsys.readouterr().err
    assert hint in said
    assert said.count("\n") == 1
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.selects_rows])
def test_a_release_of_real_patients_needs_a_flag(monkeypatch, tmp_path, capsys, name):
    words = ["condense", tmp_path / "table.csv", "--target", "died", "--method", name, "--out", tmp_path / "run"]
    monkeypatch.setattr(sys, "argv", ["aliquot", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "--allow-real-rows" in capsys.readouterr().err
