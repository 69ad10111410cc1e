"""Pieces of a grid's work: pilots, blocks of experts and curves that cells share, then the cells themselves.

A piece says all that it needs and can be sent to another process or machine; what comes back is a result or one
sentence. Nothing else of a failure may travel: a message that is not ours could quote patients.
"""

import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from aliquot.cohort import Cohort
from aliquot.digest import digest
from aliquot.drafts import write_atomically
from aliquot.errors import AliquotError, RunFolderError
from aliquot.experts import expert_blocks, pilot_count
from aliquot.hooks import Progress, Silence
from aliquot.methods.ahead import Share, work_ahead
from aliquot.runs.cells import Around, Cell, cell_result, experts_of
from aliquot.runs.pipeline import prepare, task_of, versions
from aliquot.runs.programs import forget_programs
from aliquot.runs.source import Source
from aliquot.runs.store import Notebook, Store
from aliquot.seeds import streams

SHARES: tuple[Share, ...] = ("length", "experts", "curves")  # in the order in which one needs the other


@dataclass(frozen=True)
class Piece:
    """One piece of work, on the data of a fingerprint."""

    kind: Share | Literal["cell"]
    source: Source
    data: str
    cell: Cell  # or, of what cells share, one that needs it
    number: int = 0  # of a pilot, or of a block of experts
    dense: bool = False  # keep whole trajectories of the experts
    needs: tuple[str, ...] = ()  # names of the pieces that must be done before
    title: str = ""  # for people

    @property
    def name(self) -> str:
        """A name made of all that decides the piece; a cell's is that of its file."""
        if self.kind == "cell":
            return self.cell.name(self.data)
        curve = self.cell.request.settings.curve if self.kind == "curves" else None
        return digest(self.kind, self.number, self.data, experts_of(self.cell), self.dense, curve)


@dataclass(frozen=True)
class Outcome:
    """What became of a piece: a result, or one sentence on why there is none."""

    result: dict[str, Any] = field(default_factory=dict)
    failed: str = ""
    kept: Mapping[str, Any] = field(default_factory=dict)  # arrays for those that need the piece, where no folder is


def ahead_of(cell: Piece) -> list[Piece]:
    """The pieces that must be done before a cell, in their order; who shares them names them alike."""
    if not cell.cell.needs_experts:
        return []
    one = replace(cell.cell, request=replace(cell.cell.request, rows_per_class=1))  # no one's size may stop the others
    expert = one.request.settings.expert
    counts = {
        "length": pilot_count(expert),
        "experts": len(expert_blocks(expert)),
        "curves": int(cell.cell.needs_curves),
    }
    pieces: list[Piece] = []
    for share in SHARES:
        before = tuple(piece.name for piece in pieces)
        for number in range(counts[share]):
            pieces.append(replace(cell, kind=share, cell=one, number=number, needs=before, title=share))
    return pieces


@dataclass(frozen=True)
class Work:
    """How pieces are done in a process that sees the grid's folder."""

    folder: Path
    cohorts: Mapping[Source, Cohort] = field(default_factory=dict)  # that are read already
    versions: Mapping[str, str] = field(default_factory=versions)  # of what decides the numbers, where the grid began

    def __call__(self, piece: Piece, progress: Progress = Silence()) -> Outcome:
        """Do a piece; while a cell is run, a file says where."""
        store = Store(self.folder / "private" / "store")
        if piece.kind != "cell":
            return self.attempt(piece, store, Notebook(), progress)
        marker = mark(self.folder, piece)
        try:
            return self.attempt(piece, store, store.within(f"cell-{piece.name}"), progress)
        except BaseException:
            marker.unlink(missing_ok=True)
            raise

    def attempt(
        self, piece: Piece, shared: Store | Notebook, own: Store | Notebook, progress: Progress = Silence()
    ) -> Outcome:
        """Do a piece with these memories; a failure becomes one sentence."""
        forget_programs()  # of pieces before
        try:
            _check_versions(self.versions)
            cohort = self.cohorts.get(piece.source) or _read(piece.source, piece.data)
            return Outcome(_result(piece, cohort, Around(own, shared, piece.dense, progress=progress)))
        except AliquotError as reason:
            return Outcome(failed=str(reason))
        except OSError as error:
            return Outcome(failed=f"could not read or write a file: {os.strerror(error.errno or 0).lower()}")
        except MemoryError:
            return Outcome(failed="this needs more memory than there is; use fewer workers or a smaller expert.block")
        except Exception as error:
            if os.environ.get("ALIQUOT_TRACEBACK"):
                raise
            hidden = "its message is withheld because it could quote patients"
            return Outcome(failed=f"internal error ({type(error).__name__}); {hidden}")

    def elsewhere(self) -> "Work":
        """The same without the cohorts: another process reads its own."""
        return replace(self, cohorts={})


def _result(piece: Piece, cohort: Cohort, around: Around) -> dict[str, Any]:
    if piece.kind == "cell":
        return cell_result(cohort, piece.cell, around)
    request = piece.cell.request
    task = task_of(cohort, request, prepare(cohort, request), around.own, around.shared, around.progress)
    key = streams(request.seed)["condense"]
    work_ahead(replace(task, dense=piece.dense), request.settings, piece.kind, piece.number, key=key)
    return {}


@lru_cache(maxsize=2)
def _read(source: Source, data: str) -> Cohort:
    """The patients of a source, if they are those of the fingerprint."""
    cohort, found = source.read()
    if found != data:
        raise RunFolderError(
            f"asked for the patients that the grid began with, but {socket.gethostname()} reads other data; "
            "give every node the same files, and leave them as they are while the grid runs"
        )
    return cohort


def _check_versions(expected: Mapping[str, str]) -> None:
    here = versions()
    other = [f"{name} {here[name]} (not {expected[name]})" for name in expected if here[name] != expected[name]]
    if other:
        raise RunFolderError(
            f"asked {socket.gethostname()} to work, but it has {', '.join(other)}; install the same versions everywhere"
        )


def mark(folder: Path, piece: Piece) -> Path:
    """Note in a file that a cell is being run, where and since when; its path."""
    path = folder / "running" / f"{piece.name}.json"
    path.parent.mkdir(exist_ok=True)
    where = {"host": socket.gethostname(), "pid": os.getpid(), "since": time.time()}
    write_atomically(path, json.dumps(where).encode())
    return path


def in_waves(cells: Sequence[Piece]) -> list[list[Piece]]:
    """All pieces of some cells, each once, in waves: what is in one needs only what was in those before."""
    pieces: dict[str, Piece] = {}
    for cell in cells:
        ahead = {piece.name: piece for piece in ahead_of(cell)}
        pieces |= {**ahead, cell.name: replace(cell, needs=tuple(ahead))}
    waves = [[piece for piece in pieces.values() if piece.kind == kind] for kind in (*SHARES, "cell")]
    return [wave for wave in waves if wave]
