"""Whole or not at all, and nothing left by the killed."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

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
    write_atomically(tmp_path / "file", b"secret", private=True)
    assert set(seen) == {0o600}


def test_an_error_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="no"), draft_of(tmp_path / "folder") as draft:
        draft.mkdir()
        (draft / "a").write_bytes(b"a")
        raise ValueError("no")
    assert not list(tmp_path.iterdir())


def test_threads_that_write_one_path_do_not_delete_each_others_drafts(tmp_path):
    path, together = tmp_path / "result", Barrier(4)

    def write(number):
        with draft_of(path) as draft:
            draft.write_bytes(bytes([number]) * 100)
            together.wait(timeout=20)  # now there are four drafts of one path
            assert draft.read_bytes() == bytes([number]) * 100

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert list(tmp_path.iterdir()) == [path]
    assert len(set(path.read_bytes())) == 1


def test_a_draft_left_by_an_earlier_process_of_the_same_number_is_removed(tmp_path):
    with draft_of(tmp_path / "result") as draft:
        draft.write_bytes(b"whole")
    first, _, process, last = draft.name.rsplit(".", 3)
    (tmp_path / f"{first}.0000.{process}.{last}").write_bytes(b"half")
    write_atomically(tmp_path / "result", b"whole")
    assert [file.name for file in tmp_path.iterdir()] == ["result"]


@pytest.fixture
def disk(monkeypatch) -> list[tuple[str, str]]:
    """What was synced and moved, in order."""
    done, sync, replace = [], os.fsync, Path.replace

    def fsync(number):
        done.append(("sync", str(Path(f"/proc/self/fd/{number}").readlink())))
        sync(number)

    monkeypatch.setattr("os.fsync", fsync)
    monkeypatch.setattr(Path, "replace", lambda self, to: (done.append(("move", str(to))), replace(self, to))[1])
    return done


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_a_folder_is_on_disk_before_it_appears(tmp_path, disk):
    with draft_of(tmp_path / "release") as draft:
        (draft / "inner").mkdir(parents=True)
        (draft / "rows.csv").write_bytes(b"1")
        (draft / "inner" / "more").write_bytes(b"2")
    files = {str(draft / "rows.csv"), str(draft / "inner" / "more"), str(draft / "inner"), str(draft)}
    assert {path for _, path in disk[:4]} == files
    assert disk[4:] == [("move", str(tmp_path / "release")), ("sync", str(tmp_path))]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_a_file_is_on_disk_before_it_appears(tmp_path, disk):
    write_atomically(tmp_path / "file", b"whole")
    assert [what for what, _ in disk] == ["sync", "move", "sync"]
    assert disk[-1] == ("sync", str(tmp_path))


def test_a_file_that_only_looks_like_a_draft_is_left_alone(tmp_path):
    with draft_of(tmp_path / "result") as draft:
        draft.write_bytes(b"old")
    first, key, _, last = draft.name.rsplit(".", 3)
    other = tmp_path / f"{first}.{key}.notes.{last}"
    other.write_bytes(b"somebody's")
    write_atomically(tmp_path / "result", b"new")
    assert other.read_bytes() == b"somebody's"
