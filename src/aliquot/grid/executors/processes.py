"""Several processes on this machine, by joblib."""

import os
import signal
import threading
import time
from collections.abc import Sequence
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from aliquot.context import Progress
from aliquot.grid.executors import Done, with_progress
from aliquot.grid.executors.threads import limit_threads
from aliquot.grid.pieces import Outcome, Piece, Worker

# Of the process that clears up after joblib: when the command is stopped, it does so, and need not say what.
SILENT = "ignore::UserWarning:joblib.externals.loky.backend.resource_tracker"
TRIES = 3  # of pieces that were running or waiting when a process was killed
LOST = (
    f"a process was killed while it ran, {TRIES} times, as happens when memory is short; use fewer workers, then run "
    "the same command again"
)


class Processes:
    """As many processes as ``workers``, by default one per CPU; together they use as many threads as there are CPUs."""

    def __init__(self, workers: int | None = None):
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.workers = workers or cpus
        self.threads = max(1, cpus // self.workers)

    def run(self, worker: Worker, waves: Sequence[Sequence[Piece]], progress: Progress) -> Done:
        """Do each wave in fresh processes that never saw this one's JAX, and that end when this one does."""
        warned = os.environ.get("PYTHONWARNINGS", "")
        if SILENT not in warned:
            os.environ["PYTHONWARNINGS"] = f"{warned},{SILENT}".lstrip(",")
        for wave in waves:
            yield from with_progress(progress, wave, self._wave(worker.elsewhere(), wave))

    def _wave(self, worker: Worker, wave: Sequence[Piece]) -> Done:
        left = {piece.name: piece for piece in wave}
        for _ in range(TRIES):
            calls = [delayed(_do)(worker, piece, self.threads, os.getpid()) for piece in left.values()]
            pool: Any = Parallel(self.workers, backend="loky", return_as="generator_unordered", pre_dispatch="all")
            try:
                for name, outcome in pool(calls):
                    yield left.pop(name), outcome
                return
            except TerminatedWorkerError:
                continue
        for piece in left.values():
            yield piece, Outcome(failed=LOST)


def _do(worker: Worker, piece: Piece, threads: int, parent: int) -> tuple[str, Outcome]:
    if os.getpid() != parent:
        limit_threads(threads)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal comes here too, and the parent answers it
        _end_with(parent)
    return piece.name, worker(piece)


def _end_with(parent: int) -> None:
    """End this process soon after its parent was killed; without that it would go on with its piece for nobody."""
    name = "ends with its parent"
    if name in (thread.name for thread in threading.enumerate()):
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, name=name, daemon=True).start()
