"""Whole or not at all, and nothing left by the killed."""

import signal
import subprocess
import sys

import pytest

from aliquot.drafts import draft_of, write_atomically

KILLED = """
import os, signal, sys
from pathlib import Path
from aliquot.drafts import draft_of
with draft_of(Path(sys.argv[1])) as draft:
    if sys.argv[2] == "folder":
        draft.mkdir()
        draft = draft / "inside"
    draft.write_bytes(b"half")
    print("written", flush=True)
    if sys.argv[3] == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""


def writer(path, kind, fate):
    words = [sys.executable, "-c", KILLED, str(path), kind, fate]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"written\n"
    return process


def killed_writer(path, kind):
    process = writer(path, kind, "dies")
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_writer_left_is_gone_after_the_next_write(tmp_path, kind):
    path = tmp_path / "result"
    killed_writer(path, kind)
    assert len(list(tmp_path.iterdir())) == 1
    assert not path.exists()
    write_atomically(path, b"whole")
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_living_writer_is_at_stays_and_the_last_wins(tmp_path):
    path = tmp_path / "result"
    other = writer(path, "file", "lives")
    write_atomically(path, b"whole")
    assert len(list(tmp_path.iterdir())) == 2
    other.communicate(b"")
    assert other.returncode == 0
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"half"


def test_other_files_drafts_are_not_touched(tmp_path):
    killed_writer(tmp_path / "result", "file")
    write_atomically(tmp_path / "result[1]", b"whole")
    assert len(list(tmp_path.iterdir())) == 2


def test_permissions_are_narrow_from_the_first_byte(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("os.fsync", lambda _: seen.extend(p.stat().st_mode & 0o777 for p in tmp_path.iterdir()))
    write_atomically(tmp_path / "file", b"secret", mode=0o600)
    assert seen == [0o600]


def test_an_error_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="no"), draft_of(tmp_path / "folder") as draft:
        draft.mkdir()
        (draft / "a").write_bytes(b"a")
        raise ValueError("no")
    assert not list(tmp_path.iterdir())
