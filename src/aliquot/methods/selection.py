"""What methods that pick or average patients share: the patients of each class in, condensed rows out."""

from collections.abc import Sequence

import numpy as np

from aliquot.matching import Condensed
from aliquot.methods.start import check_enough
from aliquot.methods.task import Task
from aliquot.networks import as_targets


def class_blocks(task: Task) -> list[np.ndarray]:
    """The patients of each class, (patients, features) in double precision; time series are laid out in one row."""
    flat = task.x.reshape(len(task.x), -1).astype(np.float64)
    blocks = [flat[task.labels == c] for c in range(task.network.n_classes)]
    check_enough(min(len(block) for block in blocks), task.rows_per_class)
    return blocks


def owners(task: Task) -> list[np.ndarray | None]:
    """For each class, whose each of its rows is; None where every row is a patient."""
    return [None if task.patients is None else task.patients[task.labels == c] for c in range(task.network.n_classes)]


def from_blocks(task: Task, blocks: Sequence[np.ndarray]) -> Condensed:
    """The rows chosen for each class as the result of a method."""
    x = np.concatenate(blocks).astype(task.x.dtype).reshape(-1, *task.x.shape[1:])
    labels = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    return Condensed(x, np.asarray(as_targets(labels, task.network.n_classes)))
