"""Rows moved to the nearest valid record.

The loop lets students train on the projected rows and moves the free ones along the gradient that it finds there: the
gradient passes unchanged (straight-through).
"""

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from aliquot.cohort.valid import ValidRows

jax.tree_util.register_dataclass(ValidRows)


def project(valid: ValidRows, z: Array) -> Array:
    """Valid rows near ``z``, which has the shape (…, F), or (…, T, F) for series.

    ==========================  ============================================================================
    feature                     result
    ==========================  ============================================================================
    number                      within the range of rows, rounded to the source's decimals in its units
    yes/no, flag of a gap       1 above one half, else 0
    levels of a column          1 for the largest, the first of equal ones; never the rare level
    number or yes/no in a gap   median or mode, as the encoder has it
    number below or above       the bound, where its flag is set; of several flags the first counts
    channel not measured        its last measured value before; before the first, the median
    what does not change        the result for its mean over time, at every step
    ==========================  ============================================================================

    Guarantees: a valid row changes by no more than rounding errors.
    """
    if valid.constant is not None:
        z = jnp.where(valid.constant, z.mean(axis=-2, keepdims=True), z)
    hard = _with_levels(valid, z, jnp.where(valid.log, _on_log_grid(valid, z), _on_grid(valid, z)))
    hard = _in_gaps(valid, hard)
    return hard if valid.measured is None else _carried_forward(valid.measured, valid.fill[0], hard)


def _on_grid(valid: ValidRows, z: Array) -> Array:
    low, high, origin, step = (jnp.asarray(v, z.dtype) for v in (valid.low, valid.high, valid.origin, valid.step))
    return jnp.clip(origin + step * jnp.round((z - origin) / step), low, high)


def _on_log_grid(valid: ValidRows, z: Array) -> Array:
    """Scores of rounded numbers; the formulas are those of ``NumberCode``."""
    low, high, step, centre, scale = (
        jnp.asarray(v, z.dtype) for v in (valid.low, valid.high, valid.step, valid.centre, valid.scale)
    )
    logs = jnp.clip(jnp.where(valid.log, z, 0), low, high) * scale + centre
    numbers = step * jnp.round(jnp.sign(logs) * jnp.expm1(jnp.abs(logs)) / step)
    return jnp.clip((jnp.sign(numbers) * jnp.log1p(jnp.abs(numbers)) - centre) / scale, low, high)


def _with_levels(valid: ValidRows, z: Array, hard: Array) -> Array:
    """One level per group: its largest entry is 1, the others 0."""
    if not valid.levels.size:
        return hard
    one = _one_of_each(valid, z[..., valid.levels].argmax(axis=-1), z.shape[-1])
    return jnp.where(valid.group >= 0, one.astype(z.dtype), hard)


def _in_gaps(valid: ValidRows, hard: Array) -> Array:
    """Features that others say are gaps or bounds have the values of these."""
    filled = hard
    for place in reversed(range(len(valid.gap))):
        gap, fill = jnp.asarray(valid.gap)[place], jnp.asarray(valid.fill, hard.dtype)[place]
        filled = jnp.where((gap >= 0) & (hard[..., gap] > 0.5), fill, filled)
    return filled


def _one_of_each(valid: ValidRows, places: Array, n_features: int) -> Array:
    """Whether each of F features is the one of its group; ``places`` (…, G) are places among the group's levels."""
    chosen = jnp.asarray(valid.levels)[jnp.arange(len(valid.levels)), places]  # (…, G) features
    return chosen[..., valid.group] == jnp.arange(n_features)


def _carried_forward(measured: ArrayLike, fill: ArrayLike, hard: Array) -> Array:
    """Series (…, T, F) with gaps filled by the last measured value before, else with the median."""
    flags, steps = jnp.asarray(measured), jnp.arange(hard.shape[-2])[:, None]
    seen = (flags < 0) | (hard[..., flags] > 0.5)
    last = jax.lax.cummax(jnp.where(seen, steps, -1), axis=hard.ndim - 2)
    before = jnp.take_along_axis(hard, jnp.maximum(last, 0), axis=-2)
    return jnp.where(last < 0, jnp.asarray(fill, hard.dtype), before)
