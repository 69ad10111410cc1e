"""The multi-layer perceptron of the paper: Linear, ReLU, Dropout, …, Linear."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from aliquot.networks.network import Network


class MLP(eqx.Module):
    """Linear layers with ReLU and dropout between them; weights and biases start uniform in ±1/√fan_in."""

    layers: tuple[eqx.nn.Linear, ...]
    dropout: float = eqx.field(static=True)

    def __init__(self, inputs: int, hidden: tuple[int, ...], outputs: int, dropout: float, *, key: Array):
        widths = (inputs, *hidden, outputs)
        keys = jax.random.split(key, len(widths) - 1)
        self.layers = tuple(eqx.nn.Linear(a, b, key=k) for a, b, k in zip(widths, widths[1:], keys, strict=False))
        self.dropout = dropout

    def __call__(self, x: Array, *, key: Array | None = None) -> Array:
        """Logits (rows, outputs) of a batch (rows, inputs)."""
        *hidden, last = self.layers
        for depth, layer in enumerate(hidden):
            x = jax.nn.relu(_affine(layer, x))
            if key is not None and self.dropout > 0:
                x = drop(x, self.dropout, jax.random.fold_in(key, depth))
        return _affine(last, x)


def _affine(layer: eqx.nn.Linear, x: Array) -> Array:
    return x @ layer.weight.T + layer.bias


def drop(x: Array, rate: float, key: Array) -> Array:
    """Entries set to 0 with probability ``rate``, the others scaled so that the mean stays.

    The rate is rounded to 1/256: one random byte an entry costs a quarter of a random word, and drawing
    them is the larger part of training a small network on a CPU.
    """
    threshold = round(rate * 256)
    keep = jax.random.bits(key, x.shape, dtype=jnp.uint8) >= jnp.uint8(threshold)
    return jnp.where(keep, x * (256 / (256 - threshold)), 0)


@cache
def mlp(inputs: int, n_classes: int, hidden: tuple[int, ...] = (64,), dropout: float = 0.25) -> Network:
    """The family of MLPs with these widths; the paper's variants are in :func:`mlp_variants`.

    >>> mlp(27, n_classes=2, hidden=(64,)).n_parameters
    1857
    """
    outputs = 1 if n_classes == 2 else n_classes
    return Network(lambda key: MLP(inputs, hidden, outputs, dropout, key=key), n_classes)


def mlp_variants(width: int) -> dict[str, tuple[int, ...]]:
    """Hidden widths of the paper's base network and of its four variants for transfer.

    >>> mlp_variants(64)["mlp-4"]
    (64, 128, 256)
    """
    return {
        "mlp": (width,),
        "mlp-1": (2 * width,),
        "mlp-2": (4 * width,),
        "mlp-3": (width, 2 * width),
        "mlp-4": (width, 2 * width, 4 * width),
    }
