"""Several machines, by Ray. Ray is imported when a grid runs, never before."""

import json
import logging
import os
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from aliquot.cohort import Cohort
from aliquot.context import Context, InMemoryStore, Progress
from aliquot.drafts import write_atomically
from aliquot.errors import SettingsError, TamperedError
from aliquot.grid.executors import Done, with_progress
from aliquot.grid.executors.threads import limit_threads
from aliquot.grid.pieces import Outcome, Piece, Worker, mark
from aliquot.loading import expecting, json_in
from aliquot.run.store import FolderStore, as_file

CPUS = 1  # that a piece takes
RETRIES = 3  # of a piece whose worker or node died
PATIENCE = 5.0  # seconds in which a cluster must answer
Arrays = Mapping[str, Mapping[str, np.ndarray]]  # by the names under which they are kept
HERE = "local"  # Ray's word for a cluster of its own on this machine


class Cluster:
    """Pieces as Ray tasks of one CPU each, tried again on another node when theirs dies.

    At most ``workers`` pieces are handed to Ray at once, by default as many as the cluster has CPUs.
    """

    def __init__(self, workers: int | None = None, address: str | None = None, store: str = "folder"):
        if find_spec("ray") is None:
            raise SettingsError(
                'asked for executor ray, which is not installed; install it: pip install "aliquot[ray]"'
            )
        if address not in (None, "auto"):
            _check_answers(str(address))
        self._workers, self._address, self._store = workers, address, store

    def run(self, worker: Worker, waves: Sequence[Sequence[Piece]], progress: Progress) -> Done:
        """Do each wave as tasks; with the store ``objects`` all data pass through this process."""
        with _connected(self._address, self._workers) as ray:
            send = _Objects(ray, worker) if self._store == "objects" else _Folder(ray, worker)
            for wave in waves:
                yield from with_progress(progress, wave, self._wave(ray, send, wave))

    def _wave(self, ray: Any, send: "_Folder | _Objects", wave: Sequence[Piece]) -> Done:
        waiting, running = list(reversed(wave)), {}
        while waiting or running:
            while waiting and len(running) < (self._workers or max(1, int(ray.cluster_resources().get("CPU", 1)))):
                piece = waiting.pop()
                if send.has(piece):
                    yield piece, Outcome()
                else:
                    running[send(piece)] = piece
            for done in ray.wait(list(running))[0] if running else ():
                piece = running.pop(done)
                yield piece, send.received(piece, _outcome(ray, done))


class _Folder:
    """Sends a piece to a node that sees the grid's folder: what it keeps is there for all."""

    def __init__(self, ray: Any, worker: Worker):
        self._worker = ray.put(worker.elsewhere())
        self._task = _task(ray, _do_in_folder)

    def __call__(self, piece: Piece) -> Any:
        return self._task(self._worker, piece)

    def has(self, piece: Piece) -> bool:
        """Only the node that does it can tell."""
        return False

    def received(self, piece: Piece, outcome: Outcome) -> Outcome:
        """Nothing is left to do."""
        return outcome


