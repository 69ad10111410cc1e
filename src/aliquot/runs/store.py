"""Finished pieces of work on disk: one safetensors file each, written whole or not at all, with a checksum inside."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from aliquot.errors import TamperedError


class Store:
    """A :class:`~aliquot.hooks.Memory` in a folder that only its owner can read.

    What experts and curves learned from patients is kept here, hence nothing of it may leave ``private/``.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def recall(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under ``name``, or None; a file that does not fit its checksum is an error."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            with safe_open(path, framework="numpy") as file:
                arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
                intact = (file.metadata() or {}).get("sha256") == checksum(arrays)
        except (SafetensorError, OSError, ValueError):
            intact, arrays = False, {}
        if not intact:
            raise TamperedError(
                f"asked to continue from the checkpoint {name!r}, but its file is truncated or was changed; "
                f"delete {path.name} to have that stage done again"
            )
        return arrays

    def keep(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Store the arrays, all or nothing."""
        contiguous = {key: np.asarray(value, order="C") for key, value in arrays.items()}
        write_atomically(self._path(name), save(contiguous, {"sha256": checksum(contiguous)}))

    def size(self, prefix: str) -> int:
        """Bytes on disk of everything whose name starts with ``prefix``."""
        return sum(path.stat().st_size for path in self.folder.glob(f"{prefix}*.safetensors"))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.safetensors"


class Notebook:
    """A :class:`~aliquot.hooks.Memory` that lasts as long as the object: for runs without a folder."""

    def __init__(self):
        self._kept: dict[str, dict[str, np.ndarray]] = {}

    def recall(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under ``name``, or None."""
        return self._kept.get(name)

    def keep(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Remember the arrays."""
        self._kept[name] = dict(arrays)

    def forget(self, name: str) -> None:
        """Forget what was kept under ``name``, if anything was."""
        self._kept.pop(name, None)

    def size(self, prefix: str) -> int:
        """Bytes of everything whose name starts with ``prefix``."""
        kept = (arrays for name, arrays in self._kept.items() if name.startswith(prefix))
        return sum(array.nbytes for arrays in kept for array in arrays.values())


def checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over names, types, shapes and contents."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}:{array.dtype.str}:{array.shape};".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def checksum_text(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that at every moment either the old or the new content is there, also after a power cut."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
