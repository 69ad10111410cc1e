"""ROC and precision-recall curves, coarse enough that no step of them is a single patient."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from aliquot.disclosure import SUPPORT, patients_per
from aliquot.evaluate.metrics import deviation, ranking
from aliquot.evaluate.record import Record, as_tuple

MOST_POINTS = 50
FEWEST_POINTS = 5


@dataclass(frozen=True)
class Band(Record):
    """A curve over several networks."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class RankingCurves(Record):
    """Sensitivity at false-positive rates, and precision at sensitivities, on one grid."""

    grid: tuple[float, ...]
    sensitivity: Band
    precision: Band


def ranking_curves(labels: np.ndarray, logits: np.ndarray, patients: np.ndarray | None = None) -> RankingCurves | None:
    """Mean and deviation over networks (networks, rows[, C]) of sensitivity and precision on an equal grid.

    Between two points of the grid are at least ten patients of every class; None where that leaves too few points.
    Sensitivities and precisions are rounded to half that distance. For more than two classes the curves are means over
    the classes, each against the rest.

    >>> curves = ranking_curves(np.arange(200) % 2, np.arange(200.0)[None])
    >>> len(curves.grid), curves.sensitivity.mean[-1]
    (10, 1.0)
    """
    counts = patients_per(np.unique(labels, return_inverse=True)[1], patients)
    points = min(MOST_POINTS, int(counts.min()) // SUPPORT)
    if points < FEWEST_POINTS:
        return None
    grid = np.arange(1, points + 1) / points
    sensitivity, precision = zip(*(_of_network(labels, ranking(one), grid) for one in logits), strict=True)
    step = 0.5 / points
    return RankingCurves(as_tuple(grid), _band(sensitivity, step), _band(precision, step))


def _of_network(labels: np.ndarray, scores: np.ndarray, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    classes = [1] if scores.shape[1] == 2 else range(scores.shape[1])
    pairs = [_of_class(labels == code, scores[:, code], grid) for code in classes]
    sensitivity, precision = (np.mean(part, axis=0) for part in zip(*pairs, strict=True))
    return sensitivity, precision


def _of_class(positive: np.ndarray, scores: np.ndarray, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sensitivity at false-positive rates, and precision at sensitivities."""
    false, true, _ = roc_curve(positive, scores, drop_intermediate=False)
    precision, recall, _ = precision_recall_curve(positive, scores)
    near = 1e-9  # of rates that are equal but for rounding
    reached = np.searchsorted(false, grid + near, side="right") - 1
    needed = np.searchsorted(recall[::-1], grid - near, side="left")
    return true[reached], precision[::-1][needed]


def _band(curves: tuple[np.ndarray, ...], step: float) -> Band:
    mean = np.round(np.mean(curves, axis=0) / step) * step
    return Band(as_tuple(np.minimum(mean, 1)), as_tuple(deviation(curves, axis=0), 2))
