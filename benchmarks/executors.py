"""The same grid by every executor, one after the other in one run: seconds, and whether all results are equal.

    python benchmarks/executors.py [--methods btm,mtt,tesla,random] [--seeds 2] [--iterations 500]

SUPPORT2, 50 rows per class. Each grid starts from nothing in a fresh process and a fresh folder. ``ray`` is a cluster
of two nodes with one CPU each, both on this machine, once shared through a folder and once through Ray's object store.
"""

import argparse
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXECUTORS = {
    "local": [],
    "joblib, 2 processes": ["--executor", "joblib", "--workers", "2"],
    "ray, 2 nodes, folder": ["--executor", "ray", "--store", "folder"],
    "ray, 2 nodes, objects": ["--executor", "ray", "--store", "objects"],
}
TIMES = {"seconds", "expert_seconds"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="btm,mtt,tesla,random")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=500)
    asked = parser.parse_args()
    words = ["--methods", asked.methods, "--seeds", str(asked.seeds), "--rows-per-class", "50", "--looks", "10"]
    words += ["--set", f"match.iterations={asked.iterations}", "--quiet"]
    environment = os.environ | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    first: tuple[float, dict[str, object]] | None = None
    with tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as folder:
        for number, (name, options) in enumerate(EXECUTORS.items()):
            out, nodes = Path(folder) / str(number), []
            if "ray" in options:
                address, nodes = two_nodes(f"{folder}/ray{number}", environment)
                options = [*options, "--address", address]
            try:
                since = time.perf_counter()
                command = [sys.executable, "-m", "aliquot", "compare", "--out", str(out), *words, *options]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
                seconds = time.perf_counter() - since
            finally:
                for node in nodes:
                    node.terminate()
                    node.wait()
            found = results(out)
            first = first or (seconds, found)
            equal = "equal to local" if found == first[1] else "NOT EQUAL"
            print(
                f"{name:<22} {len(found)} cells {seconds:6.0f} s   {seconds / first[0]:4.2f} × local   {equal}",
                flush=True,
            )


def two_nodes(folder: str, environment: dict[str, str]) -> tuple[str, list[subprocess.Popen]]:
    """A Ray cluster of two nodes with one CPU each: its address and its processes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    start = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus", "1"]
    start += ["--object-store-memory", "300000000"]
    places = (
        ["--head", "--port", address.split(":")[1], "--include-dashboard", "false", "--temp-dir", folder],
        ["--address", address],
    )
    nodes = []
    for number, place in enumerate(places):
        command = [*start, "--node-ip-address", f"127.0.0.{number + 1}", *place]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        nodes.append(subprocess.Popen(command, env=environment | {"RAY_USAGE_STATS_ENABLED": "0"}, **quiet))
        time.sleep(15)  # until it listens
    return address, nodes


def results(out: Path) -> dict[str, object]:
    """What every cell found, apart from how long it took."""
    cells = {path.name: json.loads(path.read_text("utf-8"))["result"] for path in (out / "cells").iterdir()}
    return {name: {key: value for key, value in cell.items() if key not in TIMES} for name, cell in cells.items()}


if __name__ == "__main__":
    main()
