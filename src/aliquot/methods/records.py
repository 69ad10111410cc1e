"""Rows that are to be valid records: where series are measured at the start, and rows that are nobody at the end."""

import jax.numpy as jnp
import numpy as np

from aliquot.cohort import ValidRows
from aliquot.matching import project
from aliquot.methods.centroids import is_patient

MOST_STEPS = 20  # that a number is moved, either way
HAIR = 1e-3  # by which flags are on their side of one half where hours are equal
SHORTEST = 0.01  # of a column's range: how far one step goes at least


def measured_as_often(valid: ValidRows, rows: np.ndarray) -> np.ndarray:
    """Means of series (n, T, F) whose channels, as valid records, are measured as often as in the patients behind them.

    A channel that patients have in three hours of forty-eight is far below one half in every hour of their mean: as a
    record it would never be measured, and its values would be lost. Here its flag is above one half in the three hours
    in which most of them have it, the earlier ones where hours are equal.

    Guarantees: tables and all features but these flags stay as they are.
    """
    if valid.measured is None:
        return rows
    flags = np.unique(valid.measured[valid.measured >= 0])
    shares = np.clip(rows[..., flags].astype(np.float64), 0, 1)  # (n, T, flags)
    hours = np.round(shares.sum(axis=1, keepdims=True)).astype(int)
    order = np.argsort(-shares, axis=1, kind="stable")
    falling = np.take_along_axis(shares, order, axis=1)
    edges = np.concatenate([np.ones_like(falling[:, :1]), falling, np.zeros_like(falling[:, :1])], axis=1)
    edge = np.take_along_axis(edges, hours, axis=1) + np.take_along_axis(edges, hours + 1, axis=1)
    most = np.argsort(order, axis=1) < hours
    moved = rows.copy()
    moved[..., flags] = shares - edge / 2 + 0.5 + np.where(most, HAIR, -HAIR)
    return moved


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
        flags = valid.gap[:, number]
        near[place][:, flags[flags >= 0]] = 0
    return np.asarray(project(valid, jnp.asarray(near.reshape(-1, len(row)))))


def _is_flag(valid: ValidRows) -> np.ndarray:
    return (valid.low == 0) & (valid.high == 1) & (valid.origin == 0) & (valid.step == 1)
