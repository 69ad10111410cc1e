"""What the core may tell and ask the outside: progress, memory and judgement. All silent unless someone listens.

The core (``networks`` … ``methods``) trains and matches; it knows nothing of files, terminals or metrics. Whoever
runs it passes objects of these shapes.
"""

from collections.abc import Mapping
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


class Memory(Protocol):
    """Keeps finished pieces of work, so that a killed run continues where it was."""

    def recall(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under ``name``, or None."""
        ...

    def keep(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Store arrays under ``name``, replacing what was there, all or nothing."""
        ...


class Verdict(NamedTuple):
    """How well something did on the tuning part, over several networks with common random numbers."""

    mean: float
    std: float


class Judge(Protocol):
    """Judges on the tuning part, never on held_out."""

    x: np.ndarray  # (rows, …) the tuning patients

    def score(self, logits: np.ndarray) -> float:
        """Quality of one network's logits on ``x``; higher is better."""
        ...

    def rows(self, x: np.ndarray, targets: np.ndarray) -> Verdict:
        """Quality of synthetic rows: of fresh networks trained on them, always the same ones."""
        ...


class Silence:
    """A listener that ignores all progress."""

    def stage(self, name: str, total: int) -> None:
        """Ignore."""

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Ignore."""


class Forgetting:
    """A memory that keeps nothing."""

    def recall(self, name: str) -> None:
        """Nothing is ever kept."""

    def keep(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Ignore."""
