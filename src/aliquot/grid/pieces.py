"""Pieces of a grid's work: pilots, blocks of experts and curves that cells share, then the cells themselves.

A piece says all that it needs and can be sent to another process or machine; what comes back is a result or one
sentence. Nothing else of a failure may travel: a message that is not ours could quote patients.
"""

import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from aliquot.cohort import Cohort, EncoderSettings, Parts, encode_parts
from aliquot.cohort.parts import check_rows_per_class
from aliquot.context import Context, InMemoryStore, NoProgress, Progress
from aliquot.drafts import write_atomically
from aliquot.errors import RunFolderError, remedy_of
from aliquot.experts import expert_blocks, pilot_count
from aliquot.grid.cell import Cell, CellResult
from aliquot.grid.score import cell_result
from aliquot.identity import check_versions, identity, versions
from aliquot.loading import Positive
from aliquot.methods.precompute import Share, precompute
from aliquot.networks.training import forget_programs
from aliquot.run.source import Source
from aliquot.run.stage import Run
from aliquot.run.stages.prepare import prepare
from aliquot.run.store import FolderStore

SHARES: tuple[Share, ...] = ("length", "experts", "curves")  # in the order in which one needs the other


@dataclass(frozen=True)
class Piece:
    """One piece of work, on data of a fingerprint."""

    kind: Share | Literal["cell"]
    source: Source
    data: str
    cell: Cell  # or, of what cells share, one that needs it
    number: int = 0  # of a pilot, or of a block of experts
    keep_paths: bool = False  # of the experts
    needs: tuple[str, ...] = ()  # names of the pieces that must be done before
    title: str = ""  # for people

    @property
    def name(self) -> str:
        """A name made of all that decides the piece; a cell's is that of its file."""
        if self.kind == "cell":
            return self.cell.name(self.data)
        curve = self.cell.request.settings.curve if self.kind == "curves" else None
        return identity(self.kind, self.number, self.cell.experts(self.data), self.keep_paths, curve)


@dataclass(frozen=True)
class Outcome:
    """What became of a piece: a result, or one sentence on why there is none."""

    result: CellResult | None = None
    failed: str = ""
    stored: Mapping[str, Any] = field(default_factory=dict)  # arrays for those that need the piece, without a folder


def shared_pieces(cell: Piece) -> list[Piece]:
    """The pieces that must be done before a cell, in their order; cells that share them name them alike."""
    if "experts" not in cell.cell.needs:
        return []
    one = replace(cell.cell, request=replace(cell.cell.request, rows_per_class=1))  # no one's size may stop the others
    expert = one.request.settings.expert
    counts = {
        "length": pilot_count(expert),
        "experts": len(expert_blocks(expert)),
        "curves": int("curves" in cell.cell.needs),
    }
    pieces: list[Piece] = []
    for share in SHARES:
        before = tuple(piece.name for piece in pieces)
        for number in range(counts[share]):
            pieces.append(replace(cell, kind=share, cell=one, number=number, needs=before, title=share))
    return pieces


@dataclass(frozen=True)
class Worker:
    """Does pieces in a process that sees the grid's folder."""

    folder: Path
    cohorts: Mapping[Source, Cohort] = field(default_factory=dict)  # that are read already
    versions: Mapping[str, str] = field(default_factory=versions)  # of what decides the numbers, where the grid began

    def __call__(self, piece: Piece, progress: Progress = NoProgress()) -> Outcome:
        """Do a piece; while a cell is run, a file says where."""
        shared = FolderStore(self.folder / "private" / "store")
        if piece.kind != "cell":
            return self.attempt(piece, Context(store=InMemoryStore(), shared=shared, progress=progress))
        marker = mark(self.folder, piece)
        try:
            own = shared.within(piece.name)
            return self.attempt(piece, Context(store=own, shared=shared, progress=progress))
        except BaseException:
            marker.unlink(missing_ok=True)
            raise

    def attempt(self, piece: Piece, context: Context) -> Outcome:
        """Do a piece with these stores; a failure becomes one sentence."""
        forget_programs()  # of pieces before
        try:
            check_versions(self.versions, "a grid", f"install its versions on {socket.gethostname()}")
            return Outcome(_result(piece, self._parts(piece), context))
        except Exception as error:
            if (remedy := remedy_of(error)) is not None:
                return Outcome(failed=remedy)
            if os.environ.get("ALIQUOT_TRACEBACK"):
                raise
            hidden = "its message is withheld because it could quote patients"
            return Outcome(failed=f"internal error ({type(error).__name__}); {hidden}")

    def elsewhere(self) -> "Worker":
        """The same without the cohorts: another process reads its own."""
        return replace(self, cohorts={})

    def _parts(self, piece: Piece) -> Parts:
        """The patients of a piece, split and encoded, if they are those that the grid began with."""
        request = piece.cell.request
        cohort = self.cohorts.get(piece.source) or _read(piece.source)
        parts = _encoded(cohort, request.seed, request.settings.encoder)
        check_rows_per_class(cohort, parts.roles, request.rows_per_class)
        if parts.fingerprint != piece.data:
            raise RunFolderError(
                f"asked for the patients that the grid began with, but {socket.gethostname()} reads other data; "
                "give every node the same files, and leave them as they are while the grid runs"
            )
        return parts


def _result(piece: Piece, parts: Parts, context: Context) -> CellResult | None:
    if piece.kind == "cell":
        return cell_result(piece.cell, parts, context, keep_paths=piece.keep_paths)
    request = piece.cell.request
    run = prepare(Run(request=request, parts=parts, context=context, keep_paths=piece.keep_paths))
    precompute(run.task, request.settings, piece.kind, piece.number, key=run.keys["condense"])
    return None


@lru_cache(maxsize=2)
def _read(source: Source) -> Cohort:
    return source.read()


@lru_cache(maxsize=2)
def _encoded(cohort: Cohort, seed: int, settings: EncoderSettings) -> Parts:
    return encode_parts(cohort, seed=seed, settings=settings, rows_per_class=1)


def fingerprint_of(cohort: Cohort, cell: Cell) -> str:
    """The fingerprint of the patients as a cell sees them: split by its seed, and encoded."""
    return _encoded(cohort, cell.request.seed, cell.request.settings.encoder).fingerprint


@dataclass(frozen=True)
class Marker:
    """Where a cell is being run, and since when."""

    host: str
    pid: Positive
    since: float


def mark(folder: Path, piece: Piece) -> Path:
    """Note in a file that a cell is being run, where and since when; its path."""
    path = folder / "running" / f"{piece.name}.json"
    path.parent.mkdir(exist_ok=True)
    where = Marker(socket.gethostname(), os.getpid(), time.time())
    write_atomically(path, json.dumps(asdict(where)).encode())
    return path


def in_waves(cells: Sequence[Piece]) -> list[list[Piece]]:
    """All pieces of some cells, each once, in waves: what is in one needs only what was in those before."""
    pieces: dict[str, Piece] = {}
    for cell in cells:
        shared = {piece.name: piece for piece in shared_pieces(cell)}
        pieces |= {**shared, cell.name: replace(cell, needs=tuple(shared))}
    waves = [[piece for piece in pieces.values() if piece.kind == kind] for kind in (*SHARES, "cell")]
    return [wave for wave in waves if wave]
