"""k-means: the patients of each class are grouped, and the mean of each group is a row."""

import jax

from aliquot.matching import Condensed
from aliquot.methods.centroids import group_means
from aliquot.methods.method import Method
from aliquot.methods.selection import class_blocks, from_blocks, owners
from aliquot.methods.settings import MethodSettings
from aliquot.methods.task import Task
from aliquot.seeds import integer


def cluster_means(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """Means of ``rows_per_class`` groups of patients of each class; none of them is a patient."""
    blocks = class_blocks(task)
    seeds = [integer(one) for one in jax.random.split(key, len(blocks))]
    return from_blocks(task, group_means(blocks, task.rows_per_class, seeds, owners(task)))


KMEANS = Method(
    "kmeans",
    "k-means centroids of each class",
    cluster_means,
    origin="Each row is the mean of a group of training patients of its class, never of one alone.",
)
