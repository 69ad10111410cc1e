"""Folders for what was learned from patients: their owner's alone, and one process at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aliquot.drafts import open_privately
from aliquot.errors import RunFolderError

LOCK = "lock"
NOBODY_ELSE = 0o700


def private_folder(path: Path) -> Path:
    """The folder, made where it is not there yet; an error unless it is a real one that only we can enter."""
    if not os.path.lexists(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(NOBODY_ELSE, exist_ok=True)
        path.chmod(NOBODY_ELSE)  # whatever the umask
    keeps = "which keeps what was learned from patients"
    if path.is_symlink() or not path.is_dir():
        raise RunFolderError(f"asked to use {path}, {keeps}, but it is not a folder itself; choose another folder")
    found = path.stat()
    if found.st_uid != os.geteuid():
        raise RunFolderError(f"asked to use {path}, {keeps}, but it belongs to another user; choose another folder")
    if found.st_mode & 0o777 != NOBODY_ELSE:
        raise RunFolderError(
            f"asked to use {path}, {keeps}, but it is not closed to others; find out who could read it, then: "
            f"chmod 700 {path} (if that changes nothing, choose a folder on another file system)"
        )
    return path


@contextmanager
def locked(private: Path) -> Iterator[None]:
    """Within the block no other process works in a private folder; a killed process leaves no lock behind."""
    path = private_folder(private) / LOCK
    with open(path, "ab", opener=open_privately) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunFolderError(
                f"asked to work in {private.parent}, but another process is at work there; wait for it to end, or "
                "choose another folder"
            ) from None
        yield
