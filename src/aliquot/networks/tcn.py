"""The temporal convolutional network of the paper: causal branches of several kernel sizes, mean over time.

One block on inputs x (rows, steps, channels), with kernels K and h channels per branch:

    stage(z)  = dropout(concatenate over k in K of PReLU(conv_k(z)))      causal, left-padded
    block(x)  = PReLU(stage(stage(x)) + conv_1(x))
    logits    = linear(mean over time of the last block)

Blocks after the first have dilation 2, 4, …; there is no normalisation, so that all of the network is in its parameters
(methods.md A13).
"""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.networks.architecture import Architecture
from aliquot.networks.mlp import drop, random_bytes
from aliquot.networks.network import Network

SLOPE = 0.25  # of a PReLU before it is trained
AT_ONCE = 32  # stays that pass together: what they leave on the way is a few megabytes (decision 7)


class Branches(eqx.Module):
    """Causal convolutions of several kernel sizes, side by side: (rows, steps, inputs) → (rows, steps, h · kernels)."""

    weights: tuple[Array, ...]  # one (k, inputs, h) per kernel size; entry j looks j · dilation steps back
    biases: Array  # (h · kernels,)
    dilation: int = eqx.field(static=True)

    def __init__(self, inputs: int, channels: int, kernels: Sequence[int], dilation: int, *, key: Array):
        keys = jax.random.split(key, len(kernels) + 1)
        shapes = [(k, inputs, channels) for k in kernels]
        self.weights = tuple(
            _uniform(one, shape, k * inputs) for one, shape, k in zip(keys, shapes, kernels, strict=False)
        )
        fans = np.repeat([k * inputs for k in kernels], channels)
        self.biases = jax.random.uniform(keys[-1], (len(fans),), minval=-1, maxval=1) / jnp.sqrt(jnp.asarray(fans))
        self.dilation = dilation

    def __call__(self, x: Array) -> Array:
        """One product per step back, of all branches that look so far: large products are what a CPU is good at."""
        steps, widest = x.shape[1], max(len(weight) for weight in self.weights)
        outputs: list[Array | float] = [0.0] * len(self.weights)
        for back in range(min(widest, -(-steps // self.dilation))):
            looking = [number for number, weight in enumerate(self.weights) if back < len(weight)]
            kernel = jnp.concatenate([self.weights[number][back] for number in looking], axis=1)
            shift = back * self.dilation
            seen = jnp.pad(x[:, : steps - shift] @ kernel, ((0, 0), (shift, 0), (0, 0)))
            for number, part in zip(looking, jnp.split(seen, len(looking), axis=2), strict=True):
                outputs[number] = outputs[number] + part
        return jnp.concatenate([jnp.asarray(part) for part in outputs], axis=2) + self.biases


class PReLU(eqx.Module):
    """max(x, 0) + slope · min(x, 0), one slope per channel."""

    slope: Array

    def __init__(self, channels: int):
        self.slope = jnp.full(channels, SLOPE)

    def __call__(self, x: Array) -> Array:
        """Bend the channels, which are the last axis."""
        return jnp.where(x > 0, x, self.slope * x)


class Block(eqx.Module):
    """Two stages of branches and a residual."""

    first: Branches
    second: Branches
    residual: Branches
    bends: tuple[PReLU, PReLU, PReLU]
    dropout: float = eqx.field(static=True)

    def __init__(
        self, inputs: int, channels: int, kernels: Sequence[int], dilation: int, dropout: float, *, key: Array
    ):
        keys = jax.random.split(key, 3)
        width = channels * len(kernels)
        self.first = Branches(inputs, channels, kernels, dilation, key=keys[0])
        self.second = Branches(width, channels, kernels, dilation, key=keys[1])
        self.residual = Branches(inputs, width, (1,), 1, key=keys[2])
        self.bends = (PReLU(width), PReLU(width), PReLU(width))
        self.dropout = dropout

    def enter(self, x: Array) -> Array:
        """First stage and residual before anything bends: linear in ``x`` and in the parameters."""
        return jnp.concatenate([self.first(x), self.residual(x)], axis=2)

    def leave(self, a: Array, key: Array | None) -> Array:
        """The block's output from what entered."""
        staged, residual = jnp.split(a, 2, axis=2)
        noise = [None, None] if key is None else [random_bytes(one, staged.shape) for one in jax.random.split(key)]
        z = _dropped(self.bends[0](staged), self.dropout, noise[0])
        z = _dropped(self.bends[1](self.second(z)), self.dropout, noise[1])
        return self.bends[2](z + residual)


class TCN(eqx.Module):
    """Blocks, mean over time, one linear layer."""

    blocks: tuple[Block, ...]
    last: eqx.nn.Linear

    def __init__(
        self,
        inputs: int,
        channels: int,
        kernels: Sequence[int],
        blocks: int,
        outputs: int,
        dropout: float,
        *,
        key: Array,
    ):
        *keys, last = jax.random.split(key, blocks + 1)
        width = channels * len(kernels)
        self.blocks = tuple(
            Block(inputs if number == 0 else width, channels, kernels, 2**number, dropout, key=one)
            for number, one in enumerate(keys)
        )
        self.last = eqx.nn.Linear(width, outputs, key=last)

    def __call__(self, x: Array, *, key: Array | None = None) -> Array:
        """Logits (rows, outputs) of a batch (rows, steps, channels)."""
        return self.leave(self.enter(x), key=key)

    def enter(self, x: Array) -> Array:
        """What the first block's convolutions give."""
        return self.blocks[0].enter(x)

    def leave(self, a: Array, *, key: Array | None = None) -> Array:
        """Logits from what the first convolutions give."""
        return self._out(self._pooled(a, key))

    def features(self, x: Array) -> Array:
        """What the last layer sees: the mean over time."""
        return self._pooled(self.enter(x), None)

    def _pooled(self, a: Array, key: Array | None) -> Array:
        keys = [None] * len(self.blocks) if key is None else list(jax.random.split(key, len(self.blocks)))
        for number, block in enumerate(self.blocks):
            a = block.leave(a if number == 0 else block.enter(a), keys[number])
        return a.mean(axis=1)

    def _out(self, pooled: Array) -> Array:
        return pooled @ self.last.weight.T + jnp.asarray(self.last.bias)


def _uniform(key: Array, shape: tuple[int, ...], fan_in: int) -> Array:
    return jax.random.uniform(key, shape, minval=-1, maxval=1) / np.sqrt(fan_in)


def _dropped(x: Array, rate: float, noise: Array | None) -> Array:
    return x if noise is None else drop(x, rate, noise)


@cache
def tcn(
    inputs: int,
    n_classes: int,
    channels: int = 64,
    kernels: tuple[int, ...] = (3, 5, 7),
    blocks: int = 1,
    dropout: float = 0.5,
) -> Network:
    """The family of TCNs of this shape; the paper's for 60 channels has 254,785 parameters.

    >>> tcn(60, n_classes=2).n_parameters
    254785
    """
    outputs = 1 if n_classes == 2 else n_classes
    return Network(
        lambda key: TCN(inputs, channels, kernels, blocks, outputs, dropout, key=key),
        n_classes,
        with_outputs=lambda n: tcn(inputs, n, channels, kernels, blocks, dropout),
        at_once=AT_ONCE,
    )


def _shaped(shape: dict[str, Any], inputs: int, n_classes: int, hidden: tuple[int, ...], dropout: float) -> Network:
    """A TCN of a fixed shape: the settings of the base MLP do not concern it."""
    return tcn(inputs, n_classes, **shape)


# The narrow one takes a fifth of the work, and is as good on 12,000 stays as the wide one (decision 8).
TCN_NETWORK = Architecture(
    "tcn", series=True, build=partial(_shaped, {}), small=partial(tcn, channels=16, dropout=0.2), base=True
)
ONE_KERNEL = Architecture("tcn-1", series=True, build=partial(_shaped, {"kernels": (9,), "dropout": 0.75}))
WIDE = Architecture("tcn-2", series=True, build=partial(_shaped, {"channels": 256, "kernels": (3, 5), "blocks": 2}))
