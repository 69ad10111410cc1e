"""GSAM: a gradient that looks for flat ground.

At parameters w with gradient g: step uphill to w + e, take the gradient g_p there, and remove from it a share α of what
of g is perpendicular to it:

    e    = ρ w²⊙g / ‖|w|⊙g‖     (adaptive),  or  ρ g / ‖g‖
    g_p  = ∇ℓ(w + e)            on the same batch, with the same dropout
    g_⊥  = g - ⟨g, g_p⟩ g_p / ‖g_p‖²
    step = g_p - α g_⊥

α = 0 is SAM, ρ = 0 is plain SGD. ρ follows the learning rate's schedule between ρ_max and ρ_min.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
from jax import Array

TINY = 1e-12


@dataclass(frozen=True, kw_only=True)
class GsamSettings:
    """How far uphill, and how much of the perpendicular part is removed; defaults are the reading of the paper."""

    rho: float = 1.0  # at the start, or throughout with a constant learning rate
    rho_min: float = 0.0  # where the learning rate has fallen to 0
    alpha: float = 0.4
    adaptive: bool = True  # uphill steps are scaled by each parameter's size


def gsam_gradient(
    gradient: Callable[[Array], Array], theta: Array, rho: Array | float, settings: GsamSettings
) -> Array:
    """The direction that GSAM feeds to SGD at ``theta``; ``gradient(theta)`` is that of one batch.

    >>> gsam_gradient(lambda w: 2 * w, jnp.array([1.0, 2.0]), 0.0, GsamSettings())
    Array([2., 4.], dtype=float32)
    """
    g = gradient(theta)
    scale = jnp.abs(theta) if settings.adaptive else jnp.ones_like(theta)
    uphill = rho * scale**2 * g / (jnp.linalg.norm(scale * g) + TINY)
    g_p = gradient(theta + uphill)
    return g_p - settings.alpha * perpendicular(g, g_p)


def perpendicular(g: Array, g_p: Array) -> Array:
    """The part of ``g`` that is perpendicular to ``g_p``."""
    return g - (g @ g_p) / (g_p @ g_p + TINY) * g_p
