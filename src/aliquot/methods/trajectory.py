"""Trajectory matching, the way that MTT, TESLA, FTD, DATM and BTM share.

1. Train K experts on the patients.
2. Take what the student must follow: their checkpoints, straight lines, or Bézier curves between their ends.
3. Learn rows on which a student that starts at the beginning of a segment ends near the segment's end.

What a method puts in each slot is in its own file.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.curves import Curve, fit_curves, straight
from aliquot.curves.fit import curves_name
from aliquot.experts import Experts, train_experts
from aliquot.matching import Checkpoints, Condensed, Curves, EqualDisplacement, Source, ensemble_targets, match
from aliquot.methods.settings import MethodSettings
from aliquot.methods.start import starting_rows
from aliquot.methods.task import Task
from aliquot.networks import as_targets
from aliquot.seeds import generator

DENSE = ("sgd", "displacement")  # paths that need every checkpoint


def trajectory_matching(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """Synthetic rows on which a student follows the experts, with the slots filled as ``settings.slots`` says."""
    expert_key, curve_key, start_key, match_key = jax.random.split(key, 4)
    experts = experts_of(task, settings, key=expert_key)
    source, stored = segments_of(task, settings, experts, key=curve_key)
    start, labels = starting_rows(
        task.x,
        task.labels,
        task.rows_per_class,
        task.network.n_classes,
        settings.start,
        rng=generator(start_key),
        own_class=lambda: own_class_probability(task, experts),
    )
    found = match(
        task.network,
        settings.match,
        settings.slots,
        source,
        start,
        as_targets(labels, task.network.n_classes),
        key=match_key,
        judge=task.judge,
        memory=task.memory,
        progress=task.progress,
    )
    return replace(found, stored=stored, expert_epochs=experts.epochs, expert_seconds=experts.seconds)


def experts_of(
    task: Task, settings: MethodSettings, *, key: jax.Array, keep_paths: bool = False, block: int | None = None
) -> Experts:
    """The experts of a task, or one block of them, from its common memory where they are there."""
    return train_experts(
        task.network,
        settings.expert,
        jnp.asarray(task.x),
        task.targets,
        key=key,
        kind=settings.slots.experts,
        judge=task.judge,
        keep_paths=keep_paths or task.dense or settings.slots.path in DENSE,
        block=block,
        memory=task.common,
        progress=task.progress,
    )


def segments_of(task: Task, settings: MethodSettings, experts: Experts, *, key: jax.Array) -> tuple[Source, tuple]:
    """What the student follows, and the names under which it is kept."""
    path, segment = settings.slots.path, settings.match.segment
    if path in DENSE:
        source = Checkpoints(experts.paths, segment) if path == "sgd" else EqualDisplacement(experts.paths, segment)
        return source, experts.names["paths"]
    line = straight(jnp.asarray(experts.start), jnp.asarray(experts.end))
    if path == "linear":
        return Curves(line, segment), experts.names["experts"]
    curves, name = curves_of(task, settings, experts, key=key)
    return Curves(curves, segment), (*experts.names["experts"], name)


def curves_of(task: Task, settings: MethodSettings, experts: Experts, *, key: jax.Array) -> tuple[Curve, str]:
    """The fitted curves of experts, from the task's common memory where they are there, and their name in it."""
    line = straight(jnp.asarray(experts.start), jnp.asarray(experts.end))
    around = {"memory": task.common, "progress": task.progress}
    curves = fit_curves(
        task.network, settings.curve, line.start, line.end, jnp.asarray(task.x), task.targets, key=key, **around
    )
    return curves, curves_name(settings.curve, line, key)


def own_class_probability(task: Task, experts: Experts) -> np.ndarray:
    """How likely the experts think each patient's own class, on average."""
    shares = np.asarray(ensemble_targets(task.network, jnp.asarray(experts.end), jnp.asarray(task.x)))
    if shares.ndim == 1:
        return np.where(task.labels == 1, shares, 1 - shares)
    return shares[np.arange(len(shares)), task.labels]
