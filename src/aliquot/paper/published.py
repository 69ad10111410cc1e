"""The paper's own numbers, from ``published.toml``; what is not there is not at hand, and never made up."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

METRICS = ("auroc", "auprc")


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads(resources.files("aliquot.paper").joinpath("published.toml").read_text("utf-8"))


def published(
    study: str, cohort: str, method: str, rows: int | None = None, network: str | None = None
) -> dict[str, float]:
    """Numbers of one line of a study: any of auroc, auroc_std, auprc, auprc_std; empty where none is at hand.

    Full data has the same in every study.

    >>> published("table-curial", "ouh", "full")
    {'auroc': 0.901, 'auprc': 0.445}
    >>> published("table-curial", "ouh", "datm", rows=50)
    {}
    """
    asked = {"cohort": cohort, "method": method, "rows": rows, "network": network}
    asked |= {} if method == "full" else {"study": study}
    for score in _document()["score"]:
        if all(score.get(name) == value for name, value in asked.items()):
            return {name: score[name] for metric in METRICS for name in (metric, f"{metric}_std") if name in score}
    return {}


def published_ratio(cohort: str) -> float | None:
    """How many times smaller curves are than checkpoints, as the paper says.

    >>> published_ratio("mimic3")
    20.0
    """
    return _document()["storage"].get(cohort)


def unplaced(study: str) -> list[str]:
    """Sentences on numbers of the paper of which it is not known to which line of the study they belong."""
    return [note["text"] for note in _document()["unplaced"] if note["study"] == study]
