"""Signals end a process at once, whatever it is doing, with whole files."""

import os
import signal
import subprocess
import sys

import pytest

from aliquot.stopping import CLOSING

LISTENS = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.SIG_DFL)  # who runs tests in the background may ignore it
from aliquot.stopping import before_stopping, listen
listen()
def ready():
    print("ready", flush=True)
"""
SWALLOWS = """
ready()
while True:
    try:
        time.sleep(0.01)
    except BaseException:
        pass
"""
WRITES = """
from aliquot.drafts import draft_of, write_atomically
with draft_of(Path(sys.argv[1])) as draft:
    ready()
    time.sleep(0.3)
    draft.write_bytes(b"whole")
write_atomically(Path(sys.argv[1]), b"not begun")
"""
BLOCKED = """
with before_stopping(lambda: print("goodbye", file=sys.stderr)):
    ready()
    while True:
        sys.stderr.write("x" * 1_000_000)  # nobody reads
"""
FAREWELL = """
with before_stopping(lambda: print("goodbye", file=sys.stderr)):
    ready()
    time.sleep(60)
"""


def begun(script, *words):
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENS + script, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_exit_code_is_that_of_the_signal_and_the_farewell_is_said_once(number):
    process = begun(FAREWELL)
    for _ in range(3):
        process.send_signal(number)
    assert process.communicate()[1] == b"goodbye\n"
    assert process.returncode == 128 + number


def test_no_code_that_runs_when_the_signal_comes_can_lose_it():
    process = begun(SWALLOWS)
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1] == b"aliquot: stopped; continue with: the same command\n"
    assert process.returncode == 130


def test_a_file_that_is_being_written_is_whole_and_no_other_is_begun(tmp_path):
    process = begun(WRITES, tmp_path / "file")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=CLOSING)
    assert process.returncode == 143
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"whole")]


def test_it_ends_although_nobody_reads_what_it_says():
    process = begun(BLOCKED)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    process.communicate()


def test_what_was_to_be_ignored_is_ignored():
    listens = LISTENS.replace("SIG_DFL", "SIG_IGN") + "signal.raise_signal(signal.SIGINT); print('goes on')"
    done = subprocess.run([sys.executable, "-c", listens], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "goes on\n")


def test_a_signal_before_anything_is_loaded(tmp_path):
    """The command answers before it imports what it needs."""
    (tmp_path / "numpy.py").write_text("import time; print('ready', flush=True); time.sleep(60)")
    code = "import signal; signal.signal(2, signal.SIG_DFL); from aliquot.__main__ import main; main()"
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, "-c", code, "schema", "x"], env=where, stdout=subprocess.PIPE, stderr=-1
    )
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
