"""Files and folders that appear whole or not at all, and leave nothing behind when their writer is killed."""

import errno
import glob
import os
import platform
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from aliquot.identity import checksum_text

BOOT = Path("/proc/sys/kernel/random/boot_id")  # distinguishes machines of one name, where there is such a file

_open_drafts: set[Path] = set()  # those of this process; each thread and call has its own


def write_atomically(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file so that at every moment either the old or the new content is there, also after a power cut.

    ``mode`` are its permissions from its first byte on, less what the user's umask takes away.
    """
    with draft_of(path) as draft, open(draft, "xb", opener=partial(os.open, mode=mode)) as file:
        file.write(content)


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """A place beside ``path`` to write a file or a folder to, which becomes ``path`` in one step when the block ends.

    Everything in it is on disk before that step, and the step itself before this returns. An error leaves nothing of
    it. A killed process cannot clean up, so the next one that writes ``path`` does it: drafts are named by the machine
    and the process that writes them, and by a random word, so that threads can write one path at the same time.
    """
    path = path.absolute()
    _remove_dead(path)
    draft = path.with_name(f"{_stem(path)}.{secrets.token_hex(4)}.{os.getpid()}.draft")
    _open_drafts.add(draft)
    try:
        yield draft
        _sync_tree(draft)
        draft.replace(path)
        _sync(path.parent)
    finally:
        _remove(draft)
        _open_drafts.discard(draft)


def _remove_dead(path: Path) -> None:
    for draft in path.parent.glob(f"{glob.escape(_stem(path))}.*.draft"):
        process = int(draft.name.split(".")[-2])
        abandoned = draft not in _open_drafts if process == os.getpid() else not alive(process)
        if abandoned:  # also by an earlier process that had the number of this one
            _remove(draft)


def _stem(path: Path) -> str:
    boot = BOOT.read_text() if BOOT.exists() else ""
    return f".{path.name}.{checksum_text(platform.node() + boot)[:8]}"


def alive(process: int) -> bool:
    """Whether a process of that number runs on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's
    return True


def _sync_tree(draft: Path) -> None:
    """Bring a file, or a folder with all that is in it, to the disk."""
    if draft.is_dir():
        for inner in draft.iterdir():
            _sync_tree(inner)
    _sync(draft)


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno != errno.EINVAL or not path.is_dir():  # some network file systems cannot sync a folder
            raise
    finally:
        os.close(number)


def _remove(draft: Path) -> None:
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        draft.unlink(missing_ok=True)
