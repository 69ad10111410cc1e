"""Grids: one line per entry, failures, what a changed setting runs again, status, other networks, paths."""

import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import aliquot.grid.pieces as pieces_module
from aliquot.context import Context, NoProgress
from aliquot.errors import FileError, SettingsError, TamperedError
from aliquot.evaluate.results import Scores, Summary
from aliquot.experts import expert_blocks, pilot_count
from aliquot.grid.cell import Cell, CellResult, Evaluations
from aliquot.grid.executors.local import Local
from aliquot.grid.grid import Entry, run_grid, status
from aliquot.grid.pieces import Outcome, Piece, Worker, in_waves
from aliquot.identity import versions
from aliquot.methods import METHODS
from aliquot.run.request import PROTOCOL
from aliquot.run.source import EMBEDDED, Source


def run(folder, source, cells):
    return run_grid(folder, [Entry(source, cell) for cell in cells], Local(), NoProgress())


def files(folder) -> set[str]:
    places = (folder / "cells", folder / "private" / "store")
    return {path.name for place in places for path in place.iterdir()}


def kinds(names) -> list[str]:
    return sorted(name.partition("-")[0] for name in names if name.endswith(".safetensors"))


@pytest.fixture(scope="module")
def grid(table, grid_cells, tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid") / "g"
    cells = grid_cells(["btm", "mtt", "m3d", "random"])
    return folder, cells, run(folder, table, cells)


def test_one_line_per_entry_in_order(grid):
    _, cells, lines = grid
    assert [line.label for line in lines] == [cell.label for cell in cells]
    assert {line.cohort for line in lines} == {"table"}
    assert Entry(Source(file=EMBEDDED), cells[0]).cohort == "support2"
    assert Entry(Source(file="/data", cohort="eicu"), cells[0]).cohort == "eicu"


def test_the_history_has_one_entry_per_evaluation(grid):
    lines = {line.label: line for line in grid[2]}
    history = lines["mtt"].history
    assert history.iteration == (0, 2, 4)
    assert history.loss[0] is None
    assert np.isfinite(history.loss[1:]).all()
    assert max(history.tuning) == lines["mtt"].tuning
    assert lines["random"].history == Evaluations()
    assert all(len(lines[name].rows_sha256) == 64 for name in ("btm", "mtt", "m3d", "random"))


def test_the_same_cell_twice_is_run_once(table, grid_cells, tmp_path, monkeypatch):
    result, ran = pieces_module.cell_result, []
    monkeypatch.setattr(pieces_module, "cell_result", lambda *args, **more: ran.append(1) or result(*args, **more))
    cell = grid_cells(["random"])[1]
    lines = run(tmp_path / "g", table, [cell, replace(cell, label="again")])
    assert len(ran) == 1
    assert [line.label for line in lines] == ["random", "again"]
    assert lines[0].auprc == lines[1].auprc


@pytest.mark.parametrize(
    ("change", "again", "stored"),
    [
        ("curve.steps=10", ["btm"], ["curves"]),
        ("match.iterations=2", ["btm", "mtt"], []),
        ("distribution.iterations=2", ["m3d"], []),
        ("expert.batch_size=50", ["btm", "mtt"], ["curves", *["experts"] * 3, *["paths"] * 3, "scores", "watched"]),
    ],
)
def test_a_changed_setting_runs_again_only_what_depends_on_it(grid, table, grid_cells, change, again, stored):
    folder = grid[0]
    before = files(folder)
    run(folder, table, grid_cells(["btm", "mtt", "m3d", "random"], changes=[change]))
    new = files(folder) - before
    results = [json.loads((folder / "cells" / name).read_text())["result"] for name in new if name.endswith(".json")]
    assert sorted(result["method"] for result in results) == again
    assert kinds(new) == stored


class Noticed:
    """Settings that remember which of their sections were looked at."""

    def __init__(self, settings):
        self._settings, self.seen = settings, set()

    def __getattr__(self, name):
        self.seen.add(name)
        return getattr(self._settings, name)


@pytest.mark.parametrize("name", METHODS)
def test_no_method_looks_at_a_setting_that_does_not_name_its_cells(name, grid_cells, blobs, small_network, small_judge):
    import jax

    from aliquot.methods import Task

    cell = grid_cells([name])[1]
    noticed = Noticed(cell.request.settings)
    task = Task(small_network, *blobs[0], 3, Context(small_judge))
    METHODS[name].condense(task, noticed, key=jax.random.key(0))
    assert noticed.seen <= set(METHODS[name].sections)
    assert {*PROTOCOL, *METHODS[name].sections} <= set(cell.request.decisive())


def test_a_failure_is_one_sentence_without_patients_and_stops_nobody(table, grid_cells, tmp_path, monkeypatch):
    result, folder = pieces_module.cell_result, tmp_path / "g"

    def fails(cell, *rest, **more):
        if cell.label == "random":
            raise KeyError("patient 4711")
        if cell.label == "herding":
            raise SettingsError("asked for what cannot be")
        return result(cell, *rest, **more)

    monkeypatch.setattr(pieces_module, "cell_result", fails)
    cells = grid_cells(["random", "herding", "kmeans"])
    lines = {line.label: line for line in run(folder, table, cells)}
    assert lines["random"].failed.startswith("internal error (KeyError)")
    assert lines["herding"].failed == "asked for what cannot be"
    assert (lines["herding"].rows_per_class, lines["herding"].seed) == (3, 0)
    assert not lines["kmeans"].failed
    assert not any("4711" in path.read_text() for path in folder.rglob("*.json"))
    assert status(folder).done == 2
    assert dict(status(folder).failed)["table: herding, 3 rows per class, seed 0"] == "asked for what cannot be"
    monkeypatch.setattr(pieces_module, "cell_result", result)
    assert not any(line.failed for line in run(folder, table, cells))
    assert status(folder).failed == ()
    assert not list((folder / "failed").iterdir())


def test_too_few_patients_for_one_size_do_not_stop_the_experts_of_the_others(table, grid_cells, tmp_path):
    lines = run(tmp_path / "g", table, grid_cells(["btm"], sizes=(100_000, 3)))
    assert [bool(line.failed) for line in lines] == [False, True, False]


def test_status_of_every_state(grid, tmp_path):
    folder, began = tmp_path / "g", time.time()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    cells = {name: {"label": name, "cohort": "c", "title": name} for name in ("done", "here", "stale", "away", "bad")}
    for place in ("cells", "running", "failed"):
        (folder / place).mkdir(parents=True)
    (folder / "grid.json").write_text(json.dumps({"began": began - 120, "cells": cells}))
    (folder / "cells" / "done.json").write_text("{}")
    (folder / "failed" / "bad.json").write_text(json.dumps({"reason": "it could not be"}))
    places = {
        "here": (socket.gethostname(), os.getpid()),
        "stale": (socket.gethostname(), dead.pid),
        "away": ("far", 1),
    }
    for name, (host, pid) in places.items():
        (folder / "running" / f"{name}.json").write_text(json.dumps({"host": host, "pid": pid, "since": began}))
    found = status(folder)
    assert (found.done, found.waiting, found.failed) == (1, 1, (("c: bad", "it could not be"),))
    assert [title for title, _ in found.running] == ["c: here", "c: away"]
    assert found.minutes_left == pytest.approx(3 * 2, abs=0.2)
    assert status(grid[0]).minutes_left is None
    with pytest.raises(FileError, match="there is none"):
        status(tmp_path)


def test_a_result_that_is_not_finite_is_a_failure(table, grid_cells, tmp_path):
    class Diverged:
        def run(self, worker, waves, progress):
            result = CellResult(auroc=Summary(float("nan"), 0.0, 1), auprc=Summary(0.5, 0.0, 1))
            return ((piece, Outcome(result)) for wave in waves for piece in wave)

    entries = [Entry(table, cell) for cell in grid_cells(["kmeans"])]
    lines = run_grid(tmp_path / "g", entries, Diverged(), NoProgress())
    assert all("diverged" in line.failed for line in lines)
    assert len(status(tmp_path / "g").failed) == len(lines)


def whole_grid(folder):
    """Files of a grid with a cell of each state, by their place."""
    cells = {name: {"label": name, "cohort": "c", "title": name} for name in ("done", "here", "bad")}
    files = {
        "grid.json": {"began": 1.5, "cells": cells},
        "cells/done.json": {},
        "running/here.json": {"host": "far", "pid": 7, "since": 1.5},
        "failed/bad.json": {"reason": "it could not be"},
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    return files


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("grid.json", {"began": None}),
        ("grid.json", {"began": float("nan")}),
        ("grid.json", {"cells": []}),
        ("grid.json", {"cells": {"../../x": {"cohort": "c", "title": "t"}}}),
        ("grid.json", {"cells": {"x": {"cohort": "c"}}}),
        ("running/here.json", {"pid": "7"}),
        ("running/here.json", {"pid": 2**40}),
        ("running/here.json", {"pid": 0}),
        ("running/here.json", {"host": None}),
        ("failed/bad.json", {"reason": 5}),
    ],
)
def test_a_grid_that_nobody_wrote_is_refused(tmp_path, name, change):
    files = whole_grid(tmp_path)
    found = status(tmp_path)
    assert (found.done, len(found.running), len(found.failed)) == (1, 1, 1)
    (tmp_path / name).write_text(json.dumps({**files[name], **change}))
    with pytest.raises(TamperedError, match=f"{(tmp_path / name).name} of the grid was changed"):
        status(tmp_path)
    (tmp_path / name).write_text("[" * 100_000)
    with pytest.raises(TamperedError):
        status(tmp_path)


