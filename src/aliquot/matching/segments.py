"""Segments: from where the student starts, and to where it must get."""

from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
from jax import Array

from aliquot.curves import Curve, bezier_point


@dataclass(frozen=True, kw_only=True)
class SegmentSettings:
    """How a piece of a curve is drawn; defaults are the paper's appendix."""

    kind: Literal["fixed", "pair"] = "fixed"  # "fixed": `length`, start uniform; "pair": two ordered uniform times
    length: float = 0.2
    minimum_gap: float = 0.05  # of "pair": shorter segments have hardly any displacement to match


def draw_segment(curves: Curve, settings: SegmentSettings, key: Array) -> tuple[Array, Array]:
    """Start and target parameters: two times on one of the K curves, drawn uniformly."""
    curve_key, time_key = jax.random.split(key)
    number = jax.random.randint(curve_key, (), 0, len(curves.start))
    curve = Curve(*(part[number] for part in curves))
    begin, end = draw_times(settings, time_key)
    return bezier_point(curve, begin), bezier_point(curve, end)


def draw_times(settings: SegmentSettings, key: Array) -> tuple[Array, Array]:
    """The two times 0 ≤ begin < end ≤ 1 of a segment.

    A pair is uniform among all ordered pairs at least ``minimum_gap`` apart.
    """
    if settings.kind == "pair":
        gap = settings.minimum_gap
        begin, end = jnp.sort(jax.random.uniform(key, (2,), maxval=1 - gap))
        return begin, end + gap
    begin = jax.random.uniform(key, maxval=1 - settings.length)
    return begin, begin + settings.length
