"""What the numbers of one column teach: centre and scale, decimals, and the range that rows may show."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from aliquot.disclosure import COARSE, SUPPORT, coarse, patients_in, roundest

TAIL = 0.005  # of the values on either side lie outside the range of rows, and are winsorised where that is asked
MAX_DECIMALS = 6
ROUNDING = 1e-12  # a spread below this share of the largest value is rounding error
USUAL_SCORE = 4.0  # decimals are such that scores up to here come back, and those at the ends of the range


class Range(NamedTuple):
    """The smallest and the largest value that a row may show."""

    low: float
    high: float


def centre_and_scale(
    values: np.ndarray, kind: str, patients: np.ndarray | None = None, middle: float | None = None
) -> tuple[float, float]:
    """Mean and standard deviation of the values, of the winsorised ones where ``kind`` is "robust", both coarse.

    First no value is further from the ``middle``, their median unless it is given, than those of ten patients: few
    patients decide neither number, and sums that are worked out from them point at nobody. Where all but the tails are
    one value the winsorised ones have no spread: then that of the others counts, or 1. ``patients`` has the code of
    each value's patient; None: every value is of another one.

    >>> values = np.append(np.tile([-1.0, 1.0], 500), 1e6)
    >>> [centre_and_scale(values, kind) for kind in ("robust", "std")]
    [(0.0, 1.0), (0.0, 1.0)]
    """
    if not values.size:
        return 0.0, 1.0
    middle = float(np.median(values)) if middle is None else middle
    furthest = np.sort(most_of_each(np.abs(values - middle), patients))
    backed = furthest[-SUPPORT if len(furthest) >= SUPPORT else -1]
    kept = np.clip(values, middle - backed, middle + backed)
    winsorised = np.clip(kept, *np.quantile(kept, (TAIL, 1 - TAIL))) if kind == "robust" else kept
    for those in (winsorised, kept):
        spread = float(those.std())
        if spread > ROUNDING * np.abs(those).max():
            return coarse(float(those.mean()), spread, len(furthest)), coarse(spread, spread, len(furthest))
    return coarse(float(values.mean()), 1.0, len(furthest)), 1.0


def row_range(
    values: np.ndarray, patients: np.ndarray | None, median: float, spread: float = np.inf, *, log: bool = False
) -> Range:
    """The range of all values but the tails, with ten patients or more at or beyond either end.

    ``patients`` has the code of each value's patient; None: every value is of another one. Of flags, which are 0 or 1,
    nothing is a tail. An end is not where a patient happens to be, but the roundest number that leaves out at most
    twice the tail, or twice ten patients, and is no further inwards than a tenth of the ``spread``, which grows with
    the values on a ``log`` scale. Where there are not enough patients both ends are the ``median``.

    >>> row_range(np.arange(1000.0), None, 500.0)
    Range(low=10.0, high=980.0)
    >>> row_range(np.arange(1000.0), np.arange(1000) // 10, 500.0, spread=30.0)
    Range(low=90.0, high=906.0)
    """
    middle = float(np.median(values)) if values.size else median
    low = -_upper_end(-values, patients, -middle, (spread, log))
    high = _upper_end(values, patients, middle, (spread, log))
    return Range(low, high) if low <= high else Range(median, median)


def _upper_end(values: np.ndarray, patients: np.ndarray | None, middle: float, spread: tuple[float, bool]) -> float:
    """The end of the range upwards; -∞ where there are not enough patients."""
    largest = np.sort(most_of_each(values, patients))
    if len(largest) < 2 * SUPPORT:
        return -np.inf
    tail = 0.0 if np.isin(np.abs(values), (0, 1)).all() else TAIL
    end, inner = (min(float(np.quantile(values, 1 - n * tail)), float(largest[-n * SUPPORT])) for n in (1, 2))
    if end < middle:
        return -np.inf
    near = 2 * COARSE * spread[0] * (1 + abs(end) if spread[1] else 1)
    return roundest(max(inner, middle, end - near), end)


def most_of_each(values: np.ndarray, patients: np.ndarray | None) -> np.ndarray:
    """The largest value of each patient; of every value, where each is of another one.

    >>> most_of_each(np.array([1.0, 5.0, 2.0]), np.array([7, 7, 8])).tolist()
    [5.0, 2.0]
    """
    return values if patients is None else pd.Series(values).groupby(patients).max().to_numpy()


def on_decimals(ends: Range, decimals: int, median: float) -> Range:
    """The range moved inwards to numbers with so many decimals, or to the rounded median where none is inside.

    >>> on_decimals(Range(0.07, 2.345), 2, 1.0), on_decimals(Range(0.2, 0.4), 0, 0.3)
    (Range(low=0.07, high=2.34), Range(low=0.0, high=0.0))
    """
    inside = Range(-_floor(-ends.low, decimals), _floor(ends.high, decimals))
    if inside.low <= inside.high:
        return inside
    middle = float(np.round(median, decimals))
    return Range(middle, middle)


def written_decimals(values: np.ndarray, dtype: object, patients: np.ndarray | None = None) -> int:
    """Decimals that write the values of all but fewer than ten patients to the precision of their type.

    They are at most ``MAX_DECIMALS``; where there are fewer than ten patients, they write every value.

    >>> written_decimals(np.append(np.arange(50.0), 0.125), np.dtype("float64"))
    0
    """
    tolerance = 4 * precision(dtype) * np.maximum(1.0, np.abs(values))
    few = SUPPORT if len(most_of_each(values, patients)) >= SUPPORT else 1
    for decimals in range(MAX_DECIMALS):
        if patients_in(np.abs(np.round(values, decimals) - values) > tolerance, patients) < few:
            return decimals
    return MAX_DECIMALS


def resolved_decimals(values: np.ndarray, scores: np.ndarray, slopes: np.ndarray, dtype: object) -> int:
    """Decimals that survive float32 scores and the source's type.

    The largest ``values`` have these ``scores``, and a score's unit is worth ``slopes`` there. Neighbours must differ
    by twice the rounding error of a score, and of a cell.

    >>> resolved_decimals(np.array([80.0]), np.array([2.0]), np.array([30.0]), np.dtype("float64"))
    4
    """
    of_scores = 2 * np.finfo(np.float32).eps * (np.maximum(np.abs(scores), USUAL_SCORE) * slopes).max()
    of_cells = 2 * precision(dtype) * np.abs(values).max()
    return max(0, math.floor(-math.log10(of_scores + of_cells)))


def precision(dtype: object) -> float:
    """Relative precision of numbers in a column of a type."""
    return float(np.finfo(float_of(dtype)).eps)


def float_of(dtype: object) -> np.dtype:
    """The floating-point type that a column's numbers have; float64 for whole numbers and text.

    >>> float_of(pd.Float32Dtype()), float_of(np.dtype("int8"))
    (dtype('float32'), dtype('float64'))
    """
    kind = getattr(dtype, "numpy_dtype", dtype)
    return kind if isinstance(kind, np.dtype) and kind.kind == "f" else np.dtype(np.float64)


def _floor(value: float, decimals: int) -> float:
    """The largest number with so many decimals that is not above the value, but for rounding error."""
    steps = value * 10.0**decimals
    whole = round(steps) if abs(round(steps) - steps) <= 1e-6 else math.floor(steps)
    return float(np.round(whole / 10.0**decimals, decimals)) + 0.0
