"""The multi-layer perceptron of the paper: Linear, ReLU, Dropout, …, Linear."""

from collections.abc import Callable
from functools import cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.networks.architecture import Architecture
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
        return self.leave(self.enter(x), key=key)

    def enter(self, x: Array) -> Array:
        """The first layer, before its ReLU: linear in ``x`` and in the layer's parameters."""
        return _affine(self.layers[0], x)

    def leave(self, a: Array, *, key: Array | None = None) -> Array:
        """Logits from what the first layer gives."""
        return a if len(self.layers) == 1 else _affine(self.layers[-1], self._hidden(a, key))

    def features(self, x: Array) -> Array:
        """What the last layer sees: (rows, width of the last hidden layer)."""
        return self._hidden(self.enter(x), None)

    def _hidden(self, a: Array, key: Array | None) -> Array:
        """The last hidden layer's output, from the first layer's before its ReLU; a key switches dropout on."""
        hidden = self.layers[:-1]
        widths = np.cumsum([layer.out_features for layer in hidden])
        noise = None
        if key is not None and self.dropout > 0:
            noise = jnp.split(random_bytes(key, (*a.shape[:-1], int(widths[-1]))), widths[:-1], axis=-1)
        for depth, layer in enumerate(hidden):
            a = jax.nn.relu(a if depth == 0 else _affine(layer, a))
            a = a if noise is None else drop(a, self.dropout, noise[depth])
        return a


def _affine(layer: eqx.nn.Linear, x: Array) -> Array:
    return x @ layer.weight.T + jnp.asarray(layer.bias)


def random_bytes(key: Array, shape: tuple[int, ...]) -> Array:
    """Uniform bytes from a counter and an integer hash seeded by the key; good enough to drop units.

    JAX's own generator takes longer on a CPU, and is a large part of training a small network
    (docs/decisions/0002-training.md).
    """
    first, second = jax.random.key_data(key)
    size = int(np.prod(shape))
    words = jnp.arange(-(-size // 4), dtype=jnp.uint32)
    words = _mix(_mix(words ^ first) + second)
    return jax.lax.bitcast_convert_type(words, jnp.uint8).reshape(-1)[:size].reshape(shape)


def _mix(words: Array) -> Array:
    """A hash of 32-bit words in which every input bit sways every output bit (Wellons' lowbias32 constants)."""
    words = (words ^ (words >> 16)) * jnp.uint32(0x7FEB352D)
    words = (words ^ (words >> 15)) * jnp.uint32(0x846CA68B)
    return words ^ (words >> 16)


def drop(x: Array, rate: float, noise: Array) -> Array:
    """Entries set to 0 with probability ``rate``, rounded to 1/256, the others scaled so that the mean stays."""
    threshold = round(rate * 256)
    return jnp.where(noise >= jnp.uint8(threshold), x * (256 / (256 - threshold)), 0)


@cache
def mlp(inputs: int, n_classes: int, hidden: tuple[int, ...] = (64,), dropout: float = 0.25) -> Network:
    """The family of MLPs with these widths; the paper's variants are below.

    >>> mlp(27, n_classes=2, hidden=(64,)).n_parameters
    1857
    """
    outputs = 1 if n_classes == 2 else n_classes
    return Network(
        lambda key: MLP(inputs, hidden, outputs, dropout, key=key),
        n_classes,
        with_outputs=lambda n: mlp(inputs, n, hidden, dropout),
    )


def _with_widths(widths: Callable[[int], tuple[int, ...]], inputs: int, n_classes: int, hidden, dropout) -> Network:
    return mlp(inputs, n_classes, widths(hidden[0]), dropout)


MLP_NETWORK = Architecture("mlp", series=False, build=mlp, base=True)
# the paper's variants, to which rows that were learned with the base network transfer
TWICE = Architecture("mlp-1", series=False, build=partial(_with_widths, lambda width: (2 * width,)))
FOUR_TIMES = Architecture("mlp-2", series=False, build=partial(_with_widths, lambda width: (4 * width,)))
TWO_LAYERS = Architecture("mlp-3", series=False, build=partial(_with_widths, lambda width: (width, 2 * width)))
THREE_LAYERS = Architecture(
    "mlp-4", series=False, build=partial(_with_widths, lambda width: (width, 2 * width, 4 * width))
)
