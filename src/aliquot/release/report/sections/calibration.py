"""How good the probabilities are: before and after the correction, and predicted against observed shares."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aliquot.evaluate.calibration import Calibration, Reliability, calibration_of
from aliquot.evaluate.evidence import Evidence
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Results
from aliquot.release.condensation import Condensation
from aliquot.release.report import facts
from aliquot.release.report.section import Section
from aliquot.release.report.svg import Colour, Drawing, canvas, drawing, drawn, styled

_MEASURES = {
    "log_loss": "log loss (low is good)",
    "brier": "Brier score (low is good)",
    "calibration_slope": "calibration slope (1 is good)",
}


@dataclass(frozen=True)
class _Result(Record):
    calibration: Calibration


def _measure(evidence: Evidence) -> _Result:
    found = calibration_of(evidence.labels, evidence.logits["aliquot"], evidence.correction, evidence.patients)
    return _Result(replace(found.rounded(evidence.decimals), reliability=found.reliability))


def calibration_in(results: Results) -> Calibration:
    """The calibration that results hold; every release has one."""
    return SECTION.read(results).calibration


def calibration_table(results: Results) -> list[list[str]]:
    """Quality of the probabilities before and after the correction."""
    found = calibration_in(results)
    table = [["measure", "before the correction", "after the correction"]]
    for key, name in _MEASURES.items():
        table.append([name, *(facts.mean_std_n(getattr(scores, key)) for scores in (found.before, found.after))])
    return table


def _content(result: Condensation) -> dict[str, Any]:
    results = result.results
    found = calibration_in(results).reliability
    return {
        "scale": facts.scale(result),
        "offset": facts.offset(result),
        "correction": facts.correction(result),
        "rows": calibration_table(results),
        "figures": drawn(None if found is None else _reliability_figure(found, results.data.classes[-1])),
    }


def _reliability_figure(found: Reliability, event: str) -> Drawing:
    """Predicted against observed share of the last class, before and after the correction."""
    bins = {"before": found.before, "after": found.after}
    points = {key: np.array([(p.predicted, p.observed) for p in part]) for key, part in bins.items()}
    far = {key: np.abs(pairs[:, 0] - pairs[:, 1]).max() for key, pairs in points.items()}
    with styled():
        figure, axes = canvas(height=3.4)
        axes.plot([0, 1], [0, 1], color=Colour.FAINT, linewidth=1, label="ideal")
        for key, colour, mark in (("before", Colour.RANDOM, "D--"), ("after", Colour.OURS, "o-")):
            axes.plot(*points[key].T, mark, color=colour, markersize=5, label=f"{key} the correction")
        axes.legend(loc="upper left")
        axes.set(xlabel="predicted probability", ylabel="observed share")
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        return drawing(
            figure,
            name="reliability",
            title=f"Predicted and observed share of class {event}",
            description="; ".join(f"{key} the correction at most {far[key]:.2f} from the ideal" for key in points),
            caption=f"Predicted and observed share of class {event} among held-out patients, in bins of ten or "
            "more with it and ten or more without; shares tell of patients to the nearest ten.",
        )


SECTION = Section(
    key="calibration",
    title="How good the probabilities are",
    order=40,
    result=_Result,
    measure=_measure,
    content=_content,
)
