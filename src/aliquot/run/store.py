"""Finished pieces of work on disk: one safetensors file each, written whole or not at all."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from aliquot.drafts import write_atomically
from aliquot.errors import TamperedError
from aliquot.identity import check_versions, checksum, checksum_text, from_metadata, to_metadata
from aliquot.run.private import private_folder

TYPES = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "U32": "u4", "U8": "u1", "BOOL": "?"}


class Kept(dict[str, np.ndarray]):
    """The arrays of a file; one that is asked for and is not there is the error that says so."""

    def __init__(self, arrays: Mapping[str, np.ndarray], absent: TamperedError):
        super().__init__(arrays)
        self._absent = absent

    def __missing__(self, name: str) -> np.ndarray:
        raise self._absent


class FolderStore:
    """A :class:`~aliquot.context.Store` in a folder that only its owner can read.

    What experts and curves learned from patients is kept here, hence nothing of it may leave ``private/``.
    """

    def __init__(self, folder: Path):
        self.folder = private_folder(folder)

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under ``name``, or None; a file that does not fit its checksum is an error.

        Arrays are mapped from the file, not read: a trajectory larger than memory can be followed.
        """
        path = self._path(name)
        if not path.exists():
            return None
        damaged = TamperedError(
            f"asked to continue from the checkpoint {name!r}, but its file is truncated or was changed; "
            f"delete {path.name} to have that stage done again"
        )
        try:
            with safe_open(path, framework="numpy") as file:  # checks the file's layout, and that sizes fit the shapes
                metadata = file.metadata() or {}
            arrays = Kept(_mapped(path), damaged)
            made_with = from_metadata(metadata.get("versions"))
            intact = metadata.get("sha256") == _checksum(arrays, metadata.get("versions"))
        except (SafetensorError, OSError, ValueError, KeyError):
            raise damaged from None
        if not intact:
            raise damaged
        remedy = "install these versions, or let the run begin again in another folder (or another store=…)"
        check_versions(made_with, f"stored work ({name})", remedy)
        return arrays

    def put(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Store the arrays, all or nothing."""
        write_atomically(self._path(name), as_file(arrays), private=True)

    def within(self, name: str) -> "FolderStore":
        """A store of its own inside this one."""
        return FolderStore(self.folder / name)

    def size(self, *names: str) -> int:
        """Bytes on disk of what is kept under these names."""
        return sum(self._path(name).stat().st_size for name in names)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.safetensors"


def as_file(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The arrays as the content of a file, with a checksum and the versions that made them."""
    contiguous = {key: np.asarray(value, order="C") for key, value in arrays.items()}
    made_with = to_metadata()
    return save(contiguous, {"sha256": _checksum(contiguous, made_with), "versions": made_with})


def _checksum(arrays: Mapping[str, np.ndarray], made_with: str | None) -> str:
    return checksum_text(f"{checksum(arrays)} {made_with}")


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
