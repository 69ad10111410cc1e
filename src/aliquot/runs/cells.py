"""One cell of a comparison: a method at a size with a seed. A pure function of these and of the data.

A finished cell is one JSON file named by everything that decides it; cells of one folder share experts, curves and
full-data networks through one store.
"""

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aliquot.cohort import Cohort
from aliquot.digest import digest
from aliquot.errors import TamperedError
from aliquot.evaluate import summarised
from aliquot.evaluate.held_out import score_full_data, score_rows
from aliquot.hooks import Progress, Silence
from aliquot.methods import DENSE, method_named
from aliquot.runs.pipeline import Request, prepare, task_of
from aliquot.runs.settings import Settings, load_settings
from aliquot.runs.store import Store, checksum_text, write_atomically
from aliquot.seeds import streams

REPORTED = ("auroc", "auprc")
FULL = "full data"  # label of the cell that trains on all patients


@dataclass(frozen=True)
class Cell:
    """What is asked of one cell; its label is what tables call it."""

    label: str
    request: Request

    def name(self, data: str) -> str:
        """The name of its file: made of the data's fingerprint and of everything that is asked."""
        return digest(data, self.label == FULL, self.request)


@dataclass(frozen=True)
class Variant:
    """A method as it is compared: with a preset of its own, and with single settings changed."""

    label: str
    method: str
    preset: str | None = None  # None: as all others
    overrides: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Variant":
        """The variant of ``METHOD[+PATH][:PRESET]``, as in ``btm``, ``mtt+bezier`` or ``btm:paper``."""
        method, _, preset = text.partition(":")
        return cls(text, method, preset or None)


def cells_of(
    variants: Sequence[Variant],
    sizes: Sequence[int],
    seeds: Sequence[int],
    *,
    preset: str = "default",
    budget: str = "cpu",
    looks: int = 40,
    series: bool = False,
    file: Path | None = None,
    overrides: tuple[str, ...] = (),
) -> list[Cell]:
    """All cells of a comparison, seed by seed: full data, then every variant at every size.

    Network, encoder and evaluation are those of ``preset`` for all, and everybody is judged equally often on the tuning
    part, ``looks`` times.
    """
    common = load_settings(preset, budget, series=series, file=file, overrides=overrides)

    def cell(variant: Variant, size: int, seed: int) -> Cell:
        asked = {"method": variant.method, "rows_per_class": size}
        chosen, changes = variant.preset or preset, (*overrides, *variant.overrides)
        settings = load_settings(chosen, budget, series=series, file=file, overrides=changes, **asked)
        settings = _on_equal_terms(settings, common, looks)
        return Cell(variant.label, Request(settings=settings, seed=seed, preset=chosen, budget=budget, **asked))

    cells = []
    for seed in seeds:
        cells.append(Cell(FULL, Request(settings=common, rows_per_class=1, seed=seed, preset=preset, budget=budget)))
        cells += [cell(variant, size, seed) for size in sizes for variant in variants]
    return cells


def _on_equal_terms(settings: Settings, common: Settings, looks: int) -> Settings:
    """A method's settings with the protocol that all share."""

    def every(iterations: int) -> int:
        return -(-iterations // looks)

    return replace(
        settings,
        network=common.network,
        encoder=common.encoder,
        evaluation=common.evaluation,
        match=replace(settings.match, judge_every=every(settings.match.iterations)),
        distribution=replace(settings.distribution, judge_every=every(settings.distribution.iterations)),
        gradients=replace(settings.gradients, judge_every=every(settings.gradients.iterations)),
    )


def run_cell(
    cohort: Cohort, data: str, cell: Cell, folder: Path, *, dense: bool = False, progress: Progress = Silence()
) -> dict[str, Any]:
    """The result of a cell, from its file if it is finished.

    ``dense`` keeps whole trajectories of the experts, because another cell will follow them.
    """
    name = cell.name(data)
    path = folder / "cells" / f"{name}.json"
    if path.exists():
        return _read(path)
    shared = Store(folder / "private" / "store")
    own = shared.within(f"cell-{name}")
    run = _full_data if cell.label == FULL else _condensed
    result = run(cohort, cell.request, own, shared, dense, progress)
    asked = ("method", "preset", "budget", "rows_per_class", "seed")
    result = {**{name: getattr(cell.request, name) for name in asked}, **result}
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"result": result, "sha256": checksum_text(json.dumps(result))}
    write_atomically(path, json.dumps(document, indent=1).encode())
    shutil.rmtree(own.folder)
    return result


def _read(path: Path) -> dict[str, Any]:
    """A finished cell; a file that is not what was written is an error that says how to have it done again."""
    try:
        document = json.loads(path.read_text("utf-8"))
        result = document["result"]
        intact = document["sha256"] == checksum_text(json.dumps(result))
    except (ValueError, KeyError, TypeError):
        intact, result = False, {}
    if not intact:
        raise TamperedError(
            f"the result {path.name} was changed or is not whole; delete it to have that cell run again"
        )
    return result


def needs_dense(cell: Cell, cells: Sequence[Cell]) -> bool:
    """Whether another cell will follow whole trajectories of the same experts."""
    return any(_follows_checkpoints(other) and _experts(other) == _experts(cell) for other in cells)


def _follows_checkpoints(cell: Cell) -> bool:
    return "slots" in method_named(cell.request.method).changes and cell.request.settings.slots.path in DENSE


def _experts(cell: Cell) -> tuple[Any, ...]:
    settings = cell.request.settings
    return settings.expert, settings.slots.experts, settings.network, cell.request.seed


def _condensed(cohort, request: Request, own: Store, shared: Store, dense: bool, progress: Progress) -> dict[str, Any]:
    parts, settings, keys = prepare(cohort, request), request.settings, streams(request.seed)
    task = replace(task_of(cohort, request, parts, own, shared, progress), dense=dense)
    since = time.perf_counter()
    found = method_named(request.method).condense(task, settings, key=keys["condense"])
    seconds = time.perf_counter() - since
    offset, logits = score_rows(task.network, settings.evaluation, parts, [(found.x, found.targets)], keys=keys)
    scores = summarised(parts.held_out.labels, logits, offset)
    return {
        **{metric: scores[metric] for metric in REPORTED},
        "tuning": float(max(found.history.get("tuning", [task.judge.rows(found.x, found.targets).mean]))),
        "iterations": len(found.history.get("loss", ())),
        "best_iteration": found.best_iteration,
        "skipped": found.skipped,
        "seconds": round(seconds, 2),
        "expert_seconds": round(found.expert_seconds, 2),
        "expert_epochs": found.expert_epochs,
        "trajectory_bytes": shared.size(*found.stored),
        "notes": list(found.notes),
    }


def _full_data(cohort, request: Request, own: Store, shared: Store, dense: bool, progress: Progress) -> dict[str, Any]:
    parts = prepare(cohort, request)
    task = task_of(cohort, request, parts, own, shared, progress)
    around = {"keys": streams(request.seed), "judge": task.judge, "memory": shared, "progress": progress}
    scores, epoch = score_full_data(task.network, request.settings.evaluation, parts, **around)
    return {
        **{metric: scores["full_best_epoch"][metric] for metric in REPORTED},
        "fixed_epochs": {metric: scores["full"][metric] for metric in REPORTED},
        "best_epoch": epoch,
    }
