"""What the curves of a run are like, against the ways that their experts took."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.context import Context
from aliquot.curves import Curve, Geometry, bezier_point, measure, straight
from aliquot.experts import Experts
from aliquot.methods.method import MethodKeys
from aliquot.methods.settings import MethodSettings
from aliquot.methods.task import Task
from aliquot.methods.trajectory import curves_of, experts_of

GEOMETRY_CURVES = 3
GEOMETRY_PATIENTS = {2: 2048, 3: 256}  # of tables and of series, which take far longer


@dataclass(frozen=True)
class ExpertPaths:
    """Experts, the curves between their ends, and what the first few of both are like."""

    experts: Experts
    curves: Curve
    curves_name: str  # under which the curves are kept
    geometry: Geometry
    paths: Sequence[np.ndarray]  # (E + 1, P) of the experts that were measured


def curve_geometry(task: Task, settings: MethodSettings, *, key: jax.Array) -> Geometry | None:
    """The first few curves against the paths that their experts took, on a sample of the patients.

    Called after the method with the same task, it finds experts and curves in the task's store. None where the method
    does not follow fitted curves.
    """
    return expert_paths(task, settings, key=key).geometry if settings.slots.path == "bezier" else None


def expert_paths(task: Task, settings: MethodSettings, *, key: jax.Array, count: int = GEOMETRY_CURVES) -> ExpertPaths:
    """Experts and curves as a trajectory method with this key has them, and the geometry of the first ``count``."""
    keys = MethodKeys.of(key)
    x, targets = jnp.asarray(task.x), task.targets
    task.context.progress.stage("geometry", 1)
    quiet = replace(task, context=task.context.quiet())
    experts = experts_of(quiet, settings, key=keys.expert)
    curves, name = curves_of(quiet, settings, experts, key=keys.curve)
    paths = experts.paths[:count] or _paths(quiet, settings, experts.epochs, keys.expert, count)
    few = Curve(*(part[: len(paths)] for part in curves))
    stride = max(1, len(x) // GEOMETRY_PATIENTS[x.ndim])
    task.context.progress.advance()
    geometry = measure(task.network, few, np.stack(paths).astype(np.float32), x[::stride], targets[::stride])
    return ExpertPaths(experts, curves, name, geometry, paths)


def _paths(task: Task, settings: MethodSettings, epochs: int, key: jax.Array, count: int) -> Sequence[np.ndarray]:
    """The ways of the first few experts: those of the pilots are in the store, others are trained once more."""
    expert = settings.expert
    count = min(count, expert.count)
    if expert.length == "tuning" and expert.schedule == "constant":
        few = replace(expert, count=min(expert.pilots, expert.count))
    else:
        few = replace(expert, count=count, block=count, epochs=epochs, length="fixed")
        task = replace(task, context=Context(judge=task.context.judge))
    return experts_of(task, replace(settings, expert=few), key=key, keep_paths=True).paths[:count]


def in_a_plane(path: np.ndarray, curve: Curve, points: int = 50) -> dict[str, np.ndarray]:
    """One expert's path, straight line and curve in the plane of the first two principal components of all points.

    >>> curve = Curve(jnp.zeros(3), jnp.array([1.0, 1.0, 0.0]), jnp.array([2.0, 0.0, 0.0]))
    >>> flat = in_a_plane(np.zeros((4, 3)), curve, points=6)
    >>> {name: part.shape for name, part in flat.items()}
    {'sgd': (4, 2), 'linear': (6, 2), 'bezier': (6, 2)}
    """
    times = np.linspace(0, 1, points)
    ways = {
        "sgd": np.asarray(path, np.float32),
        "linear": np.stack([bezier_point(straight(curve.start, curve.end), t) for t in times]),
        "bezier": np.stack([bezier_point(curve, t) for t in times]),
    }
    everything = np.concatenate(list(ways.values()))
    centre = everything.mean(axis=0)
    _, _, axes = np.linalg.svd(everything - centre, full_matrices=False)
    return {name: (part - centre) @ axes[:2].T for name, part in ways.items()}
