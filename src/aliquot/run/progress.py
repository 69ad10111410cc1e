"""Listeners to progress that need no terminal."""

import time
from pathlib import Path

from aliquot.context import Progress
from aliquot.drafts import open_privately

MINUTES_LEFT = "minutes left"  # the figure that tells how long the whole run will still take


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
    """A line per stage in a file, with the time of day, and one a minute with what is left of the run."""

    def __init__(self, path: Path, seconds_between: float = 60.0):
        self._path, self._between, self._said = path, seconds_between, time.monotonic()

    def stage(self, name: str, total: int) -> None:
        """A stage begins."""
        self._write(f"{name} ({total})")

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Log the time left, once a minute."""
        if MINUTES_LEFT in figures and time.monotonic() - self._said >= self._between:
            self._said = time.monotonic()
            self._write(f"about {figures[MINUTES_LEFT]:.1f} minutes left")

    def _write(self, line: str) -> None:
        with open(self._path, "a", encoding="utf-8", opener=open_privately) as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n")


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
