"""Fitting the control point of each curve, so that the loss along the curve is low."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.context import Context, Progress
from aliquot.curves.bezier import Curve, bezier_point
from aliquot.identity import identity
from aliquot.networks import Network

SAMPLE_ROWS = 2048  # patients on whom the mean loss along the curves is looked at


@dataclass(frozen=True, kw_only=True)
class CurveSettings:
    """Stochastic gradient descent on the control point; defaults are the paper's."""

    steps: int = 300  # at most
    learning_rate: float = 0.01
    momentum: float = 0.0
    times: int = 2  # values of t per step, each with its own batch
    batch_size: int = 256
    check_every: int = 0  # steps between checks of the mean loss along the curves; 0: never stop early
    tolerance: float = 1e-3  # stop when a check shows less than this relative fall


def fit_curves(
    network: Network,
    settings: CurveSettings,
    lines: Curve,
    x: Array,
    targets: Array,
    *,
    key: Array,
    context: Context = Context(),
) -> Curve:
    """One curve per expert, between the ends (K, P) of its straight line, through a fitted control point.

    The control point begins at the midpoint and follows the gradient of the loss at random times,
    ``2 t (1 - t) ∇ℓ(θ(t))``. Ends never move. With ``check_every`` each check compares the mean loss along the
    curves on a fixed sample of patients; the fit stops when it no longer falls, and keeps the best control points.
    """
    context.progress.stage("curves", settings.steps)
    name = curves_name(settings, lines, key)
    kept = context.common.get(name)
    if kept is None:
        kept = {"control": np.asarray(_descend(network, settings, lines, x, targets, key, context.progress))}
        context.common.put(name, kept)
    return lines._replace(control=jnp.asarray(kept["control"]))


def curves_name(settings: CurveSettings, curves: Curve, key: Array) -> str:
    """The name under which fitted control points are kept: made of the curves' ends, the settings and the key."""
    return identity("curves", settings, curves.start, curves.end, key)


def _descend(network, settings, curves, x, targets, key, progress: Progress) -> Array:
    """Control points after descending in blocks of ``check_every`` steps; with checks, the best of each curve."""
    every = settings.check_every or settings.steps
    control, velocity = curves.control, jnp.zeros_like(curves.control)
    if not settings.check_every:
        control, _ = _fit_block(network, settings, curves, velocity, x, targets, key, 0, every)
        progress.advance(every)
        return control
    stride = max(1, len(x) // SAMPLE_ROWS)
    sample = x[::stride], targets[::stride]
    best, best_loss = control, path_loss(network, curves, *sample)
    for first in range(0, settings.steps, every):
        control, velocity = _fit_block(
            network, settings, curves._replace(control=control), velocity, x, targets, key, first, every
        )
        loss = path_loss(network, curves._replace(control=control), *sample)
        progress.advance(every, loss=float(loss.mean()))
        fall = 1 - float(jnp.minimum(loss, best_loss).mean() / best_loss.mean())
        better = loss < best_loss
        best, best_loss = jnp.where(better[:, None], control, best), jnp.where(better, loss, best_loss)
        if fall < settings.tolerance:
            break
    return best


@partial(jax.jit, static_argnames=("network", "settings", "steps"))
def _fit_block(network, settings, curves, velocity, x, targets, key, first, steps):
    def fit_one(curve, velocity, number):
        curve_key = jax.random.fold_in(key, number)

        def step(state, i):
            control, velocity = state
            gradient = control_gradient(
                network,
                settings,
                curve._replace(control=control),
                x,
                targets,
                jax.random.fold_in(curve_key, i),
            )
            velocity = settings.momentum * velocity + gradient
            return (control - settings.learning_rate * velocity, velocity), None

        return jax.lax.scan(step, (curve.control, velocity), first + jnp.arange(steps))[0]

    return jax.vmap(fit_one)(curves, velocity, jnp.arange(len(velocity)))


def control_gradient(network: Network, settings: CurveSettings, curve: Curve, x: Array, targets: Array, key: Array):
    """Gradient of the loss at random times with respect to the control point: the mean of 2t(1-t) ∇ℓ(θ(t))."""

    def loss(control):
        def at_random_time(key):
            time_key, batch_key = jax.random.split(key)
            t = jax.random.uniform(time_key)
            rows = jax.random.randint(batch_key, (settings.batch_size,), 0, len(x))
            return network.loss(bezier_point(curve._replace(control=control), t), x[rows], targets[rows])

        return jax.vmap(at_random_time)(jax.random.split(key, settings.times)).mean()

    return jax.grad(loss)(curve.control)


@partial(jax.jit, static_argnames=("network", "points"))
def path_loss(network: Network, curves: Curve, x: Array, targets: Array, points: int = 9) -> Array:
    """Mean loss at ``points`` inner times of each curve, shape (K,)."""
    times = jnp.linspace(0, 1, points + 2)[1:-1]

    def one(curve):
        return jax.lax.map(lambda t: network.loss(bezier_point(curve, t), x, targets), times).mean()

    return jax.vmap(one)(curves)
