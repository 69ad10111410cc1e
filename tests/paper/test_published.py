"""The file of the paper's numbers: every entry belongs to a line that a study has."""

import tomllib
from importlib import resources

import pytest

from aliquot.paper import STUDIES
from aliquot.paper.cohorts import PAPER_COHORTS
from aliquot.paper.published import notes_on, published_ratio, published_scores
from aliquot.paper.study import ALL_PATIENTS, METHOD_ORDER, OTHER_NETWORKS, Plan

DOCUMENT = tomllib.loads(resources.files("aliquot.paper").joinpath("published.toml").read_text("utf-8"))
SCORES = DOCUMENT["score"]
LINE = ("study", "cohort", "method", "rows", "network", "start")
NUMBERS = ("auroc", "auroc_std", "auprc", "auprc_std")


@pytest.mark.parametrize("study", sorted({score["study"] for score in SCORES}))
def test_scores_are_of_lines_that_the_study_has(study):
    lines = {(one.cohort, one.method, one.rows) for one in STUDIES[study].lines(Plan("paper"))}
    for score in (score for score in SCORES if score["study"] == study):
        assert set(NUMBERS) <= set(score) <= {*LINE, *NUMBERS}
        assert all(0 <= score[name] < 1 for name in NUMBERS)
        assert (score["cohort"], score["method"], score.get("rows")) in lines
        assert score.get("network", "mlp") in ("mlp", "tcn", *OTHER_NETWORKS.get(score["cohort"], ()))
        assert ("start" in score) == (study == "initialisation")


def test_no_line_has_two_numbers():
    places = [tuple(score.get(name) for name in LINE) for score in SCORES]
    assert len(places) == len(set(places)) == 163


def auroc(*line, **more):
    return published_scores(*line, **more)["paper_auroc"]


def test_numbers_are_found_by_line():
    assert auroc("table-icu", "eicu", "btm", 500) == 0.871
    assert auroc("cross-architecture", "eicu", "btm", 500, network="mlp") == 0.874
    assert auroc("initialisation", "eicu", "btm", 50, start="gaussian") == 0.852
    assert auroc("initialisation", "eicu", "full") == auroc("table-icu", "eicu", "full") == 0.879
    assert auroc("table-icu", "eicu", "btm", 51) is None


@pytest.mark.parametrize("study", ["table-curial", "table-icu"])
def test_every_line_of_the_papers_result_tables_has_its_number(study):
    shown = {(one.cohort, one.method, one.rows) for one in STUDIES[study].lines(Plan("paper"))}
    papers = [line for line in shown if line[1] in (*METHOD_ORDER, ALL_PATIENTS)]
    assert papers
    assert all(auroc(study, *line) is not None for line in papers)


def test_ratios_and_notes():
    ratios = {name: published_ratio(name) for name in PAPER_COHORTS}
    assert ratios == {**dict.fromkeys(PAPER_COHORTS, 33.0), "mimic3": 20.0}
    assert {note["study"] for note in DOCUMENT["note"]} <= set(STUDIES)
    assert any(".866" in note for note in notes_on("table-icu"))
