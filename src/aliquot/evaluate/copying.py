"""A first look at copying: are the rows nearer to the training patients than other patients are?

It can show that rows repeat patients; it can never show that they do not leak them.
"""

from dataclasses import dataclass

import jax
import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min

from aliquot.disclosure import SUPPORT, rounded, roundest
from aliquot.evaluate.bins import count_in, edges_of
from aliquot.evaluate.record import Record
from aliquot.seeds import generator

MOST_PATIENTS = 1000  # held-out patients that are measured
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
EQUAL = 1e-6
MOST_BINS = 40


@dataclass(frozen=True)
class Quantiles(Record):
    """Quantiles of distances to the nearest training patient."""

    levels: tuple[float, ...]
    rows: tuple[float, ...]
    held_out: tuple[float, ...]


@dataclass(frozen=True)
class Histogram(Record):
    """Patients and rows by distance; the first and the last bin of patients are open."""

    edges: tuple[float, ...]
    held_out: tuple[int | str, ...]
    row_edges: tuple[float, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Distances(Record):
    """Distances to the nearest training patient, of the rows and of held-out patients, as aggregates."""

    quantiles: Quantiles
    histogram: Histogram
    level: float  # quantile of held-out patients below which a row counts as unusually near
    nearer: int  # rows that are
    equal: int  # rows that are a training patient


def nearest_distances(rows: np.ndarray, train: np.ndarray, held_out: np.ndarray, *, key: jax.Array) -> Distances | None:
    """Distances to the nearest training patient, of the rows and of held-out patients, as aggregates.

    A distance is the root mean square difference over the encoded features, where a number has a deviation of 1. None
    where there are too few patients for quantiles.
    """
    if len(held_out) < 2 * SUPPORT / LEVELS[1]:
        return None
    chosen = generator(key).permutation(len(held_out))[:MOST_PATIENTS]
    ours, theirs = (_nearest(x, train) for x in (rows, held_out[np.sort(chosen)]))
    edges = edges_of(theirs, wanted=15)
    counts = np.bincount(count_in(theirs, edges), minlength=len(edges) + 1)
    own_edges = _row_edges(ours, edges)
    levels = [level for level in LEVELS if min(level, 1 - level) * len(theirs) >= SUPPORT]
    return Distances(
        Quantiles(tuple(levels), _quantiles(ours, levels), _quantiles(theirs, levels)),
        Histogram(
            tuple(edges.tolist()),
            tuple(rounded(counts)),
            tuple(own_edges.tolist()),
            tuple(np.histogram(ours, own_edges)[0].tolist()),
        ),
        level=levels[0],
        nearer=int((ours < np.quantile(theirs, levels[0])).sum()),
        equal=int((ours < EQUAL).sum()),
    )


def _quantiles(far: np.ndarray, levels: list[float]) -> tuple[float, ...]:
    """Quantiles to two digits, since each is the distance of one."""
    return tuple(roundest(0.99 * value, 1.01 * value) for value in np.quantile(far, levels).tolist())


def _row_edges(far: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Edges of bins for the rows, as wide as those for patients, from the nearest to the farthest row."""
    step = float(np.median(np.diff(edges))) if len(edges) > 1 else max(float(far.max()), 1e-3) / 10
    step = max(step, float(np.ptp(far)) / MOST_BINS)
    first, last = np.floor(far.min() / step), np.floor(far.max() / step) + 1
    return np.round(np.arange(first, last + 1) * step, 6)


def _nearest(x: np.ndarray, train: np.ndarray) -> np.ndarray:
    flat, others = (part.reshape(len(part), -1) for part in (x, train))
    _, far = pairwise_distances_argmin_min(flat, others)
    return np.asarray(far, np.float64) / np.sqrt(flat.shape[1])
