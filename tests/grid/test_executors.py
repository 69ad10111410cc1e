"""Executors: the same bytes from several processes, also when some or all of them are killed; and their names."""

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from aliquot.context import NoProgress
from aliquot.errors import SettingsError
from aliquot.grid.executors import executor_named
from aliquot.grid.executors.local import Local
from aliquot.grid.executors.processes import Processes
from aliquot.grid.grid import Entry, run_grid

METHODS = ["btm", "mtt", "random"]


@pytest.fixture(scope="module")
def alone(table, grid_cells, tmp_path_factory):
    folder = tmp_path_factory.mktemp("grids") / "local"
    run_grid(folder, [Entry(table, cell) for cell in grid_cells(METHODS)], Local(), NoProgress())
    return folder


def start(table, out, quick):
    # Tests in the background of a script ignore Ctrl-C, and so would all that they start.
    listening = "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); from aliquot.__main__ import main; main()"
    command = [sys.executable, "-c", listening, "compare", table.file, "--target", "died", "--out", str(out), "--quiet"]
    what = ["--methods", ",".join(METHODS), "--rows-per-class", "3", "--seeds", "1", "--budget", "smoke"]
    where = ["--looks", "2", "--executor", "joblib", "--workers", "2"]
    command += [*what, *where, *(word for setting in quick for word in ("--set", setting))]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **streams, text=True, start_new_session=True)


def running(out, ours) -> list[int]:
    """Those of our processes that are at work on a cell; a marker may be older than they are."""
    found = []
    for path in out.glob("running/*.json"):
        try:
            found.append(json.loads(path.read_text())["pid"])
        except FileNotFoundError:
            continue
    return [pid for pid in found if pid in ours]


def wait_until_cells_run(process, out, descendants) -> None:
    while not running(out, descendants(process.pid)):
        assert process.poll() is None, "the grid ended too early"
        time.sleep(0.01)


def ends_well(process) -> None:
    _, said = process.communicate(timeout=900)
    assert process.returncode == 0, said


@pytest.mark.slow
def test_killed_workers_and_a_killed_grid_end_with_the_same_bytes(table, alone, quick, results, descendants, tmp_path):
    out = tmp_path / "joblib"
    first = start(table, out, quick)
    wait_until_cells_run(first, out, descendants)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert len(results(out)) < len(results(alone))
    second = start(table, out, quick)
    wait_until_cells_run(second, out, descendants)
    for pid in running(out, descendants(second.pid)):
        os.kill(pid, signal.SIGKILL)
    ends_well(second)
    assert results(out) == results(alone)
    assert {path.name for path in (out / "private" / "store").iterdir()} == {
        path.name for path in (alone / "private" / "store").iterdir()
    }


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_ends_every_process_with_one_line(table, quick, descendants, tmp_path):
    """A terminal sends it to the whole group of processes."""
    out = tmp_path / "joblib"
    process = start(table, out, quick)
    wait_until_cells_run(process, out, descendants)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)  # all that could write to it have ended
    assert (process.returncode, said) == (130, "aliquot: stopped; continue with: the same command\n")


def test_workers_share_the_cpus():
    cpus = len(os.sched_getaffinity(0))
    assert (Processes(1).threads, Processes(cpus).threads, Processes(10 * cpus).threads) == (cpus, 1, 1)
    assert Processes().workers == cpus


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"name": "joblip"}, "did you mean 'joblib'"),
        ({"name": "local", "workers": 2}, "use joblib or ray"),
        ({"name": "joblib", "address": "auto"}, "only ray has them"),
        ({"name": "joblib", "store": "objects"}, "only ray has them"),
        ({"name": "ray", "store": "object"}, "did you mean 'objects'"),
    ],
)
def test_mistakes_end_with_a_sentence(options, hint):
    with pytest.raises(SettingsError, match=hint):
        executor_named(**options)


def test_without_ray_it_says_how_to_get_it(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr("aliquot.grid.executors.cluster.find_spec", lambda name: None if name == "ray" else find(name))
    with pytest.raises(SettingsError, match=r'pip install "aliquot\[ray\]"'):
        executor_named("ray")


def test_ray_is_not_imported_before_it_runs():
    asks = "import sys; import aliquot.grid.executors.cluster, aliquot.cli; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asks]).returncode == 0


@pytest.mark.parametrize(("address", "hint"), [("nowhere", "HOST:PORT"), ("127.0.0.1:{port}", "nothing answers")])
def test_an_address_without_a_cluster_is_noticed_at_once(address, hint):
    pytest.importorskip("ray")
    with socket.socket() as taken:  # bound, but it does not listen
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(SettingsError, match=hint):
            executor_named("ray", address=address.format(port=taken.getsockname()[1]))
