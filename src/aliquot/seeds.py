"""One seed in, keys everywhere."""

import jax
import numpy as np

STREAMS = ("split", "condense", "tuning networks", "final networks", "random rows", "full data", "transfer")


def streams(seed: int) -> dict[str, jax.Array]:
    """A key for each use of randomness, so that changing one use does not change another.

    >>> sorted(streams(0)) == sorted(STREAMS)
    True
    """
    keys = jax.random.split(jax.random.key(seed), len(STREAMS))
    return dict(zip(STREAMS, keys, strict=True))


def generator(key: jax.Array) -> np.random.Generator:
    """A NumPy generator for work done on the host."""
    return np.random.default_rng(np.asarray(jax.random.key_data(key)))


def integer(key: jax.Array) -> int:
    """A seed for libraries that take an integer."""
    return int(generator(key).integers(2**31))
