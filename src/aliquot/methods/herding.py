"""Herding (Welling 2009): real patients whose mean stays close to the mean of their class.

Patients are taken one after the other. With the class mean μ and the sum S of those already taken, the k-th is the
one that brings the mean of the chosen nearest to μ,

    argmin_x ‖(S + x) / k - μ‖.

For patients of equal norm that is Welling's argmax_x ⟨w, x⟩ with w ← w + μ - x; without equal norms the latter would
prefer the patients farthest from the origin. No patient is taken twice. Nothing is random: the key is not used.
"""

import jax
import numpy as np

from aliquot.matching import Condensed
from aliquot.methods.method import Method
from aliquot.methods.selection import class_blocks, from_blocks
from aliquot.methods.settings import MethodSettings
from aliquot.methods.task import Task


def herded_rows(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """``rows_per_class`` real patients of each class, whose mean is close to the class's."""
    return from_blocks(task, [block[herd(block, task.rows_per_class)] for block in class_blocks(task)])


def herd(patients: np.ndarray, count: int) -> list[int]:
    """Numbers of the chosen patients, in the order of choice.

    >>> herd(np.array([[0.0], [1.0], [4.0], [5.0], [10.0]]), 3)
    [2, 3, 1]
    """
    centred = patients - patients.mean(axis=0)
    squares = np.einsum("nd,nd->n", centred, centred)
    total = np.zeros(centred.shape[1])
    chosen: list[int] = []
    for _ in range(count):
        nearest = int(np.argmin(squares + 2 * centred @ total))  # ‖S + x - k μ‖² but for a constant
        chosen.append(nearest)
        total += centred[nearest]
        squares[nearest] = np.inf
    return chosen


HERDING = Method(
    "herding",
    "herding: patients whose mean follows their class's",
    herded_rows,
    selects_rows=True,
    deterministic=True,
)
