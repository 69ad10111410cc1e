"""What work is done with: who judges it, where finished pieces are kept, who hears of progress.

The core (``networks`` … ``methods``) trains and matches; it knows nothing of files, terminals or metrics. Whoever
runs it passes one :class:`Context`. By default nobody judges, nothing is kept and nobody listens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np


class Progress(Protocol):
    """Hears of stages as they go; draws bars, prints lines, or stays silent."""

    def stage(self, name: str, total: int) -> None:
        """A stage of ``total`` units of work begins; the one before it has ended."""
        ...

    def advance(self, amount: int = 1, **figures: float) -> None:
        """``amount`` units more are done; ``figures`` are worth showing beside the bar."""
        ...


class Store(Protocol):
    """Keeps finished pieces of work, so that a killed run continues where it was."""

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays stored under ``name``, or None."""
        ...

    def put(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Store arrays under ``name``, replacing what was there, all or nothing."""
        ...

    def size(self, *names: str) -> int:
        """Bytes of what is stored under these names."""
        ...


class Verdict(NamedTuple):
    """How well something did on the tuning part, over several networks with common random numbers."""

    mean: float
    std: float


class Judge(Protocol):
    """Judges on the tuning part (the validation part), never on held_out."""

    x: np.ndarray  # (rows, …) the tuning patients

    def score(self, logits: np.ndarray) -> float:
        """Quality of one network's logits on ``x``; higher is better."""
        ...

    def rows(self, x: np.ndarray, targets: np.ndarray) -> Verdict:
        """Quality of synthetic rows: of fresh networks trained on them, always the same ones."""
        ...


class NoProgress:
    """Ignores all progress."""

    def stage(self, name: str, total: int) -> None:
        """Ignore."""

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Ignore."""


class NoStore:
    """Keeps nothing."""

    def get(self, name: str) -> None:
        """Nothing is ever kept."""

    def put(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Ignore."""

    def size(self, *names: str) -> int:
        """Nothing has no size."""
        return 0


class InMemoryStore:
    """A store that lasts as long as the object: for runs without a folder."""

    def __init__(self):
        self._arrays: dict[str, dict[str, np.ndarray]] = {}

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays stored under ``name``, or None."""
        return self._arrays.get(name)

    def put(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Remember the arrays."""
        self._arrays[name] = dict(arrays)

    def size(self, *names: str) -> int:
        """Bytes of what is stored under these names."""
        return sum(array.nbytes for name in names for array in self._arrays[name].values())


class NoJudge:
    """Stands where nothing is chosen on the tuning part; to ask it is a mistake of the caller."""

    x = np.empty((0,))

    def score(self, logits: np.ndarray) -> float:
        """There is no tuning part."""
        raise RuntimeError("there is no judge in this context")

    def rows(self, x: np.ndarray, targets: np.ndarray) -> Verdict:
        """There is no tuning part."""
        raise RuntimeError("there is no judge in this context")


@dataclass(frozen=True)
class Context:
    """What a piece of work is done with, passed as one value.

    ``store`` is that of this run alone. ``shared`` keeps what runs on the same patients have in common, experts, curves
    and full-data networks; by default it is the same one.
    """

    judge: Judge = NoJudge()
    store: Store = NoStore()
    progress: Progress = NoProgress()
    shared: Store | None = None

    @property
    def common(self) -> Store:
        """Where experts, curves and full-data networks are kept."""
        return self.store if self.shared is None else self.shared

    def quiet(self) -> "Context":
        """The same without anybody listening."""
        return replace(self, progress=NoProgress())
