"""Bézier Trajectory Matching (the paper's Algorithm 1).

1. Train K experts on the patients; keep only where each starts (θ_0) and ends (θ_E).
2. Between the two lay a quadratic Bézier curve whose control point makes the loss along the curve low.
3. Repeat: draw a curve and a piece of it, s = θ(t), target = θ(t + 0.2); let a student start at s and train on the
   synthetic rows for N steps; move the rows so that it ends nearer to the target,
   L = ‖θ_N - target‖² / ‖s - target‖².
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.curves import Curve, Geometry, fit_curves, measure
from aliquot.experts import train_experts
from aliquot.matching import Condensed, match
from aliquot.methods.start import starting_rows
from aliquot.methods.task import MethodSettings, Task
from aliquot.networks import as_targets
from aliquot.seeds import generator

GEOMETRY_CURVES = 3
GEOMETRY_PATIENTS = 2048


def bezier_matching(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """Synthetic rows on which a student follows the experts' curves."""
    expert_key, curve_key, start_key, match_key = jax.random.split(key, 4)
    x, targets = jnp.asarray(task.x), task.targets
    around = {"memory": task.memory, "progress": task.progress}

    experts = train_experts(task.network, settings.expert, x, targets, key=expert_key, judge=task.judge, **around)
    curves = fit_curves(task.network, settings.curve, experts.start, experts.end, x, targets, key=curve_key, **around)
    start, labels = starting_rows(
        task.x,
        task.labels,
        task.rows_per_class,
        task.network.n_classes,
        settings.start,
        rng=generator(start_key),
    )
    start_targets = as_targets(labels, task.network.n_classes)
    return match(task.network, settings.match, curves, start, start_targets, key=match_key, judge=task.judge, **around)


def curve_geometry(task: Task, settings: MethodSettings, *, key: jax.Array) -> Geometry:
    """The first few curves against the paths that their experts took, on a sample of the patients.

    Called after :func:`bezier_matching` with the same task, it finds experts and curves in the task's memory.
    """
    expert_key, curve_key, *_ = jax.random.split(key, 4)
    x, targets = jnp.asarray(task.x), task.targets
    task.progress.stage("geometry", 1)
    experts = train_experts(
        task.network, settings.expert, x, targets, key=expert_key, judge=task.judge, memory=task.memory
    )
    curves = fit_curves(
        task.network, settings.curve, experts.start, experts.end, x, targets, key=curve_key, memory=task.memory
    )

    count = min(GEOMETRY_CURVES, settings.expert.count)
    again = replace(settings.expert, count=count, block=count, epochs=experts.epochs, length="fixed")
    paths = train_experts(task.network, again, x, targets, key=expert_key, keep_path=True).path
    stride = max(1, len(x) // GEOMETRY_PATIENTS)
    few = Curve(*(part[:count] for part in curves))
    task.progress.advance()
    return measure(task.network, few, np.asarray(paths), x[::stride], targets[::stride])
