"""A grid of cells on one or several cohorts: every cell once, by any executor; what is finished is never run again.

The folder says how far it is, to anyone who looks: ``grid.json`` lists the cells, ``cells/`` holds results,
``running/`` where a cell is being run, ``failed/`` why one has no result.
"""

import json
import shutil
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aliquot.cohort import Cohort
from aliquot.drafts import alive, write_atomically
from aliquot.errors import FileError, TamperedError
from aliquot.hooks import Progress
from aliquot.runs.cells import Cell, needs_dense, read_result, write_result
from aliquot.runs.executors import Executor
from aliquot.runs.pieces import Outcome, Piece, Work, in_waves
from aliquot.runs.source import EMBEDDED, Source


@dataclass(frozen=True)
class Entry:
    """A cell of a grid and the patients that it is run on."""

    source: Source
    cell: Cell

    @property
    def cohort(self) -> str:
        """What tables call the patients."""
        return self.source.cohort or Path(self.source.file.removeprefix(EMBEDDED.partition(":")[0] + ":")).stem


def run_grid(
    folder: Path,
    entries: Sequence[Entry],
    executor: Executor,
    progress: Progress,
    *,
    patients: Mapping[Source, tuple[Cohort, str]] | None = None,
) -> list[dict[str, Any]]:
    """Run all cells that are not finished; one dictionary per entry, in their order.

    Each has ``label`` and ``cohort`` with the cell's result, or with ``failed``, the reason why there is none. A cell
    that fails does not stop the others, and is tried again next time. ``patients`` are what some sources gave when they
    were read, if that is known already.
    """
    known = dict(patients or {})
    for entry in entries:
        known[entry.source] = known.get(entry.source) or entry.source.read()
    pieces = [_piece(number, entry, entries, known[entry.source][1]) for number, entry in enumerate(entries, 1)]
    names = [piece.name for piece in pieces]
    (folder / "private").mkdir(mode=0o700, parents=True, exist_ok=True)
    _write_plan(folder, entries, names)
    fresh = {piece.name: piece for piece in pieces if not _cell(folder, piece.name).exists()}
    work = Work(folder, {source: cohort for source, (cohort, _) in known.items()})
    for piece, outcome in executor.run(work, in_waves(list(fresh.values())), progress):
        if piece.kind == "cell":
            _settle(folder, piece.name, outcome)
    return [_line(folder, entry, name) for entry, name in zip(entries, names, strict=True)]


def _piece(number: int, entry: Entry, entries: Sequence[Entry], data: str) -> Piece:
    rivals = [other.cell for other in entries if other.source == entry.source]
    title = f"{number}/{len(entries)} {described(entry.cell)}"
    return Piece("cell", entry.source, data, entry.cell, dense=needs_dense(entry.cell, rivals), title=title)


def described(cell: Cell) -> str:
    """A cell for people.

    >>> from aliquot.runs.pipeline import Request
    >>> from aliquot.runs.settings import load_settings
    >>> described(Cell("btm", Request(settings=load_settings(), rows_per_class=10, seed=3)))
    'btm, 10 rows per class, seed 3'
    """
    size = f", {cell.request.rows_per_class} rows per class" if cell.kind == "rows" else ""
    return f"{cell.label}{size}, seed {cell.request.seed}"


def _write_plan(folder: Path, entries: Sequence[Entry], names: Sequence[str]) -> None:
    cells = {
        name: {"label": entry.cell.label, "cohort": entry.cohort, "title": described(entry.cell)}
        for entry, name in zip(entries, names, strict=True)
    }
    write_atomically(folder / "grid.json", json.dumps({"began": time.time(), "cells": cells}, indent=1).encode())


def _settle(folder: Path, name: str, outcome: Outcome) -> None:
    """Write what became of a cell; its checkpoints are no longer needed once it has a result."""
    failed = _failed(folder, name)
    if outcome.failed:
        failed.parent.mkdir(exist_ok=True)
        write_atomically(failed, json.dumps({"reason": outcome.failed}).encode())
    else:
        write_result(_cell(folder, name), outcome.result)
        failed.unlink(missing_ok=True)
        shutil.rmtree(folder / "private" / "store" / f"cell-{name}", ignore_errors=True)
    _running(folder, name).unlink(missing_ok=True)


def _line(folder: Path, entry: Entry, name: str) -> dict[str, Any]:
    who = {"label": entry.cell.label, "cohort": entry.cohort}
    asked = {"rows_per_class": entry.cell.request.rows_per_class, "seed": entry.cell.request.seed}
    try:
        if _cell(folder, name).exists():
            return {**who, **read_result(_cell(folder, name))}
        return {**who, **asked, "failed": _json(_failed(folder, name))["reason"]}
    except TamperedError as reason:
        return {**who, **asked, "failed": str(reason)}


@dataclass(frozen=True)
class GridStatus:
    """How far a grid is."""

    done: int
    running: tuple[tuple[str, str], ...]  # title and where
    failed: tuple[tuple[str, str], ...]  # title and reason
    waiting: int
    minutes_left: float | None  # None: not known, or nobody is at work


def status(folder: Path) -> GridStatus:
    """How far the grid in a folder is, by its files alone."""
    if not (folder / "grid.json").is_file():
        raise FileError(f"asked for the grid in {folder}, but there is none; check the path")
    plan = _json(folder / "grid.json")
    titles = {name: f"{cell['cohort']}: {cell['title']}" for name, cell in plan["cells"].items()}
    ends = {name: _cell(folder, name).stat().st_mtime for name in titles if _cell(folder, name).exists()}
    running = {name: where for name in titles if name not in ends and (where := _where(_running(folder, name)))}
    left = [name for name in titles if name not in ends and name not in running]
    failed = {name: _json(_failed(folder, name))["reason"] for name in left if _failed(folder, name).exists()}
    waiting, fresh = len(left) - len(failed), [end for end in ends.values() if end >= plan["began"]]
    pace = (max(fresh) - plan["began"]) / len(fresh) / 60 if fresh else None  # minutes per cell, however many at once
    return GridStatus(
        done=len(ends),
        running=tuple((titles[name], where) for name, where in running.items()),
        failed=tuple((titles[name], reason) for name, reason in failed.items()),
        waiting=waiting,
        minutes_left=None if pace is None or not running else pace * (len(running) + waiting),
    )


def _where(path: Path) -> str:
    """Where a cell is being run and for how long; nothing if nobody does, or who did is dead."""
    try:
        marker = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return ""
    if marker["host"] == socket.gethostname() and not alive(marker["pid"]):
        return ""
    return f"{marker['host']}, process {marker['pid']}, for {(time.time() - marker['since']) / 60:.0f} min"


def _json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError:
        raise TamperedError(
            f"{path.name} of the grid was changed or is not whole; run the same command again"
        ) from None


def _cell(folder: Path, name: str) -> Path:
    return folder / "cells" / f"{name}.json"


def _failed(folder: Path, name: str) -> Path:
    return folder / "failed" / f"{name}.json"


def _running(folder: Path, name: str) -> Path:
    return folder / "running" / f"{name}.json"
