"""Real numbers as bins that say nothing of a single patient: round edges, open ends, ten patients in each."""

import numpy as np

from aliquot.disclosure import SUPPORT

TAIL = 0.01  # of the patients at each end, at least ten of them, decide no edge
STEPS = (1.0, 2.0, 5.0, 10.0)


def edges_of(values: np.ndarray, *, wanted: int = 12, whole: bool = False, log: bool = False) -> np.ndarray:
    """Round numbers that cut patients' values into about so many bins of at least ten; both end bins are open.

    Between n edges are n + 1 bins. ``whole`` asks for whole numbers, ``log`` for steps of 1, 2, 5, 10, 20, …

    >>> edges_of(np.arange(200.0), wanted=5)
    array([ 50., 100., 150.])
    """
    values = values[np.isfinite(values)]
    if len(values) < 2 * SUPPORT:
        return np.array([])
    tail = max(TAIL, SUPPORT / len(values))
    low, high = np.quantile(values, [tail, 1 - tail])
    edges = _ratios(low, high) if log and low > 0 else _steps(low, high, wanted, whole)
    return _merged(values, edges)


def count_in(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Which bin each value is in: 0 below the first edge, len(edges) from the last one on."""
    return np.searchsorted(edges, values, side="right")


def _steps(low: float, high: float, wanted: int, whole: bool) -> np.ndarray:
    width = (high - low) / wanted if high > low else max(abs(low), 1.0) / wanted
    unit = 10.0 ** np.floor(np.log10(width))
    step = next(part * unit for part in STEPS if part * unit >= width * (1 - 1e-9))
    step = max(step, 1.0) if whole else step
    first, last = np.ceil(low / step), np.floor(high / step)
    edges = np.arange(first, last + 1) * step
    return np.round(edges, int(max(0, 2 - np.floor(np.log10(step)))))


def _ratios(low: float, high: float) -> np.ndarray:
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    edges = np.unique(np.outer(powers, STEPS[:3]))
    return edges[(edges >= low) & (edges <= high)]


def _merged(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The edges without those that leave fewer than ten patients beside them."""
    kept, since = [], 0
    for edge in edges:
        below = int((values < edge).sum())
        if below - since >= SUPPORT and len(values) - below >= SUPPORT:
            kept.append(edge)
            since = below
    return np.array(kept)
