"""What the curves of a run are like, against the ways that their experts took."""

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.curves import Curve, Geometry, fit_curves, measure
from aliquot.hooks import Forgetting, Silence
from aliquot.methods.settings import MethodSettings
from aliquot.methods.task import Task
from aliquot.methods.trajectory import experts_of

GEOMETRY_CURVES = 3
GEOMETRY_PATIENTS = {2: 2048, 3: 256}  # of tables and of series, which take far longer


def curve_geometry(task: Task, settings: MethodSettings, *, key: jax.Array) -> Geometry | None:
    """The first few curves against the paths that their experts took, on a sample of the patients.

    Called after the method with the same task, it finds experts and curves in the task's memory. None where the method
    does not follow fitted curves.
    """
    if settings.slots.path != "bezier":
        return None
    expert_key, curve_key, *_ = jax.random.split(key, 4)
    x, targets = jnp.asarray(task.x), task.targets
    task.progress.stage("geometry", 1)
    quiet = replace(task, progress=Silence())
    experts = experts_of(quiet, settings, key=expert_key)
    curves = fit_curves(
        task.network, settings.curve, experts.start, experts.end, x, targets, key=curve_key, memory=task.common
    )

    paths = _paths(quiet, settings, experts.epochs, expert_key)
    count = len(paths)
    stride = max(1, len(x) // GEOMETRY_PATIENTS[x.ndim])
    task.progress.advance()
    curves = Curve(*(part[:count] for part in curves))
    return measure(task.network, curves, np.stack(paths), x[::stride], targets[::stride])


def _paths(task: Task, settings: MethodSettings, epochs: int, key: jax.Array) -> Sequence[np.ndarray]:
    """The ways of the first few experts: those of the pilots are in the memory, others are trained once more."""
    expert = settings.expert
    count = min(GEOMETRY_CURVES, expert.count)
    if expert.length == "tuning" and expert.schedule == "constant":
        few = replace(expert, count=min(expert.pilots, expert.count))
    else:
        few = replace(expert, count=count, block=count, epochs=epochs, length="fixed")
        task = replace(task, memory=Forgetting(), shared=None)
    return experts_of(task, replace(settings, expert=few), key=key, keep_paths=True).paths[:count]
