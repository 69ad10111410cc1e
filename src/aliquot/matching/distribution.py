"""Distribution matching: rows of a class should look to random networks like the patients of that class.

With features S of the rows and R of the patients, under a network that is never trained, and a kernel K the loss is
the squared maximum mean discrepancy (biased: the diagonals are included)

    MMD²(S, R) = mean K(S, S) - 2 mean K(S, R) + mean K(R, R).

No experts, no inner loop. M3D and DM are two choices of the settings.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.typing import ArrayLike

from aliquot.context import Context
from aliquot.errors import SettingsError
from aliquot.matching.classwise import Patients, State, Step, class_batches, descend, in_class_order, match_classes
from aliquot.matching.history import Condensed
from aliquot.matching.rows import Rows
from aliquot.networks import Network


@dataclass(frozen=True, kw_only=True)
class DistributionSettings:
    """Features, kernel and steps of distribution matching; defaults are M3D's."""

    iterations: int = 10_000
    kernel: Literal["gaussian", "linear", "polynomial", "laplace"] = "gaussian"
    features: Literal["output", "penultimate"] = "output"  # what the network's last layer gives, or what it sees
    width: int = 62  # of "output": outputs of the embedding network
    real_batch: int = 128  # patients of each class per iteration
    network_every: int = 5  # iterations between two fresh random networks
    step: Literal["class", "sum"] = "class"  # one step per class, or one on the sum over classes
    data_lr: float = 0.3  # the paper gives none; on SUPPORT2 0.03 to 1 learn alike, and 10 is too large
    scale_lr: bool = True  # times rows per class: the mean over rows divides each row's gradient by their number
    data_momentum: float = 0.5
    judge_every: int = 100  # iterations between two evaluations on the tuning part


def match_distributions(
    network: Network,
    settings: DistributionSettings,
    x: ArrayLike,
    labels: ArrayLike,
    start: Rows,
    *,
    key: Array,
    context: Context,
) -> Condensed:
    """Learn rows, from ``start``, whose features are distributed as those of the patients ``x``, class by class."""
    if settings.features == "output" and network.with_outputs is None:
        raise SettingsError(
            "asked to match distributions of the network's outputs, but this network cannot be given another number "
            "of outputs; set features to penultimate"
        )
    optimiser = _optimiser(settings, len(start.x) // network.n_classes)
    patients = in_class_order(x, labels, network.n_classes)
    return match_classes(Step(_iterate, optimiser), network, settings, patients, start, key=key, context=context)


def _iterate(network: Network, settings: DistributionSettings, patients: Patients, state: State, key, number):
    """One iteration: a random network, a batch of patients of each class, one step per class or on the sum."""
    network_key, batch_key = jax.random.split(key)
    embed = _random_embedding(network, settings, jax.random.fold_in(network_key, number // settings.network_every))
    real = class_batches(patients, settings.real_batch, jax.random.fold_in(batch_key, number))
    optimiser = _optimiser(settings, state.x.shape[1])

    def loss_of(x, classes):
        return sum(mmd(embed(x[c]), embed(real[c]), settings.kernel) for c in classes)

    everyone = range(network.n_classes)
    total = jnp.zeros((), state.x.dtype)
    for classes in [[c] for c in everyone] if settings.step == "class" else [everyone]:
        loss, gradient = jax.value_and_grad(loss_of)(state.x, classes)
        state, total = descend(optimiser, state, gradient), total + loss
    return state, total


def _optimiser(settings: DistributionSettings, rows_per_class: int) -> optax.GradientTransformation:
    scale = rows_per_class if settings.scale_lr else 1
    return optax.sgd(scale * settings.data_lr, settings.data_momentum)


def _random_embedding(network: Network, settings: DistributionSettings, key: Array) -> Callable[[Array], Array]:
    """Features (rows, width) under a freshly drawn network; dropout is off."""
    if settings.features == "penultimate":
        theta = network.init(key)
        return lambda x: network.features(theta, x)
    wide = network.with_outputs(settings.width)  # pyright: ignore[reportOptionalCall]
    theta = wide.init(key)
    return lambda x: wide.logits(theta, x).reshape(len(x), -1)


def mmd(s: Array, r: Array, kernel: str) -> Array:
    """Squared maximum mean discrepancy of two sets of features, (n, width) and (m, width).

    ==============  ==============================================================================================
    ``gaussian``    Σ_m exp(-‖z - z'‖² / (m b)), m in {¼, ½, 1, 2, 4}; b, the mean squared distance between two
                    members of both sets together, is a constant for the gradient
    ``laplace``     Σ_γ exp(-γ ‖z - z'‖²), γ in {0.1, 1, 5}: named so in the official code
    ``polynomial``  (z·z' + 1)²: compares means and second moments
    ``linear``      z·z': compares means, MMD² = ‖mean s - mean r‖²
    ==============  ==============================================================================================

    Guarantees: 0 for equal sets and symmetric, up to rounding.

    >>> mmd(jnp.array([[0.0], [2.0]]), jnp.array([[4.0]]), "linear")
    Array(9., dtype=float32)
    """
    if kernel == "linear":
        return jnp.sum((s.mean(axis=0) - r.mean(axis=0)) ** 2)
    b = _bandwidth(jnp.concatenate([s, r]))

    def mean(a, c):
        return _KERNELS[kernel](a, c, b).mean()

    return mean(s, s) - 2 * mean(s, r) + mean(r, r)


def _bandwidth(z: Array) -> Array:
    """Mean squared distance between two members of a set, without gradient; above 0 even if all are equal.

    Σ_ij ‖z_i - z_j‖² / (n² - n) = 2 Σ_i ‖z_i - mean z‖² / (n - 1).
    """
    b = 2 * jnp.sum((z - z.mean(axis=0)) ** 2) / (len(z) - 1)
    return jax.lax.stop_gradient(jnp.maximum(b, jnp.finfo(z.dtype).tiny))


def _gaussian(a: Array, c: Array, b: Array) -> Array:
    distances = squared_distances(a, c) / b
    return sum((jnp.exp(-distances / m) for m in (0.25, 0.5, 1, 2, 4)), jnp.zeros(()))


def _laplace(a: Array, c: Array, _: Array) -> Array:
    distances = squared_distances(a, c)
    return sum((jnp.exp(-gamma * distances) for gamma in (0.1, 1, 5)), jnp.zeros(()))


def _polynomial(a: Array, c: Array, _: Array) -> Array:
    return (a @ c.T + 1) ** 2


_KERNELS = {"gaussian": _gaussian, "laplace": _laplace, "polynomial": _polynomial}


def squared_distances(a: Array, c: Array) -> Array:
    """‖a_i - c_j‖² of all pairs, never negative; near enough in single precision because both are shifted to 0 first.

    >>> squared_distances(jnp.array([[1000.0, 0.0]]), jnp.array([[1001.0, 1.0], [1000.0, 2.0]])).tolist()
    [[2.0, 4.0]]
    """
    shift = jax.lax.stop_gradient(c.mean(axis=0))  # distances do not see it, nor does their gradient
    a, c = a - shift, c - shift
    squares = jnp.sum(a**2, axis=1)[:, None] + jnp.sum(c**2, axis=1)
    return jnp.maximum(squares - 2 * a @ c.T, 0)
