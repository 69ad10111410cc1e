"""Studies from made-up results to files: numbers in their places, the paper's beside, failures and statistics said."""

import re
from html import escape
from xml.etree import ElementTree

import pandas as pd
import pytest

from aliquot.context import NoProgress
from aliquot.errors import FileError
from aliquot.paper import ALL_STUDIES, STUDIES
from aliquot.paper.figures import PICTURE_WORDS
from aliquot.paper.reproduce import Reproduction, reproduce_into
from aliquot.paper.study import METHOD_ORDER, OURS

PICTURES = {
    "table-curial": {"auprc-by-size", "average-ranks"},
    "table-icu": {"auprc-by-size", "average-ranks"},
    "initialisation": {"auprc-by-size", "average-ranks"},
    "inner-loop": {"inner-loop"},
    "figure-1": {"figure-1"},
    "theorem": {"theorem"},
}


def run(folder, name, **asked):
    return reproduce_into(folder, Reproduction(name=name, **asked), None, NoProgress())


def test_every_study_is_written_from_one_grid(fake_grid, drawn, tmp_path):
    texts = run(tmp_path, ALL_STUDIES, budget="smoke")
    assert list(texts) == list(STUDIES)
    same = [(entry.source, entry.cell.kind, entry.cell.networks, entry.cell.request) for entry in fake_grid.entries]
    assert len(same) == len(set(same)), "a cell that studies share is run once"
    for name, text in texts.items():
        folder = tmp_path / name
        assert (folder / "table.md").read_text("utf-8") == text
        assert len(pd.read_csv(folder / "table.csv"))
        assert r"\toprule" in (folder / "table.tex").read_text("utf-8")
        pictures = {path.stem for path in folder.glob("*.png")}
        assert pictures == {path.stem for path in folder.glob("*.svg")} == PICTURES.get(name, set())
        for picture in pictures:
            what, seen = PICTURE_WORDS[picture]
            assert f"![{what} – {seen}]({picture}.png)" in text
            assert f'<desc id="{picture}-description">{escape(seen)}' in (folder / "table.html").read_text("utf-8")
            assert (folder / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
            ElementTree.parse(folder / f"{picture}.svg")
        assert "simulated in the shape of the paper's cohorts" in text
        assert "Budget smoke, which does less than the paper" in text
        assert f"`aliquot reproduce {ALL_STUDIES} --cohorts simulated --budget smoke --seeds 1`" in text
        assert "jax " in text
        assert "failed" not in text.lower()


def test_the_papers_numbers_stand_beside_ours(fake_grid, tmp_path):
    text = run(tmp_path, "table-curial", budget="cpu", only=("ouh", "100"))["table-curial"]
    assert "matching iterations 2,000 instead of 40,000" in text
    assert "experts 10 instead of 50" in text
    assert "evaluations on tuning 40 instead of 4,000" in text
    assert "Of the simulated patients" not in text  # all of them
    assert re.search(r"\| TESLA \| 0\.\d+ ± 0\.010 \| 0\.875 ± 0\.002 \| 0\.\d+ ± 0\.010 \| 0\.205 ± 0\.009 \|", text)
    full = r"\| full data, fixed epochs \| 0\.850 ± 0\.010 \| 0\.901 ± 0\.\d+ \| 0\.350 ± 0\.010 \| 0\.445 ± 0\.\d+ \|"
    assert re.search(full, text)
    assert re.search(r"\| full data, best epoch \| 0\.\d+ ± 0\.010 \| – \|", text)
    table = pd.read_csv(tmp_path / "table-curial" / "table.csv").set_index("method")
    assert table.loc["tesla", "paper_auroc"] == 0.875
    assert pd.isna(table.loc["ours", "paper_auroc"])


def test_the_papers_budget_is_said_to_be_literal(fake_grid, tmp_path):
    text = run(tmp_path, "storage", budget="paper", only=("mimic3",))["storage"]
    assert "Budget paper: the paper's counts." in text
    assert "| MIMIC-III, simulated | 5 | 100 | 3.0 MB | 0.1 MB | 33.7 × | 33.7 × | 20.0 × |" in text


def test_what_failed_is_said_under_the_table(fake_grid, tmp_path):
    fake_grid.failing = ("mtt",)
    text = run(tmp_path, "table-curial", budget="smoke", only=("puh", "5"))["table-curial"]
    assert "| MTT | failed | – | failed | – | – |" in text
    assert text.count("Failed – puh, mtt, 5 rows per class, seed 0: asked for 50 % more_rows than there are") == 1
    assert "50 \\% more\\_rows" in (tmp_path / "table-curial" / "table.tex").read_text("utf-8")
    assert "Average ranks of 8 methods over 1 block;" in text


def test_a_study_of_which_everything_failed_is_written_too(fake_grid, tmp_path):
    fake_grid.failing = ("btm", "random")
    for name in ("cross-architecture", "initialisation"):
        text = run(tmp_path, name, budget="smoke")[name]
        assert "| failed |" in text
        assert "Paired comparison" not in text


def test_too_few_pairs_say_nothing(fake_grid, tmp_path):
    few = run(tmp_path / "a", "table-curial", budget="smoke", only=("ouh", "5"))["table-curial"]
    assert "Too few pairs to say anything: with 1 pair and 8 comparisons" in few


def test_statistics_are_those_of_the_scores(fake_grid, tmp_path):
    text = run(tmp_path, "table-curial", budget="cpu", seeds=3)["table-curial"]
    assert "Too few pairs" not in text
    assert "Average ranks of 9 methods over 36 blocks; 1 is best. Friedman's test" in text
    assert "they are not independent" in text
    block = text[text.index("### Paired comparison") :].splitlines()
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block if line.startswith("|")][2:]
    ranks = {line[0]: float(line[6]) for line in lines}
    assert len(ranks) == len(METHOD_ORDER) + len(OURS)
    assert list(ranks.values()) == sorted(ranks.values())
    assert sum(ranks.values()) == pytest.approx(9 * 10 / 2, abs=0.05)
    for line in lines:
        if line[0] == "BTM":
            assert line[7:] == [""] * 4
        else:
            assert line[8] == "36"
            assert float(line[10].strip("<")) >= float(line[9].strip("<"))


