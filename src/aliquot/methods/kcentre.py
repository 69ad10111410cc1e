"""k-centre: real patients such that no patient of the class is far from all of them (Gonzalez 1985, farthest first).

The first patient of each class is drawn at random; each further one is the patient farthest from those already taken.
The largest distance of any patient to the chosen ones is at most twice the smallest possible. Outliers are taken early.
"""

import jax
import numpy as np

from aliquot.matching import Condensed
from aliquot.methods.method import Method
from aliquot.methods.selection import class_blocks, from_blocks
from aliquot.methods.settings import MethodSettings
from aliquot.methods.task import Task
from aliquot.seeds import generator


def centre_rows(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """``rows_per_class`` real patients of each class, spread so that every patient has one of them near."""
    rng = generator(key)

    def spread(block: np.ndarray) -> np.ndarray:
        return block[farthest_first(block, task.rows_per_class, first=int(rng.integers(len(block))))]

    return from_blocks(task, [spread(block) for block in class_blocks(task)])


def farthest_first(patients: np.ndarray, count: int, first: int) -> list[int]:
    """Numbers of the chosen patients, in the order of choice; no patient twice.

    >>> farthest_first(np.array([[0.0], [1.0], [4.0], [5.0], [10.0]]), 3, first=0)
    [0, 4, 3]
    """
    chosen = [first]
    distances = np.full(len(patients), np.inf)  # squared, to the nearest chosen patient
    while len(chosen) < count:
        newest = patients - patients[chosen[-1]]
        distances = np.minimum(distances, np.einsum("nd,nd->n", newest, newest))
        distances[chosen] = -1  # even where all that are left equal a chosen one
        chosen.append(int(np.argmax(distances)))
    return chosen


KCENTRE = Method("kcentre", "k-centre: patients that cover their class", centre_rows, selects_rows=True)
