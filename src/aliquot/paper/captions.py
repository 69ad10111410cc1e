"""What stands above a table: what it is, how much of the paper was done, what was simulated, and how to do it again."""

from collections.abc import Sequence
from typing import Any

from aliquot.paper.cohorts import SIMULATION, TITLES
from aliquot.paper.scale import PAPER, Scale
from aliquot.runs.settings import Settings, load_settings

COUNTED = {  # settings that budgets change, as people call them
    "expert.count": "experts",
    "expert.epochs": "epochs of an expert",
    "curve.steps": "steps of a curve's fit",
    "match.iterations": "matching iterations",
    "distribution.iterations": "iterations of M3D",
    "evaluation.search_networks": "networks at a look on tuning",
    "evaluation.search_epochs": "epochs of a look on tuning",
    "evaluation.final_networks": "evaluation networks",
    "evaluation.final_epochs": "epochs on rows",
    "evaluation.full_epochs": "epochs on full data",
}
OF_EXPERTS = ("expert.count", "expert.epochs", "curve.steps")  # what counts where no rows are learned
SIMULATED = (
    "The patients are simulated in the shape of the paper's cohorts: no finding on them is real, and numbers cannot be "
    "compared with the paper's, which stand beside them for orientation only."
)


def provenance(cohorts: str, used: Sequence[str]) -> str:
    """Whose patients these are."""
    return SIMULATED if cohorts == SIMULATION else f"Patients: {', '.join(TITLES[name] for name in used)}, real files."


def reductions(budget: str, scale: Scale, cohorts: str, used: Sequence[str], *, learned: bool = True) -> list[str]:
    """How a budget falls short of the paper, cohort by cohort; empty where it does not.

    ``learned`` is whether rows are learned; otherwise only experts and curves count.

    >>> reductions("paper", PAPER, "simulated", ["ouh"])
    []
    """
    by_text: dict[str, list[str]] = {}
    for name in used:
        text = "; ".join(_smaller(name, budget, scale, learned))
        by_text.setdefault(text, []).append(TITLES[name])
    parts = [f"{TITLES[name]} {scale.fractions[name]:.0%}" for name in used if name in scale.fractions]
    fewer = [f"Of the simulated patients: {', '.join(parts)}."] if parts and cohorts == SIMULATION else []
    return [*(f"{', '.join(names)}: {text}." for text, names in by_text.items() if text), *fewer]


def _smaller(name: str, budget: str, scale: Scale, learned: bool) -> list[str]:
    series = name == "mimic3"
    ours = load_settings(f"paper-{name}", budget, series=series, overrides=scale.changes(name))
    theirs = load_settings(f"paper-{name}", "paper", series=series)
    counted = {path: said for path, said in COUNTED.items() if learned or path in OF_EXPERTS}
    pairs = {said: (_value(ours, path), _value(theirs, path)) for path, said in counted.items()}
    if learned:
        looks = (scale.series_looks, PAPER.series_looks) if series else (scale.looks, PAPER.looks)
        pairs["looks on tuning"] = looks
    texts = [f"{said} {mine:,} instead of {papers:,}" for said, (mine, papers) in pairs.items() if mine != papers]
    if learned and scale.rows(name) != PAPER.rows(name):
        mine, papers = (", ".join(map(str, one.rows(name))) for one in (scale, PAPER))
        texts.append(f"rows per class {mine} instead of {papers}")
    return texts


def _value(settings: Settings, path: str) -> Any:
    found: Any = settings
    for part in path.split("."):
        found = getattr(found, part)
    return found
