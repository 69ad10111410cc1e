"""Segments: from where the student starts, and to where it must get.

The segments of many iterations are drawn at once, on the host: the compiled loop sees pairs of parameter vectors
and knows nothing of where they come from, and trajectories on disk need not fit into memory.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.curves import Curve, bezier_point


@dataclass(frozen=True, kw_only=True)
class SegmentSettings:
    """How a piece of a curve or of a trajectory is drawn; defaults are the paper's."""

    kind: Literal["fixed", "pair", "end"] = "fixed"  # how the two times on a curve are drawn: see draw_times
    length: float = 0.2  # of a curve, in [0, 1]
    minimum_gap: float = 0.05  # of "pair" and "end": shorter segments have hardly any displacement to match
    epochs: int = 5  # of a trajectory: from start to target (M)
    first: int = 0  # earliest start epoch (DATM's T⁻)
    until: int = 0  # start epochs are below this in the beginning (DATM's T); 0: as `last`
    last: int = 0  # … and below this in the end (DATM's T⁺); 0: the whole trajectory
    expansion: float = 0.2  # share of all iterations after which `until` has grown to `last`
    shortest: float = 1e-3  # segments are left out whose D is below this share of their trajectory's median


class Segments(Protocol):
    """Draws segments of curves or trajectories."""

    ends: np.ndarray  # (K, P) the experts' last parameters
    notes: tuple[str, ...]  # what a user should know

    def draw(self, keys: Array, done: np.ndarray) -> tuple[Array, Array]:
        """Starts and targets (n, P), one segment per key; ``done`` (n,) in [0, 1) says how far the search is."""
        ...


class Curves:
    """Segments of curves, or of straight lines: two times on one of the K curves, drawn uniformly."""

    notes = ()

    def __init__(self, curves: Curve, settings: SegmentSettings):
        self._curves, self._settings = curves, settings
        self.ends = np.asarray(curves.end)

    def draw(self, keys: Array, done: np.ndarray) -> tuple[Array, Array]:
        """Two points of a curve per key; how far the search is does not matter."""
        return _draw_on_curves(self._curves, self._settings, keys)


@partial(jax.jit, static_argnames="settings")
def _draw_on_curves(curves, settings, keys):
    return jax.vmap(lambda key: draw_segment(curves, settings, key))(keys)


def draw_segment(curves: Curve, settings: SegmentSettings, key: Array) -> tuple[Array, Array]:
    """Start and target parameters: two times on one of the K curves, drawn uniformly."""
    curve_key, time_key = jax.random.split(key)
    number = jax.random.randint(curve_key, (), 0, len(curves.start))
    curve = Curve(*(part[number] for part in curves))
    begin, end = draw_times(settings, time_key)
    return bezier_point(curve, begin), bezier_point(curve, end)


def draw_times(settings: SegmentSettings, key: Array) -> tuple[Array, Array]:
    """The two times 0 ≤ begin < end ≤ 1 of a segment.

    =========  ======================================================================================
    kind       begin and end
    =========  ======================================================================================
    ``fixed``  ``length`` apart, begin uniform
    ``pair``   uniform among all ordered pairs at least ``minimum_gap`` apart
    ``end``    begin uniform and at least ``minimum_gap`` before the end of the curve, which is the end
    =========  ======================================================================================
    """
    gap = settings.minimum_gap
    if settings.kind == "pair":
        begin, end = jnp.sort(jax.random.uniform(key, (2,), maxval=1 - gap))
        return begin, end + gap
    if settings.kind == "end":
        return jax.random.uniform(key, maxval=1 - gap), jnp.ones(())
    begin = jax.random.uniform(key, maxval=1 - settings.length)
    return begin, begin + settings.length
