"""A grid of cells on one or several cohorts: every cell once, by any executor; what is finished is never run again.

The folder says how far it is, to anyone who looks: ``grid.json`` lists the cells, ``cells/`` holds results,
``running/`` where a cell is being run, ``failed/`` why one has no result.
"""

import json
import shutil
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta

from aliquot.cohort import Cohort
from aliquot.context import Progress
from aliquot.drafts import alive, write_atomically
from aliquot.errors import AliquotError, FileError, TamperedError
from aliquot.grid.cell import Cell, CellResult
from aliquot.grid.executors import Executor
from aliquot.grid.pieces import Marker, Outcome, Piece, Worker, fingerprint_of, in_waves
from aliquot.identity import check_versions, checksum_text, versions
from aliquot.loading import NotAsWrittenError, Versions, expecting, json_in, plain, require
from aliquot.run.private import private_folder
from aliquot.run.source import EMBEDDED, Source

T = TypeVar("T")
CellName = Annotated[str, Meta(pattern=r"^[\w-]+$")]  # a name of files too


@dataclass(frozen=True)
class _Described:
    cohort: str
    title: str


@dataclass(frozen=True)
class _Grid:
    began: float
    cells: dict[CellName, _Described]


@dataclass(frozen=True)
class _Failure:
    reason: str


@dataclass(frozen=True)
class _Made:
    versions: Versions | None = None


@dataclass(frozen=True)
class _Finished:
    result: dict[str, Any]
    sha256: str


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
    cohorts: Mapping[Source, Cohort] | None = None,
) -> list[CellResult]:
    """Run all cells that are not finished; one result per entry, in their order.

    A cell that fails does not stop the others: its result says why, and it is tried again next time. ``cohorts`` are
    what some sources gave when they were read, if that is known already.
    """
    known = dict(cohorts or {})
    for entry in entries:
        known[entry.source] = known.get(entry.source) or entry.source.read()
    pieces = _pieces(entries, known)
    names = [piece.name for piece in pieces]
    private_folder(folder / "private")
    _write_plan(folder, entries, names)
    fresh = {piece.name: piece for piece in pieces if not _is_done(folder, piece.name)}
    worker = Worker(folder, known)
    for piece, outcome in executor.run(worker, in_waves(list(fresh.values())), progress):
        if piece.kind == "cell":
            _settle(folder, piece.name, outcome)
    return [_result(folder, entry, name) for entry, name in zip(entries, names, strict=True)]


def _pieces(entries: Sequence[Entry], cohorts: Mapping[Source, Cohort]) -> list[Piece]:
    """A piece for every cell. Experts whose whole paths some cell follows are kept with their paths."""
    data = [_fingerprint(cohorts[entry.source], entry.cell) for entry in entries]
    followed = {
        entry.cell.experts(mark) for entry, mark in zip(entries, data, strict=True) if "paths" in entry.cell.needs
    }
    return [
        Piece(
            "cell",
            entry.source,
            mark,
            entry.cell,
            keep_paths=entry.cell.experts(mark) in followed,
            title=f"{number}/{len(entries)} {described(entry.cell)}",
        )
        for number, (entry, mark) in enumerate(zip(entries, data, strict=True), 1)
    ]


def _fingerprint(cohort: Cohort, cell: Cell) -> str:
    """That of the patients as the cell sees them; of patients who cannot be split, which will fail, that of nobody."""
    try:
        return fingerprint_of(cohort, cell)
    except AliquotError:
        return ""


