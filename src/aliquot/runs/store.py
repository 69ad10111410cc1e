"""Finished pieces of work on disk: one safetensors file each, written whole or not at all, with a checksum inside."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from aliquot.digest import checksum
from aliquot.drafts import write_atomically
from aliquot.errors import TamperedError

TYPES = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "U32": "u4", "U8": "u1", "BOOL": "?"}


class Store:
    """A :class:`~aliquot.hooks.Memory` in a folder that only its owner can read.

    What experts and curves learned from patients is kept here, hence nothing of it may leave ``private/``.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def recall(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under ``name``, or None; a file that does not fit its checksum is an error.

        Arrays are mapped from the file, not read: a trajectory larger than memory can be followed.
        """
        path = self._path(name)
        if not path.exists():
            return None
        try:
            with safe_open(path, framework="numpy") as file:  # checks the file's layout
                expected = (file.metadata() or {}).get("sha256")
            arrays = _mapped(path)
            intact = expected == checksum(arrays)
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
        write_atomically(self._path(name), save(contiguous, {"sha256": checksum(contiguous)}), mode=0o600)

    def within(self, name: str) -> "Store":
        """A store of its own inside this one."""
        return Store(self.folder / name)

    def size(self, *names: str) -> int:
        """Bytes on disk of what is kept under these names."""
        return sum(self._path(name).stat().st_size for name in names)

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

    def size(self, *names: str) -> int:
        """Bytes of what is kept under these names."""
        return sum(array.nbytes for name in names for array in self._kept[name].values())


def _mapped(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file, mapped into memory: header length, header in JSON, then the arrays' bytes."""
    content = np.memmap(path, np.uint8, mode="r")
    begin = 8 + int(content[:8].view("<u8")[0])
    entries: dict[str, Any] = json.loads(content[8:begin].tobytes())
    arrays = {}
    for name, entry in entries.items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            kind = jnp.bfloat16 if entry["dtype"] == "BF16" else TYPES[entry["dtype"]]
            arrays[name] = content[begin + first : begin + last].view(kind).reshape(entry["shape"])
    return arrays
