"""A small grid that several tests run, each in its own way."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Columns
from aliquot.grid.cell import Conditions, Variant, compared_cells
from aliquot.run.source import Source

QUICK = (
    "network.hidden=[4]",
    "expert.count=3",
    "expert.block=1",
    "expert.pilots=1",
    "expert.epochs=3",
    "expert.balance=false",
    "curve.steps=20",
    "curve.check_every=0",
    "match.iterations=4",
    "match.student_steps=2",
    "match.segment.epochs=1",
    "distribution.iterations=4",
    "evaluation.search_epochs=2",
    "evaluation.search_networks=1",
    "evaluation.final_epochs=2",
    "evaluation.final_networks=2",
    "evaluation.full_epochs=2",
)
TIMES = ("seconds", "expert_seconds")  # all else must be equal, whoever ran a cell


@pytest.fixture(scope="session")
def quick():
    return QUICK


@pytest.fixture(scope="session")
def grid_cells():
    """Cells of methods by name, with settings that take no time."""

    def cells(names, sizes=(3,), seeds=(0,), changes=()):
        variants = [Variant.parse(name) for name in names]
        conditions = Conditions(budget="smoke", evaluations=2, changes=(*QUICK, *changes))
        return compared_cells(variants, sizes, seeds, conditions)

    return cells


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 200)
    frame = pd.DataFrame({"age": rng.normal(60, 10, 200) + 8 * died, "lactate": rng.gamma(2, 1, 200), "died": died})
    path = tmp_path_factory.mktemp("data") / "table.parquet"
    frame.to_parquet(path)
    return Source(file=str(path), columns=Columns(target="died"))


@pytest.fixture(scope="session")
def results():
    """The results in a grid's folder by name, without what no two runs share: the time they took."""

    def read(folder: Path) -> dict[str, dict]:
        found = {path.stem: json.loads(path.read_text())["result"] for path in (folder / "cells").glob("*.json")}
        return {name: {key: found[name][key] for key in found[name] if key not in TIMES} for name in found}

    return read


@pytest.fixture(scope="session")
def descendants():
    """The processes that a process started, and those that they started."""

    def find(pid: int) -> list[int]:
        children: dict[int, list[int]] = {}
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(entry.read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(parent, []).append(int(entry.parent.name))
        found, ask = [], [pid]
        while ask:
            ask = [child for parent in ask for child in children.get(parent, ())]
            found += ask
        return found

    return find


@pytest.fixture(scope="session")
def kill_all(descendants):
    """kill -9 of a process of ours and of all that it started."""

    def kill(pid: int) -> None:
        for one in [pid, *descendants(pid)]:
            try:
                os.kill(one, signal.SIGKILL)
            except ProcessLookupError:
                continue

    return kill
