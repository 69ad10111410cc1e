"""A network that the user brings."""

from collections.abc import Callable
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from aliquot.errors import SettingsError
from aliquot.networks.network import Network

Build = Callable[[tuple[int, ...], int, Array], eqx.Module]  # (shape of one row, outputs, key) → module


@cache
def own_network(build: Build, shape: tuple[int, ...], n_classes: int) -> Network:
    """The network that ``build(shape, outputs, key)`` makes, an equinox module, for rows of a shape.

    The module maps a batch (rows, *shape) to logits (rows, outputs): one output for two classes, C for C > 2. It is
    called with ``key=`` for dropout, or ``key=None`` for none. All its arrays of numbers are trained and matched.
    A module with ``features(x)`` can be used by M3D and DM; one with ``enter(x)`` and ``leave(a)``, as
    :class:`aliquot.networks.MLP` has them, needs half of the products in the meta-gradient.

    >>> class Linear(eqx.Module):
    ...     layer: eqx.nn.Linear
    ...
    ...     def __call__(self, x, *, key=None):
    ...         return jax.vmap(self.layer)(x)
    >>> def build(shape, outputs, key):
    ...     return Linear(eqx.nn.Linear(shape[0], outputs, key=key))
    >>> own_network(build, (27,), 2).n_parameters
    28
    """
    outputs = 1 if n_classes == 2 else n_classes
    network = Network(lambda key: build(shape, outputs, key), n_classes)
    _check(network, shape, (3, outputs))
    return network


def _check(network: Network, shape: tuple[int, ...], expected: tuple[int, int]) -> None:
    """Try the module's shapes on three rows, without computing anything."""
    start = jax.eval_shape(network.init, jax.random.key(0))
    try:
        logits = jax.eval_shape(
            lambda theta, x: network.module(theta)(x, key=None),  # pyright: ignore[reportCallIssue]
            start,
            jax.ShapeDtypeStruct((expected[0], *shape), jnp.float32),
        )
        found = f"made an array of shape {logits.shape}"
    except (TypeError, ValueError) as error:  # of shapes and arguments; no patient has been seen yet
        logits, found = None, f"failed: {error}"
    if logits is None or logits.shape != expected:
        raise SettingsError(
            f"asked to train your own network: module(rows, key=None) on {expected[0]} rows of shape {shape} {found}; "
            f"it must return {expected}"
        )