def test_seeds_give_a_second_spread(fake_grid, tmp_path):
    text = run(tmp_path, "initialisation", budget="smoke", seeds=2)["initialisation"]
    assert re.search(r"\| real start \| 0\.\d{3} ± 0\.010 ± 0\.\d{3} \|", text)
    assert "2 condensation seeds." in text
    assert "rows per class 5, 10 instead of 50, 100, 200, 500." in text
    assert "Of the simulated patients: eICU 3%." in text


def test_every_start_has_the_papers_number(fake_grid, tmp_path):
    text = run(tmp_path, "initialisation", budget="cpu", only=("50",))["initialisation"]
    assert re.search(r"\| real start \| [^|]+\| 0\.866 ± 0\.001 \| [^|]+\| 0\.474 ± 0\.005 \|", text)
    assert re.search(r"\| Gaussian start \| [^|]+\| 0\.852 ± 0\.009 \| [^|]+\| 0\.463 ± 0\.015 \|", text)


def test_what_to_know_of_the_papers_numbers_is_said(fake_grid, tmp_path):
    text = run(tmp_path, "table-icu", budget="smoke", only=("btm",))["table-icu"]
    assert "with 50 rows .866 and .474 in its table of starts" in text


def test_theorem_has_a_line_for_every_expert(fake_grid, tmp_path):
    run(tmp_path, "theorem", budget="smoke", only=("uhb",))
    table = pd.read_csv(tmp_path / "theorem" / "table.csv")
    assert table.groupby("method")["expert"].apply(list).to_dict() == {"btm": [0, 1, 2], "our-btm": [0, 1, 2]}
    assert table[["curvature", "distance", "prediction_gap", "loss_bezier"]].notna().all(axis=None)


def test_the_same_results_give_the_same_pictures(fake_grid, drawn, tmp_path):
    for folder in ("a", "b"):
        run(tmp_path / folder, "table-curial", budget="smoke", only=("ouh", "btm", "mtt"))
    for kind in ("svg", "png"):
        one, other = (tmp_path / name / "table-curial" / f"average-ranks.{kind}" for name in ("a", "b"))
        assert one.read_bytes() == other.read_bytes()


def test_real_files_are_not_called_simulated(fake_grid, tmp_path):
    (tmp_path / "files" / "curial" / "OUH").mkdir(parents=True)
    asked = {"budget": "smoke", "cohorts": str(tmp_path / "files")}
    text = run(tmp_path / "out", "storage", only=("ouh",), **asked)["storage"]
    assert "Patients: OUH, real files." in text
    assert "simulated" not in text
    with pytest.raises(FileError, match="no curial/PUH in it"):
        run(tmp_path / "out", "storage", only=("ouh", "puh"), **asked)
    with pytest.raises(FileError, match="that is no folder"):
        run(tmp_path / "new", "storage", budget="smoke", cohorts=str(tmp_path / "nowhere"))
    assert not (tmp_path / "new").exists()


def test_figure_1_reads_losses_off_and_can_do_without_rows(fake_grid, tmp_path):
    text = run(tmp_path / "a", "figure-1", budget="smoke")["figure-1"]
    assert (
        len(re.findall(r"\| (?:SGD path|straight line|Bézier curve) \| \d\.\d+ \| 0\.\d+ \| 0\.\d+ ± 0\.010 \|", text))
        == 6
    )
    losses = pd.read_csv(tmp_path / "a" / "figure-1" / "table.csv")
    assert losses.groupby(["recipe", "path"])["iteration"].apply(list).tolist() == [[20, 40]] * 6
    assert losses["matching_loss"].notna().all()
    fake_grid.failing = ("btm+sgd",)
    text = run(tmp_path / "b", "figure-1", budget="smoke")["figure-1"]
    assert len(re.findall(r"\| SGD path \| \d\.\d+ \| – \| – \|", text)) == 2
    assert text.count("Failed – eicu, ") == 2
