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
