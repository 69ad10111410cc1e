"""The cell without rows: experts, the curves between their ends, and what both are like."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aliquot.cohort import Cohort
from aliquot.curves import Curve
from aliquot.methods.geometry import in_a_plane, ways_of
from aliquot.runs.pipeline import Request, prepare, task_of
from aliquot.seeds import streams

if TYPE_CHECKING:
    from aliquot.runs.cells import Around

SHOWN = 5  # experts whose ways are measured


def ways_result(cohort: Cohort, request: Request, around: "Around") -> dict[str, Any]:
    """Loss along the SGD path, the straight line and the curve; curvature and distances; bytes of what is kept.

    Every list has one entry per expert that was measured, at most ``SHOWN``. The distance is relative to that of the
    ends; it and the gap in predictions are means over the time along the way.
    """
    task = task_of(cohort, request, prepare(cohort, request), around.own, around.shared, around.progress)
    key = streams(request.seed)["condense"]
    found = ways_of(replace(task, dense=True), request.settings, key=key, count=SHOWN)
    geometry, names = found.geometry, found.experts.names
    loss = {"sgd": geometry.loss_sgd, "linear": geometry.loss_line, "bezier": geometry.loss_curve}
    plane = in_a_plane(found.paths[0], Curve(*(part[0] for part in found.curves)))
    kept = {"trajectories": names["paths"], "curves": (found.curves_name,), "experts": names["experts"]}
    return {
        "times": _listed(geometry.times),
        "loss": {way: _listed(values) for way, values in loss.items()},
        "plane": {way: _listed(points) for way, points in plane.items()},
        "average_loss": {way: _listed(values.mean(axis=1)) for way, values in loss.items()},
        "curvature": _listed(geometry.curvature),
        "bend": _listed(geometry.bend),
        "distance": _listed(geometry.distance.mean(axis=1)),
        "prediction_gap": _listed(geometry.prediction_gap.mean(axis=1)),
        "bytes": {what: around.shared.size(*files) for what, files in kept.items()},
        "experts": len(found.experts.end),
        "epochs": found.experts.epochs,
    }


def _listed(array: np.ndarray) -> list[Any]:
    return np.asarray(array, np.float64).tolist()
