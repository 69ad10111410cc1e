"""The file of the paper's numbers: every entry belongs to a line that a study has."""

import tomllib
from importlib import resources

import pytest

from aliquot.paper import STUDIES
from aliquot.paper.cohorts import PAPER_COHORTS
from aliquot.paper.published import published_ratio, published_scores, unplaced_numbers
from aliquot.paper.study import OTHER_NETWORKS, Plan

DOCUMENT = tomllib.loads(resources.files("aliquot.paper").joinpath("published.toml").read_text("utf-8"))
SCORES = DOCUMENT["score"]
FIELDS = {"study", "cohort", "method", "rows", "network", "auroc", "auroc_std", "auprc", "auprc_std", "where"}


@pytest.mark.parametrize("score", SCORES, ids=lambda score: f"{score['study']}-{score['cohort']}-{score['method']}")
def test_a_score_is_of_a_line_and_has_a_source(score):
    assert set(score) <= FIELDS
    assert score["where"]
    assert {"auroc", "auprc"} & set(score)
    for name in ("auroc", "auprc", "auroc_std", "auprc_std"):
        assert 0 < score.get(name, 0.5) < 1
    asked = STUDIES[score["study"]].lines(Plan("paper"))
    assert (score["cohort"], score["method"], score.get("rows")) in {
        (one.cohort, one.method, one.rows) for one in asked
    }
    if "network" in score:
        assert score["network"] in ("mlp", "tcn", *OTHER_NETWORKS[score["cohort"]])


def test_no_line_has_two_numbers():
    places = [tuple(score.get(name) for name in ("study", "cohort", "method", "rows", "network")) for score in SCORES]
    assert len(places) == len(set(places))


def known(*line):
    return {name: score for name, score in published_scores(*line).items() if score is not None}


def test_numbers_are_found_by_line():
    assert known("table-icu", "eicu", "btm", 500) == {"paper_auroc": 0.871, "paper_auroc_std": 0.001}
    other = known("cross-architecture", "eicu", "btm", 500, "mlp")
    assert other == {"paper_auroc": 0.874, "paper_auroc_std": 0.002}
    assert known("table-icu", "eicu", "btm", 100) == {}
    ratios = {name: published_ratio(name) for name in PAPER_COHORTS}
    assert ratios == {**dict.fromkeys(PAPER_COHORTS, 33.0), "mimic3": 20.0}
    assert all(unplaced_numbers(study) for study in ("table-icu", "cross-architecture", "inner-loop"))
    assert {note["study"] for note in DOCUMENT["unplaced"]} <= set(STUDIES)
