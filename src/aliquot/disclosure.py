"""What may be said of patients: ten of them stand behind everything, and nothing solves to fewer.

All rooms ask here. Patients are counted, never rows; counts, ends and centres that are released are rounded so far that
sums and differences of them point at nobody.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

SUPPORT = 10  # patients behind a feature, level, flag of gaps, channel, class or group that a release names
FEW = f"<{SUPPORT}"
COARSE = 0.05  # of the spread: by so much centres, medians and scales may be moved to a rounder number


def patients_per(codes: np.ndarray, patients: np.ndarray | None = None, levels: int | None = None) -> np.ndarray:
    """How many different patients each code 0, 1, … has; negative codes are passed over.

    ``patients`` has a code for the patient of each entry; None: every entry is of another one. ``levels`` is how many
    codes there are where the last ones may not occur.

    >>> patients_per(np.array([0, 0, 0, 1, 1, -1]), np.array([7, 7, 7, 7, 8, 8])).tolist()
    [1, 2]
    """
    codes = np.asarray(codes)
    known = codes >= 0
    if patients is None:
        return np.bincount(codes[known], minlength=levels or 0)
    whose, who = np.unique(np.asarray(patients)[known], return_inverse=True)
    pairs = np.unique(codes[known].astype(np.int64) * max(len(whose), 1) + who)
    return np.bincount(pairs // max(len(whose), 1), minlength=levels or 0)


def patients_in(members: ArrayLike, patients: np.ndarray | None = None) -> int:
    """How many different patients the entries of a mask belong to.

    >>> patients_in(np.array([True, True, False]), np.array([4, 4, 5]))
    1
    """
    members = np.asarray(members)
    return int(members.sum()) if patients is None else len(np.unique(np.asarray(patients)[members]))


def shown(count: int) -> int | str:
    """A count of patients as it may be released: a small one as ``"<10"``.

    >>> shown(9), shown(10)
    ('<10', 10)
    """
    return FEW if count < SUPPORT else int(count)


def rounded(counts: np.ndarray | Sequence[int]) -> list[int | str]:
    """Counts of patients to the nearest ten, so that nothing can be had by subtraction; small ones as ``"<10"``.

    >>> rounded([4, 13, 118])
    ['<10', 10, 120]
    """
    return [FEW if n < SUPPORT else int(round(int(n), -1)) for n in counts]


def masked_count(count: int, noun: str) -> str:
    """A count with its noun as notes may have it, since they are part of the release.

    >>> masked_count(3, "stay"), masked_count(12, "stay")
    ('<10 stays', '12 stays')
    """
    return f"{shown(count)} {noun}s"


def hidden(counts: np.ndarray) -> np.ndarray:
    """Which counts must not be shown when their sum is known: the small ones, and as many others as protect them.

    >>> hidden(np.array([3, 40, 25])).tolist(), hidden(np.array([12, 40])).tolist()
    ([True, False, True], [False, False])
    """
    kept = counts >= SUPPORT
    if kept.all():
        return ~kept
    for place in np.argsort(counts, kind="stable"):
        if counts[~kept].sum() >= SUPPORT:
            break
        kept[place] = False
    return ~kept


def to_ten(share: float, patients: int) -> float:
    """A share of patients that tells their number to the nearest ten.

    >>> to_ten(17 / 130, 130), to_ten(6 / 1000, 1000)
    (0.1538, 0.01)
    """
    return round(min(1.0, round(share * patients / SUPPORT) * SUPPORT / patients), 4)


def score_decimals(fewest: int) -> int:
    """Decimals of a score of patients, the ``fewest`` of whom are of one class: such that no count follows from it.

    >>> score_decimals(250), score_decimals(6)
    (3, 2)
    """
    return 3 if fewest >= SUPPORT else 2


def coarse(value: float, spread: float, patients: int) -> float:
    """The roundest number that is not further from a statistic of patients than a twentieth of the spread.

    Of fewer than forty patients it may be further, so that whoever knows all values but one, and the mean so rounded,
    knows that one to no better than twice the spread either way.

    >>> coarse(64.96399, 15.6, 6000), coarse(64.96399, 15.6, 10), coarse(3.7, 0.0, 100)
    (65.0, 65.0, 3.7)
    """
    away = max(COARSE, 2 / max(patients, 1)) * spread
    return roundest(value - away, value + away)


def roundest(low: float, high: float) -> float:
    """The number from low to high that is a multiple of the largest step of 1, 2 or 5 times a power of ten.

    Of several the one in the middle; of 0 and others, 0. Without width it is the number itself.

    >>> roundest(87.31, 89.04), roundest(-0.3, 0.2), roundest(0.21, 0.21)
    (88.0, 0.0, 0.21)
    """
    if low <= 0 <= high:
        return 0.0
    largest = max(abs(low), abs(high))
    if not high - low > 1e-12 * largest:
        return float(low)
    for power in range(int(np.ceil(np.log10(largest))), -300, -1):
        for digit in (5, 2, 1):
            step = digit * 10.0**power
            first, last = np.ceil(low / step), np.floor(high / step)
            if first <= last:
                return float(f"{(first + last) // 2 * step:.12g}")
    return float(low)
