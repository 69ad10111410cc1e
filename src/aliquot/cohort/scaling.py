"""What the numbers of one column teach: centre and scale, decimals, and the range that rows may show."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

TAIL = 0.005  # of the values on either side lie outside the range of rows, and are winsorised where that is asked
FEWEST_PATIENTS = 10  # at either end of the range of rows
MAX_DECIMALS = 6
SMALLEST = 1e-30  # spread; no measurement gets there
ROUNDING = 1e-12  # a spread below this share of the largest value is rounding error
USUAL_SCORE = 4.0  # decimals are such that scores up to here come back, and those at the ends of the range


class Range(NamedTuple):
    """The smallest and the largest value that a row may show."""

    low: float
    high: float


def centre_and_scale(values: np.ndarray, kind: str) -> tuple[float, float]:
    """Mean and standard deviation of the values, of the winsorised ones where ``kind`` is "robust".

    Where all but the tails are one value, or all values are, the winsorised ones have no spread: then that of all
    counts, or 1.

    >>> values = np.append(np.tile([-1.0, 1.0], 500), 1e6)
    >>> [round(centre_and_scale(values, kind)[1]) for kind in ("robust", "std")]
    [1, 31591]
    """
    if not values.size:
        return 0.0, 1.0
    kept = np.clip(values, *np.quantile(values, (TAIL, 1 - TAIL))) if kind == "robust" else values
    for those in (kept, values):
        spread = float(those.std())
        if spread > max(ROUNDING * np.abs(those).max(), SMALLEST):
            return float(those.mean()), spread
    return float(values.mean()), 1.0


def row_range(values: np.ndarray, patients: np.ndarray | None, median: float) -> Range:
    """The range of all values but the tails, with ten patients or more at or beyond either end.

    ``patients`` has the code of each value's patient; None: every value is of another one. Of flags, which are 0 or 1,
    nothing is a tail. Where there are not enough patients both ends are the ``median``.

    >>> row_range(np.arange(1000.0), None, 499.5)
    Range(low=9.0, high=990.0)
    >>> row_range(np.arange(1000.0), np.arange(1000) // 10, 499.5)
    Range(low=90.0, high=909.0)
    """
    if patients is None:
        lowest = highest = values
    else:
        ends = pd.Series(values).groupby(patients).agg(["min", "max"])
        lowest, highest = ends["min"].to_numpy(), ends["max"].to_numpy()
    if len(lowest) < FEWEST_PATIENTS:
        return Range(median, median)
    tail = 0.0 if np.isin(values, (0, 1)).all() else TAIL
    low, high = np.quantile(values, (tail, 1 - tail))
    low = max(low, np.partition(lowest, FEWEST_PATIENTS - 1)[FEWEST_PATIENTS - 1])
    high = min(high, np.partition(highest, -FEWEST_PATIENTS)[-FEWEST_PATIENTS])
    return Range(float(low), float(high)) if low <= high else Range(median, median)


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


def written_decimals(values: np.ndarray, dtype: object) -> int:
    """Decimals that write every value to the precision of its type, at most ``MAX_DECIMALS``."""
    tolerance = 4 * precision(dtype) * np.maximum(1.0, np.abs(values))
    for decimals in range(MAX_DECIMALS):
        if (np.abs(np.round(values, decimals) - values) <= tolerance).all():
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
