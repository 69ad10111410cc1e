"""A real Ray cluster of two nodes on this machine: shared through objects, then through a folder while a node dies."""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from aliquot.context import NoProgress
from aliquot.grid.executors.local import Local
from aliquot.grid.grid import Entry, run_grid, status
from aliquot.run.source import EMBEDDED, Source

pytest.importorskip("ray")
METHODS, SEEDS = "btm,mtt,m3d,random", 2
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # only this test may use its cluster


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_node(*words) -> subprocess.Popen:
    """A node of one CPU, which ends when it is killed."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus", "1", *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=os.environ | TOKEN | {"RAY_USAGE_STATS_ENABLED": "0"}, **quiet)


def wait_for(condition, process, seconds=600):
    """Wait until something is so, while a process lives."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the process ended too early"
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.02)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def cluster(kill_all):
    """The address of two nodes, and the process of the one that may be killed."""
    port, nodes = free_port(), []
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp", ignore_cleanup_errors=True) as folder:  # short: sockets
        try:
            store = ("--object-store-memory", "100000000")
            head = ("--head", "--port", str(port), "--include-dashboard", "false", "--temp-dir", folder)
            nodes.append(start_node("--node-ip-address", "127.0.0.1", *head, *store))
            wait_for(lambda: answers(port), nodes[0])
            nodes.append(start_node("--address", f"127.0.0.1:{port}", "--node-ip-address", "127.0.0.2", *store))
            yield f"127.0.0.1:{port}", nodes[1]
        finally:
            for node in nodes:
                kill_all(node.pid)
                node.wait()


@pytest.fixture(scope="module")
def alone(grid_cells, tmp_path_factory):
    folder = tmp_path_factory.mktemp("grids") / "local"
    cells = grid_cells(METHODS.split(","), seeds=range(SEEDS))
    run_grid(folder, [Entry(Source(file=EMBEDDED), cell) for cell in cells], Local(), NoProgress())
    return folder


def start_grid(out, address, quick, *words) -> subprocess.Popen:
    command = [sys.executable, "-m", "aliquot", "compare", "--methods", METHODS, "--rows-per-class", "3", "--quiet"]
    changes = [word for setting in quick for word in ("--set", setting)]
    options = ["--seeds", str(SEEDS), "--budget", "smoke", "--looks", "2", "--executor", "ray", "--address", address]
    command += [*options, "--out", str(out), *changes, *words]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=os.environ | TOKEN, text=True, **streams)


def ends_well(process: subprocess.Popen) -> None:
    _, said = process.communicate(timeout=900)
    assert process.returncode == 0, said


@pytest.mark.slow
def test_arrays_through_the_object_store_give_the_same_results(cluster, alone, quick, results, tmp_path):
    out = tmp_path / "objects"
    ends_well(start_grid(out, cluster[0], quick, "--store", "objects", "--methods", "btm,random", "--seeds", "1"))
    found, expected = results(out), results(alone)
    assert len(found) == 3
    assert all(expected[name] == found[name] for name in found)
    names = {path.name for path in (out / "private" / "store").glob("*.safetensors")}
    assert {name.partition("-")[0] for name in names} == {"expert", "experts", "curves"}
    assert names < {path.name for path in (alone / "private" / "store").glob("*.safetensors")}


@pytest.mark.slow
def test_a_node_that_is_killed_in_the_middle_changes_nothing(
    cluster, alone, quick, results, descendants, kill_all, tmp_path
):
    address, node = cluster
    out = tmp_path / "folder"
    process = start_grid(out, address, quick)

    def in_the_middle() -> bool:
        """A cell is done, and the second node is at work on another."""
        if not list(out.glob("cells/*.json")):
            return False
        markers = [json.loads(path.read_text()) for path in out.glob("running/*.json") if path.exists()]
        return any(marker["pid"] in descendants(node.pid) for marker in markers)

    wait_for(in_the_middle, process)
    kill_all(node.pid)
    node.wait()
    left = len(list(Path(alone / "cells").iterdir())) - len(list(out.glob("cells/*.json")))
    assert left > 0
    ends_well(process)
    assert results(out) == results(alone)
    assert status(out).done == len(results(alone))
