"""Segments of the paths that SGD really took: checkpoints some epochs apart, or points of equal displacement."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.errors import SettingsError
from aliquot.matching.segments import SegmentSettings, draw_times


class Checkpoints:
    """Segments of SGD trajectories: the parameters after epoch a, and those ``epochs`` later.

    a is uniform in [first, U), where U grows from ``until`` to ``last`` over the first iterations (DATM); without a
    window it is uniform over the whole trajectory (MTT). Segments of hardly any displacement are left out: the
    matching loss divides by it.
    """

    def __init__(self, paths: Sequence[np.ndarray], settings: SegmentSettings):
        self._paths, self._settings = paths, settings
        self._epochs = min(settings.epochs, len(paths[0]) - 1)  # at most the whole trajectory
        self._starts = len(paths[0]) - self._epochs  # start epochs 0 … starts - 1 have a target
        lowest = settings.until or settings.last or self._starts
        if settings.first >= min(lowest, self._starts):
            raise SettingsError(
                f"asked for segments of {self._epochs} epochs that start at epoch {settings.first} or later, but the "
                f"trajectories have {len(paths[0]) - 1} epochs; use fewer segment.epochs, an earlier segment.first, or "
                "longer experts"
            )
        self.ends = np.asarray(as_parameters([path[-1] for path in paths]))
        self._far_enough = np.stack(
            [_far_enough(path, self._epochs, settings.shortest) for path in paths]
        )  # (K, starts)
        left_out = int((~self._far_enough[:, settings.first : self._window(1.0)]).sum())
        self.notes = (f"{left_out} trajectory segments with hardly any displacement were left out",) if left_out else ()

    def draw(self, keys: Array, done: np.ndarray) -> tuple[Array, Array]:
        """Two checkpoints of a trajectory per key."""
        starts, targets = [], []
        for (which, where), share in zip(_uniform_pairs(keys), done, strict=True):
            path = self._paths[int(which * len(self._paths))]
            window = self._allowed(int(which * len(self._paths)), share)
            epoch = window[int(where * len(window))]
            starts.append(path[epoch])
            targets.append(path[epoch + self._epochs])
        return as_parameters(starts), as_parameters(targets)

    def _allowed(self, number: int, done: float) -> np.ndarray:
        """Start epochs of a trajectory that may be drawn now; all of the window where it has only short segments."""
        window = np.arange(self._settings.first, self._window(done))
        far = window[self._far_enough[number, window]]
        return far if len(far) else window

    def _window(self, done: float) -> int:
        return upper_bound(self._settings, self._starts, done)


def upper_bound(settings: SegmentSettings, starts: int, done: float) -> int:
    """U, below which start epochs are drawn when a share ``done`` of the iterations is over; never beyond ``starts``.

    >>> grows = SegmentSettings(until=20, last=40, expansion=0.2)
    >>> [upper_bound(grows, 96, done) for done in (0.0, 0.1, 0.2, 0.9)], upper_bound(grows, 30, 0.9)
    ([20, 30, 40, 40], 30)
    """
    last = settings.last or starts
    until = min(settings.until or last, last)
    share = min(1.0, done / settings.expansion) if settings.expansion else 1.0
    grown = until + int((last - until) * share)
    return min(last, grown, starts)


def _far_enough(path: np.ndarray, epochs: int, shortest: float) -> np.ndarray:
    """Which start epochs have a target at a squared distance worth dividing by."""
    squared = np.array([distance(a, b) ** 2 for a, b in zip(path, path[epochs:], strict=False)])
    return squared > shortest * np.median(squared)


class EqualDisplacement:
    """Segments of SGD trajectories of equal displacement: an ablation between checkpoints and curves.

    A trajectory is walked at constant speed, in straight pieces from checkpoint to checkpoint; a segment takes the
    share ``length`` of its whole way and starts anywhere, as on a curve.
    """

    notes = ()

    def __init__(self, paths: Sequence[np.ndarray], settings: SegmentSettings):
        self._paths, self._settings = paths, settings
        self.ends = np.asarray(as_parameters([path[-1] for path in paths]))
        self._travelled = [travelled(path) for path in paths]

    def draw(self, keys: Array, done: np.ndarray) -> tuple[Array, Array]:
        """Two points of a trajectory per key."""
        times = np.asarray(_draw_times(self._settings, keys))
        starts, targets = [], []
        for (which, _), (begin, end) in zip(_uniform_pairs(keys), times, strict=True):
            number = int(which * len(self._paths))
            starts.append(self._at(number, begin))
            targets.append(self._at(number, end))
        return as_parameters(starts), as_parameters(targets)

    def _at(self, number: int, time: float) -> np.ndarray:
        way = self._travelled[number]
        place = np.interp(time, way, np.arange(len(way)))
        before = min(int(place), len(way) - 2)
        share = np.float32(place - before)
        a, b = (np.asarray(self._paths[number][epoch], np.float32) for epoch in (before, before + 1))
        return (1 - share) * a + share * b


def travelled(path: np.ndarray) -> np.ndarray:
    """The share of the whole way that lies behind each checkpoint, from 0 to 1.

    >>> travelled(np.array([[0.0], [3.0], [4.0]]))
    array([0.  , 0.75, 1.  ])
    """
    way = np.concatenate([[0.0], np.cumsum([distance(a, b) for a, b in pairwise(path)])])
    return way / way[-1]


def as_parameters(vectors: Sequence[np.ndarray]) -> Array:
    """Parameter vectors (n, P) to compute with, whatever they are kept as."""
    return jnp.asarray(np.stack(vectors), jnp.result_type(float))


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """‖b - a‖ in double precision, whatever the two are kept as."""
    return float(np.linalg.norm(np.asarray(b, np.float64) - np.asarray(a, np.float64)))


def _uniform_pairs(keys: Array) -> np.ndarray:
    return np.asarray(jax.vmap(lambda key: jax.random.uniform(key, (2,)))(keys))


@partial(jax.jit, static_argnames="settings")
def _draw_times(settings, keys):
    return jax.vmap(lambda key: jnp.stack(draw_times(settings, jax.random.fold_in(key, 1))))(keys)