def test_nothing_is_left_of_running_cells(grid):
    folder = grid[0]
    assert not list((folder / "running").iterdir())
    assert not list((folder / "private" / "store").glob("cell-*"))
    assert (folder / "private").stat().st_mode & 0o077 == 0


def test_other_networks_are_scored_on_the_same_rows(grid, table, grid_cells, tmp_path):
    full, random = (replace(cell, networks=("mlp-1", "mlp")) for cell in grid_cells(["random"]))
    lines = run(tmp_path / "g", table, [full, random])
    for line, plain in zip(lines, (grid[2][0], grid[2][-1]), strict=True):
        assert set(line.others) == {"mlp-1", "mlp"}
        assert line.others["mlp"] == Scores(plain.auroc, plain.auprc)
        assert line.others["mlp-1"].auprc.n == 2
        assert not plain.others


def test_paths_without_rows(table, grid_cells, tmp_path):
    folder, request = tmp_path / "g", grid_cells(["btm"])[1].request
    (line,) = run(folder, table, [Cell("paths", request, "geometry")])
    found = line.paths
    assert (found.experts, len(found.loss["bezier"]), len(found.times)) == (3, 3, 21)
    assert found.epochs <= 3
    for path in ("sgd", "linear", "bezier"):
        assert found.average_loss[path] == pytest.approx([np.mean(values) for values in found.loss[path]])
        assert all(len(point) == 2 for point in found.plane[path])
    for figure in (found.curvature, found.bend, found.distance, found.prediction_gap):
        assert len(figure) == 3
    store = folder / "private" / "store"
    for what, kind in {"trajectories": "paths", "curves": "curves", "experts": "experts"}.items():
        assert found.bytes[what] == sum(path.stat().st_size for path in store.glob(f"{kind}-*.safetensors"))


def test_waves_hold_every_shared_piece_once(table, grid_cells):
    cells = grid_cells(["btm", "mtt", "random", "soft-random"], sizes=(3, 4), seeds=(0, 1))
    waves = in_waves([Piece("cell", table, "data", cell, keep_paths=True) for cell in cells])
    expert = cells[1].request.settings.expert
    assert [len(wave) for wave in waves] == [2 * pilot_count(expert), 2 * len(expert_blocks(expert)), 2, len(cells)]
    before: set[str] = set()
    for wave in waves:
        assert all(set(piece.needs) <= before for piece in wave)
        before |= {piece.name for piece in wave}


def test_other_data_or_versions_on_a_node_are_refused(table, grid_cells, tmp_path):
    piece = Piece("cell", table, "another fingerprint", grid_cells(["random"])[1])
    assert "reads other data" in Worker(tmp_path)(piece).failed
    elsewhere = Worker(tmp_path, versions={**versions(), "jax": "0.0.1"})(piece).failed
    assert "jax 0.0.1 (here" in elsewhere
    assert socket.gethostname() in elsewhere
