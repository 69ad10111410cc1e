"""Made-up results in the shape that the grid returns."""

import zlib

import numpy as np
import pytest


def metric(mean: float) -> dict:
    return {"mean": mean, "std": 0.01, "n": 2}


def made_up(cohort: str, cell) -> dict:
    """A result of a cell: scores follow from its name, so that the same cell always has the same."""
    request = cell.request
    rng = np.random.default_rng(zlib.crc32(f"{cohort}{request.method}{request.seed}{request.preset}".encode()))
    score = float(rng.uniform(0.4, 0.6)) + request.rows_per_class / 1e4
    scores = {"auroc": metric(score + 0.3), "auprc": metric(score)}
    asked = {"method": request.method, "rows_per_class": request.rows_per_class, "seed": request.seed}
    if cell.kind == "ways":
        losses = {way: (rng.random((3, 5)) + place).tolist() for place, way in enumerate(("sgd", "linear", "bezier"))}
        return {
            **asked,
            "times": np.linspace(0, 1, 5).tolist(),
            "loss": losses,
            "plane": {way: rng.random((6, 2)).tolist() for way in losses},
            "average_loss": {way: np.mean(values, axis=1).tolist() for way, values in losses.items()},
            **{name: rng.random(3).tolist() for name in ("curvature", "bend", "distance", "prediction_gap")},
            "bytes": {"trajectories": 3_030_000, "curves": 30_000, "experts": 60_000},
            "experts": 5,
            "epochs": 100,
        }
    if cell.kind == "full":
        return {**asked, **scores, "fixed_epochs": {"auroc": metric(0.85), "auprc": metric(0.35)}}
    history = {"iteration": [0, 20, 40], "loss": [None, *rng.random(2)], "tuning": [0.3, 0.4, 0.5]}
    others = dict.fromkeys(cell.networks, scores)
    costs = {"seconds": 2.0, "expert_seconds": 1.0, "trajectory_bytes": 10}
    return {**asked, **scores, "history": history, "others": others, **costs}


@pytest.fixture
def drawn():
    """Pictures are drawn."""


@pytest.fixture
def fake_grid(monkeypatch, request):
    """A grid that answers at once; it notes what it was asked, and fails the methods that a test names.

    Pictures take long: they are made, but not written, except in tests that ask for ``drawn``.
    """
    import aliquot.paper.reproduce as module
    import aliquot.paper.writing as writing

    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(writing, "draw", lambda *around: None)

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
                return {
                    **named,
                    "rows_per_class": request.rows_per_class,
                    "seed": request.seed,
                    "failed": "asked for 50 % more_rows than there are; ask for fewer",
                }
            return {**named, **made_up(cohort, entry.cell)}

    grid = Grid()
    monkeypatch.setattr(module, "run_grid", grid.run)
    return grid
