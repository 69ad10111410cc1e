"""Quadratic Bézier curves through parameter space."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array


class Curve(NamedTuple):
    """θ(t) = (1-t)² start + 2t(1-t) control + t² end; arrays (P,), or (K, P) for K curves."""

    start: Array
    control: Array
    end: Array


def bezier_point(curve: Curve, t: Array | float) -> Array:
    """Parameters at time ``t`` in [0, 1]; the curve starts at ``start`` and stops at ``end``.

    >>> line = straight(jnp.zeros(2), jnp.ones(2))
    >>> bezier_point(line, 0.25)
    Array([0.25, 0.25], dtype=float32)
    """
    start, control, end = curve
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end


def straight(start: Array, end: Array) -> Curve:
    """The straight line from start to end at constant speed: a curve whose control point is the midpoint."""
    return Curve(start, (start + end) / 2, end)


def curvature(curve: Curve) -> Array:
    """κ = ‖θ''‖ = 2 ‖start - 2 control + end‖, the same all along a quadratic curve; 0 for a straight line."""
    start, control, end = curve
    return 2 * jnp.linalg.norm(start - 2 * control + end, axis=-1)


def bend(curve: Curve) -> Array:
    """‖control - midpoint‖ / ‖end - start‖: how far the fit has left the straight line."""
    start, control, end = curve
    away = jnp.linalg.norm(control - (start + end) / 2, axis=-1)
    return away / jnp.linalg.norm(end - start, axis=-1)
