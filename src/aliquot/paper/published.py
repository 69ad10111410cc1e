"""The paper's own numbers, from ``published.toml``; what is not there is not at hand, and never made up."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

PAPER_METRICS = ("auroc", "auprc")


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads(resources.files("aliquot.paper").joinpath("published.toml").read_text("utf-8"))


def published_scores(
    study: str, cohort: str, method: str, rows: int | None = None, network: str | None = None
) -> dict[str, float | None]:
    """The paper's scores beside one line of a study, as columns of its table; None where a number is not at hand.

    Full data has the same in every study.

    >>> published_scores("table-curial", "ouh", "full")
    {'paper_auroc': 0.901, 'paper_auroc_std': None, 'paper_auprc': 0.445, 'paper_auprc_std': None}
    """
    asked = {"cohort": cohort, "method": method, "rows": rows, "network": network}
    asked |= {} if method == "full" else {"study": study}
    scores = _document()["score"]
    found = next((score for score in scores if all(score.get(name) == asked[name] for name in asked)), {})
    return {f"paper_{metric}{part}": found.get(metric + part) for metric in PAPER_METRICS for part in ("", "_std")}


def published_ratio(cohort: str) -> float | None:
    """How many times smaller curves are than checkpoints, as the paper says.

    >>> published_ratio("mimic3")
    20.0
    """
    return _document()["storage"].get(cohort)


def unplaced_numbers(study: str) -> list[str]:
    """Sentences on numbers of the paper of which it is not known to which line of the study they belong."""
    return [note["text"] for note in _document()["unplaced"] if note["study"] == study]
