"""Random selection: real patients, drawn at random. The baseline that every method must beat."""

import jax
import numpy as np

from aliquot.matching import Condensed
from aliquot.methods.method import Method
from aliquot.methods.settings import MethodSettings
from aliquot.methods.start import starting_rows
from aliquot.methods.task import Task
from aliquot.networks import as_targets
from aliquot.seeds import generator


def random_rows(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """``rows_per_class`` real training patients of each class."""
    n_classes = task.network.n_classes
    x, labels = starting_rows(task.x, task.labels, task.rows_per_class, n_classes, "real", rng=generator(key))
    return Condensed(x, np.asarray(as_targets(labels, n_classes)))


RANDOM = Method("random", "random selection of patients", random_rows, selects_rows=True, redrawn=True)