def described(cell: Cell) -> str:
    """A cell for people.

    >>> from aliquot.presets.settings import load_settings
    >>> from aliquot.run.request import Request
    >>> described(Cell("btm", Request(settings=load_settings(), method="btm", rows_per_class=10, seed=3)))
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
    failed, reason = _failed(folder, name), outcome.failed or _not_finite(outcome.result)
    if reason:
        failed.parent.mkdir(exist_ok=True)
        write_atomically(failed, json.dumps({"reason": reason}).encode())
    elif outcome.result is not None:
        _write_result(_cell(folder, name), outcome.result)
        failed.unlink(missing_ok=True)
        shutil.rmtree(folder / "private" / "store" / name, ignore_errors=True)
    _running(folder, name).unlink(missing_ok=True)


def _not_finite(result: CellResult | None) -> str:
    """Why a result cannot be kept: it holds what is no number; nothing where it can."""
    try:
        plain(None if result is None else result.to_json())
    except NotAsWrittenError:
        return "its networks diverged: a figure of it is not finite; use smaller learning rates"
    return ""


def _result(folder: Path, entry: Entry, name: str) -> CellResult:
    label, cohort, request = entry.cell.label, entry.cohort, entry.cell.request
    try:
        if _cell(folder, name).exists():
            return replace(_read_result(_cell(folder, name)), label=label, cohort=cohort)
        reason = _json(_failed(folder, name), _Failure).reason
    except TamperedError as error:
        reason = str(error)
    size, seed = request.rows_per_class, request.seed
    return CellResult(label=label, cohort=cohort, rows_per_class=size, seed=seed, failed=reason)


def _is_done(folder: Path, name: str) -> bool:
    """Whether a cell has a result; one of another version is an error, so that versions never mix in a table."""
    path = _cell(folder, name)
    if not path.exists():
        return False
    try:
        found = json_in(path, _Made).versions
    except NotAsWrittenError:
        return True  # not whole: the table says so
    check_versions(found, f"results in {folder}", "install these versions, or choose another folder")
    return True


def _write_result(path: Path, result: CellResult) -> None:
    """Keep a cell's result, all or nothing, with the versions that made it and a checksum."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = result.to_json()
    document = {"result": content, "versions": versions(), "sha256": checksum_text(json.dumps(content))}
    write_atomically(path, json.dumps(document, indent=1).encode())


def _read_result(path: Path) -> CellResult:
    """A finished cell; a file that is not what was written is an error that says how to have it done again."""
    again = f"the result {path.name} was changed or is not whole; delete it to have that cell run again"
    with expecting(TamperedError(again)):
        document = json_in(path, _Finished)
        require(document.sha256 == checksum_text(json.dumps(document.result)))
        return CellResult.from_json(document.result)


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
    plan = _json(folder / "grid.json", _Grid)
    titles = {name: f"{cell.cohort}: {cell.title}" for name, cell in plan.cells.items()}
    ends = {name: _cell(folder, name).stat().st_mtime for name in titles if _cell(folder, name).exists()}
    running = {name: where for name in titles if name not in ends and (where := _where(_running(folder, name)))}
    left = [name for name in titles if name not in ends and name not in running]
    failed = {name: _json(_failed(folder, name), _Failure).reason for name in left if _failed(folder, name).exists()}
    waiting, fresh = len(left) - len(failed), [end for end in ends.values() if end >= plan.began]
    pace = (max(fresh) - plan.began) / len(fresh) / 60 if fresh else None  # minutes per cell, however many at once
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
        marker = _json(path, Marker)
    except FileNotFoundError:
        return ""
    if marker.host == socket.gethostname() and not alive(marker.pid):
        return ""
    return f"{marker.host}, process {marker.pid}, for {(time.time() - marker.since) / 60:.0f} min"


def _json(path: Path, kind: type[T]) -> T:
    changed = f"{path.name} of the grid was changed or is not whole; run the same command again"
    with expecting(TamperedError(changed)):
        return json_in(path, kind)


def _cell(folder: Path, name: str) -> Path:
    return folder / "cells" / f"{name}.json"


def _failed(folder: Path, name: str) -> Path:
    return folder / "failed" / f"{name}.json"


def _running(folder: Path, name: str) -> Path:
    return folder / "running" / f"{name}.json"
