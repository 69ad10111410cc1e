"""Names made from contents: a piece of work that depends on the same things has the same name."""

import hashlib
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def digest(*parts: Any) -> str:
    """A short name for whatever decides a result: arrays by contents, keys by their bits, the rest by its text.

    >>> digest(np.zeros(3), "sgd") == digest(np.zeros(3), "sgd") != digest(np.zeros(3), "gsam")
    True
    """
    whole = hashlib.sha256()
    for part in parts:
        if isinstance(part, jax.Array) and jnp.issubdtype(part.dtype, jax.dtypes.prng_key):
            part = jax.random.key_data(part)
        if isinstance(part, np.ndarray | jax.Array):
            add_array(whole, np.asarray(part))
        else:
            whole.update(f"{part!r};".encode())
    return whole.hexdigest()[:16]


def checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over names, types, shapes and contents."""
    whole = hashlib.sha256()
    for name in sorted(arrays):
        whole.update(f"{name}:".encode())
        add_array(whole, arrays[name])
    return whole.hexdigest()


def checksum_text(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def add_array(whole: "hashlib._Hash", array: np.ndarray) -> None:
    """Add an array's type, shape and contents, without a copy where it lies in one piece."""
    whole.update(f"{array.dtype.str}:{array.shape};".encode())
    if array.size:
        whole.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
