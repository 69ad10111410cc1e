"""Files and folders that appear whole or not at all, and leave nothing behind when their writer is killed."""

import glob
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from aliquot.digest import checksum_text

BOOT = Path("/proc/sys/kernel/random/boot_id")  # tells machines of one name apart, where there is such a file


def write_atomically(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file so that at every moment either the old or the new content is there, also after a power cut.

    ``mode`` are its permissions from its first byte on, less what the user's umask takes away.
    """
    with draft_of(path) as draft, open(draft, "xb", opener=partial(os.open, mode=mode)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """A place beside ``path`` to write a file or a folder to, which becomes ``path`` in one step when the block ends.

    An error leaves nothing of it. A killed process cannot clean up, so the next one that writes ``path`` does it:
    drafts are named by the machine and the process that writes them.
    """
    _forget_dead(path)
    draft = path.with_name(f"{_stem(path)}.{os.getpid()}.draft")
    try:
        yield draft
        draft.replace(path)
    finally:
        _remove(draft)


def _forget_dead(path: Path) -> None:
    for draft in path.parent.glob(f"{glob.escape(_stem(path))}.*.draft"):
        process = int(draft.name.split(".")[-2])
        if process == os.getpid() or not alive(process):  # numbers of processes are given again
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


def _remove(draft: Path) -> None:
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        draft.unlink(missing_ok=True)
