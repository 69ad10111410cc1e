"""What a curve is like: the loss along it, how bent it is, and how far it stays from the way SGD really took.

The last three are the quantities of the paper's theorem, measured rather than bounded.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from aliquot.curves.bezier import Curve, bend, bezier_point, curvature, straight
from aliquot.networks import Network


@dataclass(frozen=True)
class Geometry:
    """Figures of K curves against the straight line and the SGD path between the same ends."""

    epochs: int  # of the SGD paths
    times: np.ndarray  # (T,) in [0, 1]
    loss_curve: np.ndarray  # (K, T) loss along each of the three paths, at equal times
    loss_line: np.ndarray
    loss_sgd: np.ndarray
    bend: np.ndarray  # (K,) ‖control - midpoint‖ / ‖end - start‖
    curvature: np.ndarray  # (K,) κ = ‖θ''‖
    distance: np.ndarray  # (K, T) ‖curve(t) - SGD(t)‖ / ‖end - start‖
    prediction_gap: np.ndarray  # (K, T) mean |p_curve - p_SGD| over the patients shown
    plane_curve: np.ndarray  # (K, T, 2) the three paths seen in the plane of their first two principal components,
    plane_line: np.ndarray  # turned and scaled so that the straight line leads from (0, 0) to (1, 0)
    plane_sgd: np.ndarray
    plane_share: np.ndarray  # (K,) of the paths' variance that the plane shows


def measure(network: Network, curves: Curve, paths: ArrayLike, x: Array, targets: Array, points: int = 21) -> Geometry:
    """Geometry of curves (K, P) against the SGD paths (K, E + 1, P), on the patients shown.

    Time t on the SGD path is epoch t·E, with straight interpolation between two epochs.
    """
    times = jnp.linspace(0, 1, points)
    ways = jnp.asarray(paths)
    on_curve = jax.vmap(lambda t: bezier_point(curves, t), out_axes=1)(times)  # (K, T, P)
    on_line = jax.vmap(lambda t: bezier_point(straight(curves.start, curves.end), t), out_axes=1)(times)
    on_sgd = jax.vmap(lambda path: along(path, times))(ways)
    span = jnp.linalg.norm(curves.end - curves.start, axis=-1)[:, None]
    planes, shares = zip(*(in_plane(ways) for ways in np.stack([on_curve, on_line, on_sgd], axis=1)), strict=True)
    return Geometry(
        epochs=ways.shape[1] - 1,
        times=np.asarray(times),
        loss_curve=np.asarray(_losses(network, on_curve, x, targets)),
        loss_line=np.asarray(_losses(network, on_line, x, targets)),
        loss_sgd=np.asarray(_losses(network, on_sgd, x, targets)),
        bend=np.asarray(bend(curves)),
        curvature=np.asarray(curvature(curves)),
        distance=np.asarray(jnp.linalg.norm(on_curve - on_sgd, axis=-1) / span),
        prediction_gap=np.asarray(_gaps(network, on_curve, on_sgd, x)),
        plane_curve=np.stack(planes)[:, 0],
        plane_line=np.stack(planes)[:, 1],
        plane_sgd=np.stack(planes)[:, 2],
        plane_share=np.array(shares),
    )


def in_plane(ways: np.ndarray) -> tuple[np.ndarray, float]:
    """Ways (W, T, P) in the plane of their first two principal components (W, T, 2), and the share it shows.

    Turned and scaled so that the ends of the first way lie at (0, 0) and (1, 0), and that way above the other axis.

    >>> bent = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [2.0, 0.0, 0.0]])
    >>> in_plane(bent[None])[0].round(3).tolist()
    [[[0.0, 0.0], [0.5, 0.5], [1.0, 0.0]]]
    """
    points = np.asarray(ways, np.float64).reshape(-1, ways.shape[-1])
    centred = points - points.mean(axis=0)
    values, vectors = np.linalg.eigh(centred @ centred.T)  # few points in many dimensions
    places = (vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))) @ np.array([1, 1j])
    places = places.reshape(ways.shape[:2])
    begin, end = places[0, 0], places[0, -1]
    turned = (places - begin) / (end - begin if end != begin else 1)
    turned = turned.conj() if turned[0].imag.mean() < 0 else turned
    total = np.maximum(values, 0).sum()
    return np.stack([turned.real, turned.imag], axis=-1) + 0.0, float(np.maximum(values[-2:], 0).sum() / (total or 1))


def along(path: Array, times: Array) -> Array:
    """Points (T, P) of a path (E + 1, P) at times in [0, 1].

    >>> along(jnp.array([[0.0], [1.0], [4.0]]), jnp.array([0.0, 0.75, 1.0]))[:, 0]
    Array([0. , 2.5, 4. ], dtype=float32)
    """
    place = times * (len(path) - 1)
    before = jnp.clip(place.astype(int), 0, len(path) - 2)
    share = (place - before)[:, None]
    return (1 - share) * path[before] + share * path[before + 1]


@partial(jax.jit, static_argnames="network")
def _losses(network, points, x, targets):
    return jax.lax.map(lambda way: jax.lax.map(lambda theta: network.loss(theta, x, targets), way), points)


@partial(jax.jit, static_argnames="network")
def _gaps(network, one, other, x):
    def gap(pair):
        a, b = (_probabilities(network.logits(theta, x)) for theta in pair)
        return jnp.abs(a - b).mean()

    return jax.lax.map(lambda pair: jax.lax.map(gap, pair), (one, other))


def _probabilities(logits: Array) -> Array:
    return jax.nn.sigmoid(logits) if logits.ndim == 1 else jax.nn.softmax(logits)
