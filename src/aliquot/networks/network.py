"""A network seen from outside: a function of one flat parameter vector."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike


class Network:
    """All networks of one shape: ``logits(theta, x)`` with every trainable parameter in the vector ``theta``.

    ``build(key)`` returns an equinox module that maps a batch of inputs, and optionally ``key=`` for dropout,
    to logits of shape (rows, outputs); without a key dropout is off. Two classes have one output, C > 2 classes C.

    Instances compare by identity, so that compiled functions can take them as static arguments; use a cached
    factory such as :func:`aliquot.networks.mlp` to get the same instance for the same shape.
    """

    def __init__(
        self,
        build: Callable[[Array], eqx.Module],
        n_classes: int,
        with_outputs: Callable[[int], "Network"] | None = None,
        at_once: int | None = None,
    ):
        self.n_classes = n_classes
        self.at_once = at_once  # rows that pass together: as many as a processor's cache holds; None: the whole batch
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.with_outputs = with_outputs  # the same body with another number of outputs, for embeddings
        self._build = build
        self.description = str(eqx.filter_eval_shape(build, jax.random.key(0)))  # shapes and static parts
        parameters, self._static = eqx.partition(build(jax.random.key(0)), eqx.is_inexact_array)
        theta, self._unravel = ravel_pytree(parameters)
        self.n_parameters = theta.size

    def init(self, key: Array) -> Array:
        """Freshly drawn parameters, shape (n_parameters,)."""
        return ravel_pytree(eqx.filter(self._build(key), eqx.is_inexact_array))[0]

    def parameters(self, theta: Array) -> Any:
        """``theta``, or a gradient by it, as the tree of arrays that it flattens."""
        return self._unravel(theta)

    def module(self, theta: Array) -> eqx.Module:
        """The equinox module that has the parameters ``theta``."""
        return eqx.combine(self.parameters(theta), self._static)

    def logits(self, theta: Array, x: Array, key: Array | None = None) -> Array:
        """Logits of a batch: shape (rows,) for two classes, (rows, C) for C > 2. ``key`` switches dropout on."""
        z = self.module(theta)(x, key=key)  # pyright: ignore[reportCallIssue]
        return z[:, 0] if self.n_outputs == 1 else z

    @property
    def splits(self) -> bool:
        """Whether the module has ``enter(x)``, linear in x and in the parameters, and ``leave(a)`` for the rest."""
        return hasattr(self._static, "enter") and hasattr(self._static, "leave")

    def enter(self, theta: Array, x: Array) -> Array:
        """What the first layer gives, before anything that is not linear."""
        return self.module(theta).enter(x)  # pyright: ignore[reportAttributeAccessIssue]

    def leave(self, theta: Array, a: Array) -> Array:
        """Logits from what the first layer gives; dropout off."""
        z = self.module(theta).leave(a)  # pyright: ignore[reportAttributeAccessIssue]
        return z[:, 0] if self.n_outputs == 1 else z

    def features(self, theta: Array, x: Array) -> Array:
        """What the last layer sees, shape (rows, width); dropout off. The module must have ``features(x)``."""
        return self.module(theta).features(x)  # pyright: ignore[reportAttributeAccessIssue]

    def loss(self, theta: Array, x: Array, targets: Array, weights: Array | None = None, key: Array | None = None):
        """Mean cross-entropy of a batch; rows with weight 0 count nothing."""
        return cross_entropy(self.logits(theta, x, key), targets, weights)

    def gradient(self, theta: Array, x: Array, targets: Array, weights: Array, key: Array | None = None) -> Array:
        """Gradient of :meth:`loss` by ``theta``; of a large network the sum over pieces of the batch."""
        if self.at_once is None or len(x) <= self.at_once:
            return jax.grad(self.loss)(theta, x, targets, weights, key)
        share = weights / weights.sum()
        pieces = tuple(in_pieces(rows, self.at_once) for rows in (x, targets, share))
        keys = None if key is None else jax.random.split(key, len(pieces[0]))

        def part(theta, x, targets, share, key):
            return share @ row_losses(self.logits(theta, x, key), targets)

        return jax.lax.scan(
            lambda total, piece: (total + jax.grad(part)(theta, *piece), None), jnp.zeros_like(theta), (*pieces, keys)
        )[0]

    def predict(self, theta: Array, x: Array) -> Array:
        """Logits of any number of rows, dropout off; of a large network piece by piece."""
        if self.at_once is None or len(x) <= self.at_once:
            return self.logits(theta, x)
        logits = jax.lax.map(lambda piece: self.logits(theta, piece), in_pieces(x, self.at_once))
        return logits.reshape(-1, *logits.shape[2:])[: len(x)]


def in_pieces(x: Array, at_once: int) -> Array:
    """The rows as pieces (pieces, rows, …) of equal size, at most ``at_once``; zeros fill up the last.

    >>> in_pieces(jnp.arange(7), at_once=4)
    Array([[0, 1, 2, 3],
           [4, 5, 6, 0]], dtype=int32)
    """
    count = -(-len(x) // at_once)
    size = -(-len(x) // count)
    padding = [(0, count * size - len(x))] + [(0, 0)] * (x.ndim - 1)
    return jnp.pad(x, padding).reshape(count, size, *x.shape[1:])


def cross_entropy(logits: Array, targets: Array, weights: Array | None = None) -> Array:
    """Mean cross-entropy of logits against hard or soft targets; rows with weight 0 count nothing.

    >>> round(float(cross_entropy(jnp.zeros(4), jnp.array([0.0, 1.0, 0.5, 1.0]))), 3)
    0.693
    """
    losses = row_losses(logits, targets)
    return losses.mean() if weights is None else jnp.sum(losses * weights) / weights.sum()


def row_losses(logits: Array, targets: Array) -> Array:
    """Cross-entropy of each row's logits against its hard or soft target.

    One logit z per row and targets q in [0, 1] (two classes), or C logits and C probabilities per row:
    ``-q log σ(z) - (1 - q) log(1 - σ(z))``, or ``-Σ_c q_c log softmax(z)_c``.
    """
    if logits.ndim == 1:
        return jax.nn.softplus(logits) - targets * logits
    return -jnp.sum(targets * jax.nn.log_softmax(logits), axis=-1)


def as_targets(labels: ArrayLike, n_classes: int) -> Array:
    """Hard labels as training targets: 0.0/1.0 for two classes, one-hot rows for more.

    >>> as_targets(jnp.array([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    codes = jnp.asarray(labels)
    return codes.astype(float) if n_classes == 2 else jax.nn.one_hot(codes, n_classes)
