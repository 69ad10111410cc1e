"""Files and folders that appear whole or not at all, and leave nothing behind when their writer is killed."""

import errno
import glob
import os
import platform
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aliquot.identity import checksum_text
from aliquot.stopping import close_with

BOOT = Path("/proc/sys/kernel/random/boot_id")  # distinguishes machines of one name, where there is such a file

PRIVATE = 0o600  # permissions of files that hold patients or what was learned from them, whatever the umask

_open_drafts: set[Path] = set()  # those of this process; each thread and call has its own
_gate = threading.Condition()  # guards the two
_closed = False


def write_atomically(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write a file so that at every moment either the old or the new content is there, also after a power cut.

    A ``private`` one can be read by its owner alone, from its first byte on; others as the user's umask says.
    """
    with draft_of(path) as draft, open(draft, "xb", opener=open_privately if private else None) as file:
        file.write(content)


def open_privately(path: str | Path, flags: int) -> int:
    """Opens a file for Python's ``open(…, opener=open_privately)``; one that is new can be read by its owner alone."""
    number = os.open(path, flags, PRIVATE)
    os.fchmod(number, PRIVATE)
    return number


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
    with _gate:
        _gate.wait_for(lambda: not _closed)
        _open_drafts.add(draft)
    try:
        yield draft
        _sync_tree(draft)
        draft.replace(path)
        _sync(path.parent)
    finally:
        _remove(draft)
        with _gate:
            _open_drafts.discard(draft)
            _gate.notify_all()


def close_drafts(patience: float) -> None:
    """Begin no more drafts, as the process is about to end, and wait some seconds for those of other threads."""
    global _closed
    with _gate:
        _closed = True
        _gate.wait_for(lambda: not _open_drafts, patience)


close_with(close_drafts)


def _remove_dead(path: Path) -> None:
    for draft in path.parent.glob(f"{glob.escape(_stem(path))}.*.draft"):
        number = draft.name.split(".")[-2]
        if not number.isdecimal():
            continue  # somebody else's file
        process = int(number)
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
