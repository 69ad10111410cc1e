"""Made-up results in the shape that the grid returns."""

import zlib
from dataclasses import replace

import numpy as np
import pytest

from aliquot.evaluate.results import Scores, Summary
from aliquot.grid.cell import Cell, CellResult, Evaluations
from aliquot.grid.geometry import PathsResult


def ranking(auroc: float, auprc: float) -> Scores:
    return Scores(Summary(auroc, 0.01, 2), Summary(auprc, 0.01, 2))


def nested(array: np.ndarray) -> tuple:
    return tuple(nested(part) if part.ndim else float(part) for part in array)


def made_up(cohort: str, cell: Cell) -> CellResult:
    """A result of a cell: scores follow from its name, so that the same cell always has the same."""
    request = cell.request
    rng = np.random.default_rng(zlib.crc32(f"{cohort}{request.method}{request.seed}{request.preset}".encode()))
    score = float(rng.uniform(0.4, 0.6)) + request.rows_per_class / 1e4
    scores = ranking(score + 0.3, score)
    asked = {"method": request.chosen.name, "rows_per_class": request.rows_per_class, "seed": request.seed}
    if cell.kind == "geometry":
        return CellResult(**asked, paths=made_up_paths(rng))
    found = {**asked, "auroc": scores.auroc, "auprc": scores.auprc}
    if cell.kind == "full":
        return CellResult(**found, fixed_epochs=ranking(0.85, 0.35))
    history = Evaluations(iteration=(0, 20, 40), loss=(None, *rng.random(2)), tuning=(0.3, 0.4, 0.5))
    costs = {"seconds": 2.0, "expert_seconds": 1.0, "trajectory_bytes": 10}
    return CellResult(**found, history=history, others=dict.fromkeys(cell.networks, scores), **costs)


def made_up_paths(rng: np.random.Generator) -> PathsResult:
    losses = {path: rng.random((3, 5)) + place for place, path in enumerate(("sgd", "linear", "bezier"))}
    return PathsResult(
        times=nested(np.linspace(0, 1, 5)),
        loss={path: nested(values) for path, values in losses.items()},
        plane={path: nested(rng.random((6, 2))) for path in losses},
        average_loss={path: nested(values.mean(axis=1)) for path, values in losses.items()},
        **{name: nested(rng.random(3)) for name in ("curvature", "bend", "distance", "prediction_gap")},
        bytes={"trajectories": 3_030_000, "curves": 30_000, "experts": 60_000},
        experts=5,
        epochs=100,
    )


@pytest.fixture
def drawn():
    """Pictures are drawn."""


@pytest.fixture
def fake_grid(monkeypatch, request):
    """A grid that answers at once; it notes what it was asked, and fails the methods that a test names.

    Pictures take long: they are made, but not written, except in tests that ask for ``drawn``.
    """
    import aliquot.paper.pages as pages
    import aliquot.paper.reproduce as module

    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(pages, "write_pictures", lambda *around: None)

    class Grid:
        entries = ()
        failing = ()

        def run(self, folder, entries, executor, progress):
            self.entries = entries
            (folder / "cells").mkdir(parents=True, exist_ok=True)
            (folder / "grid.json").touch()
            return [self.answer(entry) for entry in entries]

        def answer(self, entry):
            request, cohort = entry.cell.request, entry.source.cohort
            named = {"label": entry.cell.label, "cohort": cohort}
            if request.method in self.failing and entry.cell.kind == "rows":
                reason = "asked for 50 % more_rows than there are; ask for fewer"
                return CellResult(**named, rows_per_class=request.rows_per_class, seed=request.seed, failed=reason)
            return replace(made_up(cohort, entry.cell), **named)

    grid = Grid()
    monkeypatch.setattr(module, "run_grid", grid.run)
    return grid
