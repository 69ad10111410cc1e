"""One identity: whatever is kept or reused is named by all that decides it, and carries the versions that made it.

A run, a grid's cell, experts, curves and scores of other networks are all named by :func:`identity`. Two pieces of
work have the same name exactly if the same things decide them. Settings count by what differs from their defaults: a
setting that is new, and left at its default, renames nothing.
"""

import hashlib
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from aliquot.errors import VersionError
from aliquot.loading import Versions, json_of, typed

DECISIVE = ("aliquot", "jax", "jaxlib", "equinox", "optax", "numpy", "pandas", "scikit-learn")


def identity(kind: str, *decisive: Any) -> str:
    """The name of a piece of work: its kind, and a digest of all that decides it.

    >>> identity("experts", np.zeros(3), "sgd") == identity("experts", np.zeros(3), "sgd")
    True
    >>> identity("experts", np.zeros(3), "sgd") == identity("experts", np.zeros(3), "gsam")
    False
    """
    return f"{kind}-{digest(*decisive)}"


def digest(*parts: Any) -> str:
    """A short hash: arrays by contents, keys by bits, dataclasses by what is not default, all else by its text."""
    whole = hashlib.sha256()
    for part in parts:
        _add(whole, part)
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


@cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in DECISIVE} | {"python": platform.python_version()}


def versions() -> dict[str, str]:
    """Versions of what decides the numbers, and of Python."""
    return dict(_versions())


def check_versions(found: Mapping[str, str] | None, what: str, remedy: str) -> None:
    """Raise a VersionError if work was made with other versions of what decides the numbers than those here."""
    here = versions()
    if found is None:
        raise VersionError(f"found {what} of an earlier version of Aliquot, which did not note its versions; {remedy}")
    other = [
        f"{name} {found.get(name, 'unknown')} (here {here[name]})" for name in DECISIVE if found.get(name) != here[name]
    ]
    if other:
        raise VersionError(
            f"found {what} made with {', '.join(other)}; numbers of different versions do not mix: {remedy}"
        )


def to_metadata() -> str:
    """The versions as text, for the header of a file."""
    return json.dumps(versions())


def from_metadata(text: str | None) -> dict[str, str] | None:
    """The versions that :func:`to_metadata` wrote; None where there are none."""
    return None if text is None else typed(json_of(text), Versions)


def _add(whole: "hashlib._Hash", part: Any) -> None:
    array = _as_array(part)
    if array is not None:
        add_array(whole, array)
    elif is_dataclass(part) and not isinstance(part, type):
        named = {field.name: getattr(part, field.name) for field in fields(part)}
        _add(whole, {name: named[name] for name in named if not _is_default(part, name, named[name])})
    elif isinstance(part, Mapping):
        whole.update(b"{")
        for name, value in sorted(part.items(), key=lambda item: str(item[0])):
            whole.update(f"{name!r}:".encode())
            _add(whole, value)
        whole.update(b"}")
    elif isinstance(part, list | tuple):
        whole.update(b"[")
        for value in part:
            _add(whole, value)
        whole.update(b"]")
    else:
        whole.update(f"{part!r};".encode())


def _as_array(part: Any) -> np.ndarray | None:
    """An array of NumPy or JAX, or the bits of a key; JAX is not loaded for it, since reading patients needs none."""
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(part, jax.Array):
        is_key = jax.numpy.issubdtype(part.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(part) if is_key else part)
    return part if isinstance(part, np.ndarray) else None


def _is_default(part: Any, name: str, value: Any) -> bool:
    field: Field[Any] = part.__dataclass_fields__[name]
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return default is not MISSING and type(default) is type(value) and bool(default == value)
