"""Are methods different? Ranks and paired tests over blocks: one block is one cohort, size and seed.

Scores are arrays (blocks, methods); higher is better. A test takes differences within blocks, so that what makes a
cohort or a split hard for all does not count.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 0.05  # below it a difference is called one


@dataclass(frozen=True)
class Paired:
    """One method against another over the blocks in which both have a score."""

    pairs: int
    difference: float  # mean of the first's score less the second's
    p_value: float  # of Wilcoxon's signed-rank test, two-sided


def average_ranks(scores: ArrayLike) -> np.ndarray:
    """The mean rank of each method over blocks; 1 is best, and equal scores share their ranks.

    >>> average_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]]).tolist()
    [1.25, 1.75, 3.0]
    """
    return stats.rankdata(-np.asarray(scores, float), axis=1).mean(axis=0)


def wilcoxon(first: ArrayLike, second: ArrayLike) -> Paired:
    """The signed-rank test of two methods, score by score; exact where no two differences are equal.

    Blocks without a difference are left out of the test, and without any difference p is 1.

    >>> wilcoxon([0.4, 0.6, 0.7], [0.3, 0.4, 0.4])
    Paired(pairs=3, difference=0.2, p_value=0.25)
    """
    differences = np.asarray(first, float) - np.asarray(second, float)
    moved = differences[differences != 0]
    if not len(moved):
        return Paired(len(differences), 0.0, 1.0)
    exact = len(np.unique(np.abs(moved))) == len(moved) and len(moved) <= 50
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the sample is small: that is said beside the number of pairs
        _, p_value = stats.wilcoxon(moved, method="exact" if exact else "asymptotic")
    return Paired(len(differences), round(float(differences.mean()), 12), float(np.asarray(p_value)))


def smallest_p(pairs: int, tests: int = 1) -> float:
    """What the signed-rank test gives, after Holm's correction for ``tests``, if one method is ahead in every pair.

    >>> smallest_p(6) < LEVEL < smallest_p(5)
    True
    """
    return min(1.0, tests * 2.0 ** (1 - pairs))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number by Holm's steps: the smallest times m, the next times m - 1, never falling.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.asarray(p_values, float)[order] * factors))
    return [float(value) for value in adjusted]


def friedman(scores: ArrayLike) -> float:
    """P-value of Friedman's test that all methods rank alike; for three methods or more.

    >>> friedman([[3, 2, 1]] * 8) < 0.001
    True
    """
    scores = np.asarray(scores, float)
    if not np.ptp(stats.rankdata(scores, axis=1), axis=1).any():
        return 1.0  # all are equal in every block
    return float(stats.friedmanchisquare(*scores.T).pvalue)


def critical_difference(methods: int, blocks: int, level: float = LEVEL) -> float:
    """How far average ranks must be apart by Nemenyi's test, which compares every method with every other.

    >>> round(critical_difference(methods=4, blocks=14), 2)
    1.25
    """
    q = stats.studentized_range.ppf(1 - level, methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * blocks)))
