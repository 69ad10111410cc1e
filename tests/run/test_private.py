"""Private folders: closed to others whatever the umask, real, and for one process at a time."""

import os
import stat
import subprocess
import sys

import pytest

from aliquot.drafts import write_atomically
from aliquot.errors import RunFolderError
from aliquot.run.private import LOCK, locked, private_folder
from aliquot.run.progress import LogFile
from aliquot.run.store import FolderStore

HOLDS = "import sys; from pathlib import Path; from aliquot.run.private import locked\nwith locked(Path(sys.argv[1])): "


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_whatever_the_umask_only_the_owner_reads(tmp_path, umask):
    store = FolderStore(tmp_path / "store")
    store.put("experts", {"x": [1.0]})
    LogFile(store.folder / "log.txt").stage("experts", 3)
    write_atomically(store.folder / "plan.json", b"{}", private=True)
    with locked(store.folder):
        assert mode(store.folder) == 0o700
        assert {path.name: mode(path) for path in store.folder.iterdir()} == dict.fromkeys(
            ("experts.safetensors", "log.txt", "plan.json", LOCK), 0o600
        )


def test_a_folder_that_others_can_enter_is_refused_until_it_is_closed(tmp_path):
    folder = private_folder(tmp_path / "private")
    folder.chmod(0o750)
    with pytest.raises(RunFolderError, match=f"not closed to others.*chmod 700 {folder}"):
        private_folder(folder)
    folder.chmod(0o700)
    assert private_folder(folder) == folder


def test_a_link_or_a_file_in_its_place_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "nowhere").symlink_to(tmp_path / "nothing")
    (tmp_path / "file").write_text("mine")
    for name in ("link", "nowhere", "file"):
        with pytest.raises(RunFolderError, match="not a folder itself"):
            private_folder(tmp_path / name)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_somebody_elses_folder_is_refused(tmp_path, monkeypatch):
    folder = private_folder(tmp_path / "private")
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    with pytest.raises(RunFolderError, match="belongs to another user"):
        private_folder(folder)


def test_the_second_process_stops_at_once_and_a_killed_one_leaves_no_lock(tmp_path):
    words = [sys.executable, "-c", HOLDS + "print('held', flush=True); sys.stdin.read()", tmp_path / "run" / "private"]
    other = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout.readline() == b"held\n"
    with pytest.raises(RunFolderError, match="another process is at work"), locked(tmp_path / "run" / "private"):
        pass
    other.kill()
    other.communicate()
    with locked(tmp_path / "run" / "private"):
        pass
