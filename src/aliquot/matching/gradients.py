"""Gradient matching: rows of a class should pull a network in the direction in which its patients pull it.

With g_r = ∇_θ of the loss on patients of class c and g_s = ∇_θ of the loss on its rows, both cut into one row per
output unit of each weight matrix, the loss is

    D = Σ_classes Σ_matrices Σ_units 1 - ⟨g_r, g_s⟩ / (‖g_r‖ ‖g_s‖ + ε).

The rows take one step down D, the network is trained on them for some epochs, and so on; then a new network is drawn.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.typing import ArrayLike

from aliquot.context import Context
from aliquot.matching.classwise import Patients, State, Step, class_batches, descend, in_class_order, match_classes
from aliquot.matching.history import Condensed
from aliquot.matching.rows import Rows
from aliquot.networks import Network, as_targets, shuffled_batches

EPSILON = 1e-6
LOOPS = {1: (1, 1), 10: (10, 50), 20: (20, 25), 30: (30, 20), 40: (40, 15), 50: (50, 10)}


@dataclass(frozen=True, kw_only=True)
class GradientSettings:
    """One network's life and how many networks there are; defaults are the paper's."""

    iterations: int = 1000  # networks
    outer_steps: int = 0  # steps of the rows per network; 0: by rows per class, see `loops`
    inner_epochs: int = 0  # the network's training between two of them; 0: by rows per class
    real_batch: int = 256  # patients of each class per step of the rows
    data_lr: float = 0.1
    data_momentum: float = 0.5
    network_lr: float = 0.01
    network_batch: int = 256  # rows per step of the network
    judge_every: int = 10  # iterations between two evaluations on the tuning part


def match_gradients(
    network: Network,
    settings: GradientSettings,
    x: ArrayLike,
    labels: ArrayLike,
    start: Rows,
    *,
    key: Array,
    context: Context,
) -> Condensed:
    """Learn rows, from ``start``, on which networks have the gradients that they have on the patients ``x``."""
    patients = in_class_order(x, labels, network.n_classes)
    return match_classes(
        Step(_iterate, _optimiser(settings)), network, settings, patients, start, key=key, context=context
    )


def _iterate(network: Network, settings: GradientSettings, patients: Patients, state: State, key, number):
    """The life of one random network: the rows take a step, the network is trained on them, in turn."""
    network_key, step_key = jax.random.split(jax.random.fold_in(key, number))
    outer, inner = loops(settings, state.x.shape[1])

    def step(carried, number):
        state, theta = carried
        batch_key, train_key = jax.random.split(jax.random.fold_in(step_key, number))
        epochs = jnp.where(number == 0, 0, inner)  # the first step sees the network as it was drawn
        theta = _train(network, settings, theta, state.x, epochs, train_key)
        real = class_batches(patients, settings.real_batch, batch_key)
        loss, gradient = jax.value_and_grad(_loss, argnums=2)(network, theta, state.x, real)
        return (descend(_optimiser(settings), state, gradient), theta), loss

    (state, _), losses = jax.lax.scan(step, (state, network.init(network_key)), jnp.arange(outer))
    return state, losses.mean()


def _optimiser(settings: GradientSettings) -> optax.GradientTransformation:
    return optax.sgd(settings.data_lr, settings.data_momentum)


def loops(settings: GradientSettings, rows_per_class: int) -> tuple[int, int]:
    """Steps of the rows per network, and epochs of the network between them.

    The official code has a table; numbers of rows that are not in it take the entry below.

    >>> loops(GradientSettings(), 25), loops(GradientSettings(inner_epochs=3), 500)
    ((20, 25), (50, 3))
    """
    outer, inner = LOOPS[max(rows for rows in LOOPS if rows <= rows_per_class)]
    return settings.outer_steps or outer, settings.inner_epochs or inner


def _train(network: Network, settings: GradientSettings, theta: Array, x: Array, epochs, key: Array) -> Array:
    """Parameters after plain gradient steps on the rows, dropout off."""
    rows = x.reshape(-1, *x.shape[2:])
    targets = as_targets(jnp.repeat(jnp.arange(len(x)), x.shape[1]), network.n_classes)

    def step(theta, batch):
        weights = (batch < len(rows)).astype(rows.dtype)
        gradient = jax.grad(network.loss)(theta, rows[batch], targets[batch], weights)
        return theta - settings.network_lr * gradient, None

    def epoch(number, theta):
        batches = shuffled_batches(jax.random.fold_in(key, number), len(rows), settings.network_batch)
        return jax.lax.scan(step, theta, batches)[0]

    return jax.lax.fori_loop(0, epochs, epoch, theta)


def _loss(network: Network, theta: Array, x: Array, real: Array) -> Array:
    """Distance of the gradients on rows (C, rows, …) and on patients (C, batch, …), summed over classes."""

    def gradient(c, inputs):
        targets = as_targets(jnp.full(len(inputs), c), network.n_classes)
        return jax.grad(network.loss)(theta, inputs, targets)

    classes = range(network.n_classes)
    return sum((gradient_distance(network, gradient(c, x[c]), gradient(c, real[c])) for c in classes), jnp.zeros(()))


def gradient_distance(network: Network, g_s: Array, g_r: Array) -> Array:
    """Σ over weight matrices and their output units of 1 - cos; between 0 and twice the number of units.

    Biases and other single numbers per unit count nothing. A unit without any gradient, such as a ReLU that no row
    reaches, counts 1 and has no slope.
    """
    pairs = zip(unit_rows(network, g_s), unit_rows(network, g_r), strict=True)
    return sum((jnp.sum(1 - _cosine(s, r)) for s, r in pairs), jnp.zeros(()))


def unit_rows(network: Network, gradient: Array) -> list[Array]:
    """A flat gradient as one array (output units, inputs) per weight matrix; kernels of convolutions are flattened."""
    leaves = jax.tree.leaves(network.parameters(gradient))
    matrices = [leaf for leaf in leaves if leaf.ndim > 1 and leaf.size > len(leaf)]  # (units, 1) is a bias
    return [leaf.reshape(len(leaf), -1) for leaf in matrices]


def _cosine(a: Array, b: Array) -> Array:
    return jnp.sum(a * b, axis=1) / (_norm(a) * _norm(b) + EPSILON)


def _norm(a: Array) -> Array:
    """Length of each row; its derivative at 0 is 0."""
    squares = jnp.sum(a**2, axis=1)
    return jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1)), 0)
