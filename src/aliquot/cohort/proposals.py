"""What numbers of a column look like and only a person can decide: marks of gaps, and two units in one column."""

import re

import numpy as np

from aliquot.disclosure import SUPPORT, patients_in

GAP = 0.5  # of the range of the other values, between them and what may be a mark of a gap
UNIT_GAP = 0.15  # between the groups of two units, in powers of ten
UNIT_TOLERANCE = 0.1  # of the distance of their medians from a known factor
UNIT_FACTORS = (1000.0, 100.0, 88.4, 38.67, 18.0, 17.1, 10.0)  # mg and g, creatinine, cholesterol, glucose, …

_MARK = re.compile(r"-?(9+|8{2,}|7{2,})(\.[987]+)?|-1")


def gap_marks(values: np.ndarray, patients: np.ndarray | None = None) -> tuple[float, ...]:
    """Numbers such as -999 or 99.9 that ten patients have, beyond the range of all others and far from it.

    >>> gap_marks(np.append(np.linspace(35, 41, 200), [99.9] * 10)), gap_marks(np.arange(100.0))
    ((99.9,), ())
    """
    present = np.isfinite(values)
    known, whose = values[present], None if patients is None else patients[present]
    odd = [float(value) for value in np.unique(known) if _MARK.fullmatch(f"{value:g}")]
    odd = [value for value in odd if patients_in(known == value, whose) >= SUPPORT]
    others = known[~np.isin(known, odd)]
    if not odd or patients_in(np.isin(known, others), whose) < SUPPORT:
        return ()
    low, high = float(others.min()), float(others.max())
    distance = GAP * max(high - low, np.finfo(float).eps)
    return tuple(value for value in odd if value < low - distance or value > high + distance)


def unit_factor(values: np.ndarray, patients: np.ndarray | None = None) -> float | None:
    """The factor between two groups of positive numbers that lie apart as two units of one quantity do; mostly None.

    >>> glucose = np.random.default_rng(0).normal(6, 1, 300)
    >>> unit_factor(np.append(glucose, 18 * glucose[:40])), unit_factor(glucose)
    (18.0, None)
    """
    present = np.isfinite(values) & (values > 0)
    if patients_in(present, patients) < 2 * SUPPORT:
        return None
    order = np.argsort(values[present], kind="stable")
    logs = np.log10(values[present][order])
    whose = None if patients is None else patients[present][order]
    steps = np.diff(logs)
    place = int(steps.argmax()) + 1
    lower = np.arange(len(logs)) < place
    if steps[place - 1] < UNIT_GAP or min(patients_in(one, whose) for one in (lower, ~lower)) < SUPPORT:
        return None
    apart = float(np.median(logs[place:]) - np.median(logs[:place]))
    nearest = min(UNIT_FACTORS, key=lambda factor: abs(np.log10(factor) - apart))
    return nearest if abs(np.log10(nearest) - apart) < UNIT_TOLERANCE else None
