"""ROC and precision-recall curves: means over networks, with bands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aliquot.evaluate.evidence import Evidence
from aliquot.evaluate.ranking_curves import Band, RankingCurves, ranking_curves
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Results
from aliquot.release.condensation import Condensation
from aliquot.release.report.dots import SOURCE_COLOURS
from aliquot.release.report.section import Section
from aliquot.release.report.svg import Colour, Drawing, canvas, drawing, styled

_LINES = {  # what networks were trained on: name and line
    "random": ("random real rows", ":"),
    "full_best_epoch": ("all patients", "--"),
    "aliquot": ("these rows", "-"),
}


@dataclass(frozen=True)
class _Result(Record):
    ranking: Mapping[str, RankingCurves | None]  # None where there are too few patients for a curve


def _measure(evidence: Evidence) -> _Result:
    sources = ("random", "aliquot", "full_best_epoch")
    return _Result(
        {name: ranking_curves(evidence.labels, evidence.logits[name], evidence.patients) for name in sources}
    )


def _curves(results: Results) -> dict[str, RankingCurves]:
    """The curves that are there, in the order in which they are drawn."""
    ranking = SECTION.read(results).ranking or {}
    found = {name: ranking.get(name) for name in _LINES}
    return {name: curves for name, curves in found.items() if curves is not None}


def _content(result: Condensation) -> dict[str, Any]:
    curves = _curves(result.results)
    prevalence = result.results.data.prevalence
    chance = prevalence[-1] if len(prevalence) == 2 else float(np.mean(prevalence))
    points = len(next(iter(curves.values())).grid)
    return {"points": points, "figures": [_roc(curves), _precision_recall(curves, chance)]}


def _roc(found: Mapping[str, RankingCurves]) -> Drawing:
    """Sensitivity by false-positive rate."""
    with styled():
        figure, axes = canvas(height=3.4)
        axes.plot([0, 1], [0, 1], color=Colour.FAINT, linewidth=1)
        for name, curves in found.items():
            _draw(axes, name, (0.0, *curves.grid), (0.0, *curves.sensitivity.mean), (0.0, *curves.sensitivity.std))
        axes.legend(loc="lower right")
        axes.set(xlabel="false-positive rate", ylabel="sensitivity", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        return drawing(
            figure,
            name="roc",
            title="ROC curves on held-out patients",
            description="Sensitivity where one in five is a false alarm: "
            + "; ".join(f"{_LINES[name][0]} {_at(0.2, c, c.sensitivity):.2f}" for name, c in found.items()),
            caption="Sensitivity by false-positive rate, held-out patients: mean and one standard deviation over "
            "networks.",
        )


def _precision_recall(found: Mapping[str, RankingCurves], chance: float) -> Drawing:
    """Precision by sensitivity."""
    with styled():
        figure, axes = canvas(height=3.4)
        axes.axhline(chance, color=Colour.FAINT, linewidth=1)
        for name, curves in found.items():
            _draw(axes, name, curves.grid, curves.precision.mean, curves.precision.std)
        axes.legend(loc="upper right")
        axes.set(xlabel="sensitivity (recall)", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        return drawing(
            figure,
            name="precision-recall",
            title="Precision-recall curves on held-out patients",
            description="Precision where half of the events are found: "
            + "; ".join(f"{_LINES[name][0]} {_at(0.5, c, c.precision):.2f}" for name, c in found.items()),
            caption="Precision by sensitivity, held-out patients; the grey line is chance.",
        )


def _draw(axes, source: str, *curve: tuple[float, ...]) -> None:
    name, line = _LINES[source]
    grid, mean, std = (np.asarray(values) for values in curve)
    colour, low, high = SOURCE_COLOURS[source], np.clip(mean - std, 0, 1), np.clip(mean + std, 0, 1)
    axes.fill_between(grid, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.plot(grid, mean, line, color=colour, linewidth=2 if source == "aliquot" else 1.5, label=name)


def _at(place: float, curves: RankingCurves, band: Band) -> float:
    return float(np.interp(place, curves.grid, band.mean))


SECTION = Section(
    key="ranking",
    title="ROC and precision-recall",
    order=30,
    result=_Result,
    measure=_measure,
    is_there=lambda results: bool(_curves(results)),
    content=_content,
)
