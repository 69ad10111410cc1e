"""The paper's own numbers, from ``published.toml``; what the paper does not print is None."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

PAPER_METRICS = ("auroc", "auprc")


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads(resources.files("aliquot.paper").joinpath("published.toml").read_text("utf-8"))


def published_scores(
    study: str,
    cohort: str,
    method: str,
    rows: int | None = None,
    *,
    network: str | None = None,
    start: str | None = None,
) -> dict[str, float | None]:
    """The paper's scores beside one line of a study, as columns of its table; None where the paper has no number.

    Full data has the same in every study.

    >>> published_scores("initialisation", "eicu", "btm", 50, start="real")
    {'paper_auroc': 0.866, 'paper_auroc_std': 0.001, 'paper_auprc': 0.474, 'paper_auprc_std': 0.005}
    """
    asked = {"cohort": cohort, "method": method, "rows": rows, "network": network, "start": start}
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


def notes_on(study: str) -> list[str]:
    """What to know of the paper's numbers beside a study, such as where its tables disagree."""
    return [note["text"] for note in _document()["note"] if note["study"] == study]