class _Objects:
    """Sends a piece with its patients and all arrays that it needs, and keeps what comes back.

    What comes back is also kept in the grid's store on this machine's disk, with a list of names for each piece, so
    that a grid that was stopped goes on from there.
    """

    def __init__(self, ray: Any, worker: Worker):
        self._ray, self._folder = ray, worker.folder
        self._store = FolderStore(worker.folder / "private" / "store")
        self._worker = ray.put(worker.elsewhere())
        self._patients = {source: ray.put(cohort) for source, cohort in worker.cohorts.items()}
        self._arrays: dict[str, Any] = {}  # by the name of the piece that made them
        self._task = _task(ray, _do_with_objects)

    def __call__(self, piece: Piece) -> Any:
        if piece.kind == "cell":
            mark(self._folder, piece)
        given = [self._arrays[name] for name in piece.needs if name in self._arrays]
        return self._task(self._worker, piece, self._patients[piece.source], *given)

    def has(self, piece: Piece) -> bool:
        """Whether the arrays of a piece are on this machine's disk; then they are lent to all."""
        if piece.kind == "cell" or not self._list(piece).exists():
            return False
        with expecting(TamperedError(f"{self._list(piece).name} was changed or is not whole; delete it")):
            names = json_in(self._list(piece), list[str])
        kept = {name: self._store.get(name) for name in names}
        if None in kept.values():
            return False
        arrays = {name: {key: np.asarray(part) for key, part in (parts or {}).items()} for name, parts in kept.items()}
        self._arrays[piece.name] = self._ray.put(arrays)
        return True

    def received(self, piece: Piece, outcome: Outcome) -> Outcome:
        """Keep the arrays that came back."""
        if piece.kind != "cell" and not outcome.failed:
            for name, arrays in outcome.stored.items():
                self._store.put(name, arrays)
            write_atomically(self._list(piece), json.dumps(list(outcome.stored)).encode(), private=True)
            self.has(piece)
        return replace(outcome, stored={})

    def _list(self, piece: Piece) -> Path:
        return self._store.folder / f"piece-{piece.name}.json"


class LentStore(InMemoryStore):
    """A store that begins with what others stored, and knows what is new in it; sizes are those of a folder's files."""

    def __init__(self, *given: Arrays):
        super().__init__()
        self.new: dict[str, Mapping[str, np.ndarray]] = {}
        for arrays in given:
            for name, parts in arrays.items():
                super().put(name, parts)

    def put(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Remember the arrays, and that they are new."""
        super().put(name, arrays)
        self.new[name] = arrays

    def size(self, *names: str) -> int:
        """Bytes that a folder's files of these names have."""
        return sum(len(as_file(self.get(name) or {})) for name in names)


def _do_in_folder(worker: Worker, piece: Piece) -> Outcome:
    limit_threads(CPUS)
    return worker(piece)


def _do_with_objects(worker: Worker, piece: Piece, cohort: Cohort, *given: Any) -> Outcome:
    limit_threads(CPUS)
    shared, known = LentStore(*given), {piece.source: cohort}
    outcome = replace(worker, cohorts=known).attempt(piece, Context(store=InMemoryStore(), shared=shared))
    return outcome if piece.kind == "cell" else replace(outcome, stored=shared.new)


def _task(ray: Any, function: Callable[..., Outcome]) -> Callable[..., Any]:
    return ray.remote(num_cpus=CPUS, max_retries=RETRIES)(function).remote


def _outcome(ray: Any, done: Any) -> Outcome:
    try:
        return ray.get(done)
    except ray.exceptions.RayError as error:  # its message may quote what was computed
        lost = f"its worker was lost {RETRIES + 1} times ({type(error).__name__}), as happens when memory is short"
        return Outcome(failed=f"{lost}; fix that, then run the same command again")


@contextmanager
def _connected(address: str | None, workers: int | None) -> Iterator[Any]:
    """Ray, connected to the cluster, or to one of its own that ends here; no dashboard, no usage reports, no logs."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or Ray warns that it will not override
    if address is None and "RAY_AUTH_MODE" not in os.environ:  # or Ray leaves a token in the user's home
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    import ray

    if ray.is_initialized():
        yield ray
        return
    own = {"num_cpus": workers, "include_dashboard": False} if address is None else {}
    try:
        ray.init(address=address or HERE, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (ConnectionError, RuntimeError, ValueError) as error:
        why = type(error).__name__
        raise SettingsError(
            f"asked for the Ray cluster {address or 'of this machine'}, but could not join it ({why}); "
            "run this on one of its nodes, with its versions of Python and Ray, and with its token if it has one"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_answers(address: str) -> None:
    """A cluster that cannot be reached shows before anything is read."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise SettingsError(f"asked for the Ray cluster at {address!r}; write HOST:PORT, or auto on one of its nodes")
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except (OSError, OverflowError):
        raise SettingsError(
            f"asked for the Ray cluster at {address}, but nothing answers there; start it with `ray start --head`, or "
            "check the address"
        ) from None
