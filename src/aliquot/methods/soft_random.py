"""Random selection with soft labels: real patients, labelled with the experts' mean probabilities.

What the experts know beyond the class passes through the labels alone; no row is learned.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.matching import Condensed, ensemble_targets
from aliquot.methods.cost import expert_cost
from aliquot.methods.method import Method, MethodKeys
from aliquot.methods.random import random_rows
from aliquot.methods.settings import MethodSettings
from aliquot.methods.task import Task
from aliquot.methods.trajectory import experts_of


def soft_random_rows(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """``rows_per_class`` real training patients of each class, with the experts' probabilities as labels."""
    rows = random_rows(task, settings, key=key)
    experts = experts_of(task, settings, key=MethodKeys.of(key).expert)
    targets = ensemble_targets(task.network, jnp.asarray(experts.end), jnp.asarray(rows.x))
    return replace(
        rows,
        targets=np.asarray(targets),
        stored=experts.names["experts"],
        expert_epochs=experts.epochs,
        expert_seconds=experts.seconds,
    )


SOFT_RANDOM = Method(
    "soft-random",
    "random patients with soft labels of experts",
    soft_random_rows,
    sections=("slots", "expert"),
    needs=frozenset({"experts"}),
    selects_rows=True,
    cost=expert_cost,
)
