"""What experts and their curves are like, for the cell that learns no rows."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from aliquot.context import Store
from aliquot.curves import Curve
from aliquot.evaluate.record import Record
from aliquot.methods.geometry import ExpertPaths, in_a_plane

SHOWN_EXPERTS = 5  # whose paths are measured
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class PathsResult(Record):
    """Loss along the SGD path, the straight line and the curve; curvature and distances; bytes of what is kept.

    Mappings are by path: ``sgd``, ``linear``, ``bezier``. Every tuple has one entry per expert that was measured, at
    most ``SHOWN_EXPERTS``. The distance is relative to that of the ends; it and the gap in predictions are means over
    the time along the path.
    """

    times: Numbers
    loss: Mapping[str, tuple[Numbers, ...]]  # of each expert at each time
    plane: Mapping[str, tuple[Numbers, ...]]  # points of the first expert's paths
    average_loss: Mapping[str, Numbers]
    curvature: Numbers
    bend: Numbers
    distance: Numbers
    prediction_gap: Numbers
    bytes: Mapping[str, int]  # of trajectories, curves and experts
    experts: int
    epochs: int


def paths_result(found: ExpertPaths, store: Store) -> PathsResult:
    """The figures of experts' paths and curves, which are kept in a store."""
    geometry, names = found.geometry, found.experts.names
    loss = {"sgd": geometry.loss_sgd, "linear": geometry.loss_line, "bezier": geometry.loss_curve}
    plane = in_a_plane(found.paths[0], Curve(*(part[0] for part in found.curves)))
    kept = {"trajectories": names["paths"], "curves": (found.curves_name,), "experts": names["experts"]}
    return PathsResult(
        times=_numbers(geometry.times),
        loss={path: _rows(values) for path, values in loss.items()},
        plane={path: _rows(points) for path, points in plane.items()},
        average_loss={path: _numbers(values.mean(axis=1)) for path, values in loss.items()},
        curvature=_numbers(geometry.curvature),
        bend=_numbers(geometry.bend),
        distance=_numbers(geometry.distance.mean(axis=1)),
        prediction_gap=_numbers(geometry.prediction_gap.mean(axis=1)),
        bytes={what: store.size(*files) for what, files in kept.items()},
        experts=len(found.experts.end),
        epochs=found.experts.epochs,
    )


def _numbers(array: np.ndarray) -> Numbers:
    return tuple(np.asarray(array, np.float64).tolist())


def _rows(array: np.ndarray) -> tuple[Numbers, ...]:
    return tuple(_numbers(row) for row in array)
