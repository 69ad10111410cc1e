"""How near the rows are to patients: distances to the nearest training patient, of rows and of held-out patients."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from aliquot.evaluate.copying import Distances, nearest_distances
from aliquot.evaluate.evidence import Evidence
from aliquot.evaluate.record import Record
from aliquot.release.condensation import Condensation
from aliquot.release.report import facts
from aliquot.release.report.section import Check, Section
from aliquot.release.report.svg import Colour, Drawing, canvas, drawing, drawn, styled


@dataclass(frozen=True)
class _Result(Record):
    copying: Distances | None  # None where there are too few patients


def _measure(evidence: Evidence) -> _Result:
    held_out = evidence.parts.held_out.x[evidence.first_rows(evidence.parts.held_out)]
    key = jax.random.fold_in(evidence.keys["transfer"], 1)
    return _Result(nearest_distances(evidence.x, evidence.parts.train.x, held_out, key=key))


def _content(result: Condensation) -> dict[str, Any]:
    found = SECTION.read(result.results).copying
    assert found is not None  # otherwise the section is not there
    return {
        "figures": drawn(_figure(found)),
        "rows": _table(found),
        "copying": found,
        "further_than": facts.percent(1 - found.level),
        "no_guarantee": facts.NO_GUARANTEE,
    }


def _table(found: Distances) -> list[list[str]]:
    """Quantiles of the distance to the nearest training patient."""
    quantiles = found.quantiles
    table = [["share with a smaller distance", *(facts.percent(level) for level in quantiles.levels)]]
    for name, values in (("these rows", quantiles.rows), ("held-out patients", quantiles.held_out)):
        table.append([name, *(f"{value:.3f}" for value in values)])
    return table


def _figure(found: Distances) -> Drawing | None:
    """Shares of rows and of held-out patients by distance to the nearest training patient."""
    histogram, quantiles = found.histogram, found.quantiles
    if not histogram.edges:
        return None
    inner = np.asarray(histogram.edges, float)
    step = float(np.median(np.diff(inner))) if len(inner) > 1 else inner[0] / 2
    edges = np.concatenate([[inner[0] - step], inner, [inner[-1] + step]])  # the end bins are open
    own = np.asarray(histogram.row_edges, float)
    rows, patients = (np.interp(0.5, quantiles.levels, part) for part in (quantiles.rows, quantiles.held_out))
    with styled():
        figure, axes = canvas(height=2.9)
        dense = _shares(histogram.held_out) * step / np.diff(edges)
        axes.stairs(dense, edges, fill=True, color=Colour.REAL, label="held-out patients")
        ours = _shares(histogram.rows) * step / np.diff(own)
        axes.stairs(ours, own, color=Colour.OURS, linewidth=2, label="these rows")
        axes.legend(loc="upper right")
        axes.margins(y=0.25)
        axes.set(xlabel="distance to the nearest training patient", ylabel=f"share per {step:g}")
        return drawing(
            figure,
            name="distances",
            title="Distance to the nearest training patient",
            description=f"Half of the rows are nearer than {rows:.2f}, half of the held-out patients nearer "
            f"than {patients:.2f}.",
            caption="Distance to the nearest training patient: root mean square difference of the encoded features. "
            "The first and the last bin of patients are open.",
        )


def _shares(counts: Sequence[int | str]) -> np.ndarray:
    seen = np.array([0 if isinstance(n, str) else n for n in counts], float)
    return seen / max(seen.sum(), 1)


def _checks(result: Condensation) -> list[Check]:
    found = SECTION.read(result.results).copying
    if found is None:
        return []
    rows = sum(found.histogram.rows)
    said = (
        f"First look, no proof: {found.equal} of {rows:,} rows equal a training patient, "
        f"{found.nearer} are unusually near."
    )
    heed = bool(found.equal) or found.nearer > 2 * found.level * rows
    return [Check("Near copies?", said, heed=heed, order=70, section="copying")]


SECTION = Section(
    key="copying",
    title="How near the rows are to patients",
    order=80,
    result=_Result,
    measure=_measure,
    is_there=lambda results: SECTION.read(results).copying is not None,
    content=_content,
    checks=_checks,
)
