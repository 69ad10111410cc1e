"""Valid rows that are nobody: where columns are few and coarse, a valid row may be a patient by chance."""

import jax.numpy as jnp
import numpy as np

from aliquot.cohort import ValidRows
from aliquot.matching import project
from aliquot.methods.centroids import is_patient

MOST_STEPS = 20  # that a number is moved, either way
SHORTEST = 0.01  # of a column's range: how far one step goes at least


def unlike_patients(valid: ValidRows, rows: np.ndarray, patients: np.ndarray) -> np.ndarray:
    """The rows (n, F), those that are a patient with one number moved a little, so that they are nobody.

    Guarantees: all rows are valid, and those that were nobody stay as they are. A row stays a patient only where moving
    any single number gives another patient again.
    """
    rows = rows.copy()
    for place in np.flatnonzero(is_patient(rows, patients)):
        near = _with_one_number_moved(valid, rows[place])
        nobody = near[~is_patient(near, patients)]
        if len(nobody):
            rows[place] = nobody[((nobody - rows[place]) ** 2).sum(axis=1).argmin()]
    return rows


def _with_one_number_moved(valid: ValidRows, row: np.ndarray) -> np.ndarray:
    """Valid rows that differ from a row in one number, which is not missing in them."""
    numbers = np.flatnonzero((valid.group < 0) & (valid.low < valid.high) & ~_is_flag(valid))
    steps = np.where(valid.log, 0, valid.step)[numbers]
    steps = np.maximum(steps, SHORTEST * (valid.high - valid.low)[numbers])
    moves = np.r_[-MOST_STEPS:0, 1 : MOST_STEPS + 1]
    near = np.tile(row, (len(numbers), len(moves), 1))
    for place, (number, step) in enumerate(zip(numbers, steps, strict=True)):
        near[place, :, number] += moves * step
        if valid.gap[number] >= 0:
            near[place, :, valid.gap[number]] = 0
    return np.asarray(project(valid, jnp.asarray(near.reshape(-1, len(row)))))


def _is_flag(valid: ValidRows) -> np.ndarray:
    return (valid.low == 0) & (valid.high == 1) & (valid.origin == 0) & (valid.step == 1)
