"""Matching class by class, the way that M3D, DM and DC share: starting rows, then the matching, no experts."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from aliquot.matching import Condensed, Rows
from aliquot.methods.settings import MethodSettings
from aliquot.methods.start import starting_rows
from aliquot.methods.task import Task
from aliquot.networks import as_targets
from aliquot.seeds import generator


def class_matching(
    match: Callable[..., Condensed], section: Any, task: Task, settings: MethodSettings, *, key: jax.Array
) -> Condensed:
    """Synthetic rows as ``match`` learns them with its ``section`` of the settings."""
    start_key, match_key = jax.random.split(key)
    n_classes = task.network.n_classes
    start, labels = starting_rows(
        task.x,
        task.labels,
        task.rows_per_class,
        n_classes,
        settings.start,
        rng=generator(start_key),
        whose=task.patients,
    )
    return match(
        task.network,
        section,
        task.x,
        task.labels,
        Rows(jnp.asarray(start), as_targets(labels, n_classes)),
        key=match_key,
        context=task.context,
    )
