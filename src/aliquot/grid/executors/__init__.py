"""Where the pieces of a grid are done: in this process, in several, or on several machines. Results are the same."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Protocol

from aliquot.context import Progress
from aliquot.errors import SettingsError, known_names
from aliquot.grid.pieces import Outcome, Piece, Worker

EXECUTORS = ("local", "joblib", "ray")
STORES = ("folder", "objects")
STAGE_TITLES = {"length": "expert length", "experts": "experts", "curves": "curves", "cell": "cells"}

Done = Iterator[tuple[Piece, Outcome]]


class Executor(Protocol):
    """Does pieces of work, and hands each back with what became of it."""

    def run(self, worker: Worker, waves: Sequence[Sequence[Piece]], progress: Progress) -> Done:
        """Do all pieces, one wave after the other; within a wave in any order, and no failure stops another piece.

        The last wave are the cells. An executor that does one piece after the other may leave out the waves before it:
        a cell makes what it does not find.
        """
        ...


def executor_named(
    name: str,
    *,
    workers: int | None = None,
    address: str | None = None,
    store: Literal["folder", "objects"] | str = "folder",
) -> Executor:
    """The executor of a name: ``local``, ``joblib`` with that many processes, or ``ray``.

    Without ``workers`` there are as many as CPUs; without ``address`` Ray is started on this machine and stopped at the
    end. ``store`` says how Ray's nodes share experts and curves: through the grid's folder, which all of them must see,
    or through Ray's object store.
    """
    if name not in EXECUTORS:
        raise SettingsError(f"asked for executor {name!r}; {known_names(name, EXECUTORS)}")
    if store not in STORES:
        raise SettingsError(f"asked for store {store!r}; {known_names(store, STORES)}")
    if name == "local" and workers not in (None, 1):
        raise SettingsError(f"asked for {workers} workers with the executor local, which is one; use joblib or ray")
    if name != "ray" and (address is not None or store != "folder"):
        raise SettingsError(f"asked for an address or a store with the executor {name}; only ray has them")
    if name == "local":
        from aliquot.grid.executors.local import Local

        return Local()
    if name == "joblib":
        from aliquot.grid.executors.processes import Processes

        return Processes(workers)
    from aliquot.grid.executors.cluster import Cluster

    return Cluster(workers, address, store)


def with_progress(progress: Progress, wave: Sequence[Piece], done: Iterable[tuple[Piece, Outcome]]) -> Done:
    """What is done of a wave, as it is done, with progress."""
    progress.stage(STAGE_TITLES[wave[0].kind], len(wave))
    for piece, outcome in done:
        progress.advance()
        yield piece, outcome
