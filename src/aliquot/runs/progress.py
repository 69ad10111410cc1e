"""Listeners to progress that need no terminal."""

import time
from pathlib import Path

from aliquot.hooks import Progress


class Together:
    """Several listeners as one."""

    def __init__(self, *listeners: Progress):
        self._listeners = listeners

    def stage(self, name: str, total: int) -> None:
        """Tell all."""
        for listener in self._listeners:
            listener.stage(name, total)

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Tell all."""
        for listener in self._listeners:
            listener.advance(amount, **figures)


class LogFile:
    """One line per stage in a file, with the time of day."""

    def __init__(self, path: Path):
        self._path = path

    def stage(self, name: str, total: int) -> None:
        """A stage begins."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {name} ({total})\n")

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Not logged."""


class CellProgress:
    """One stage for a whole cell of a comparison; it moves with the search for rows."""

    STEPS = 100

    def __init__(self, listener: Progress, name: str):
        self._listener, self._total, self._done, self._shown = listener, 0, 0, 0
        listener.stage(name, self.STEPS)

    def stage(self, name: str, total: int) -> None:
        """Only the search moves the bar; experts and curves are quick or shared."""
        self._total, self._done = (total, 0) if name in ("matching", "full data") else (0, 0)

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Pass on what makes a difference of a per cent or more."""
        if self._total:
            self._done += amount
            steps = min(self.STEPS, int(self.STEPS * self._done / self._total)) - self._shown
            if steps > 0:
                self._shown += steps
                self._listener.advance(steps, **figures)
