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
    ):
        self.n_classes = n_classes
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


def cross_entropy(logits: Array, targets: Array, weights: Array | None = None) -> Array:
    """Mean cross-entropy of logits against hard or soft targets.

    One logit z per row and targets q in [0, 1] (two classes), or C logits and C probabilities per row:
    ``-q log σ(z) - (1 - q) log(1 - σ(z))``, or ``-Σ_c q_c log softmax(z)_c``.

    >>> round(float(cross_entropy(jnp.zeros(4), jnp.array([0.0, 1.0, 0.5, 1.0]))), 3)
    0.693
    """
    if logits.ndim == 1:
        losses = jax.nn.softplus(logits) - targets * logits
    else:
        losses = -jnp.sum(targets * jax.nn.log_softmax(logits), axis=-1)
    if weights is None:
        return losses.mean()
    return jnp.sum(losses * weights) / weights.sum()


def as_targets(labels: ArrayLike, n_classes: int) -> Array:
    """Hard labels as training targets: 0.0/1.0 for two classes, one-hot rows for more.

    >>> as_targets(jnp.array([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    codes = jnp.asarray(labels)
    return codes.astype(float) if n_classes == 2 else jax.nn.one_hot(codes, n_classes)
