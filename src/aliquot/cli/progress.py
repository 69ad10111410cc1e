"""Progress for people: bars on a terminal, one plain line per stage elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from aliquot.hooks import Silence
from aliquot.runs.progress import MINUTES_LEFT

INTERRUPTED = 130


class Bars:
    """A bar per stage, with time passed, time left and the figures worth watching."""

    def __init__(self):
        self._bars = Progress(
            TextColumn("{task.description:<20}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}"),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    def __enter__(self) -> "Bars":
        self._bars.start()
        return self

    def __exit__(self, *exception) -> None:
        if exception[0] is None:
            self._finish()
        self._bars.stop()

    def stage(self, name: str, total: int) -> None:
        """Begin a bar."""
        self._finish()
        self._task = self._bars.add_task(name, total=total, figures="")

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Move the bar."""
        if self._task is not None:
            left = figures.pop(MINUTES_LEFT, None)
            shown = "  ".join(f"{name} {value:.3f}" for name, value in figures.items())
            shown += "" if left is None else f"  about {left:.0f} min left in all"
            self._bars.update(self._task, advance=amount, figures=shown)

    def _finish(self) -> None:
        """A stage that ended early is full all the same."""
        if self._task is not None:
            task = self._bars.tasks[-1]
            self._bars.update(self._task, completed=task.total)


class Lines:
    """One line per finished stage, and one a minute with the time left while a stage goes on."""

    def __init__(self, seconds_between: float = 60.0):
        self._between = seconds_between
        self._name, self._total, self._done = "", 0, 0
        self._since = self._said = 0.0

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *exception) -> None:
        if exception[0] is None:
            self._finish()

    def stage(self, name: str, total: int) -> None:
        """Begin a stage; say how long the one before took."""
        self._finish()
        self._name, self._total, self._done = name, total, 0
        self._since = self._said = time.monotonic()

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Now and then say how far it is."""
        self._done += amount
        now = time.monotonic()
        if now - self._said >= self._between and 0 < self._done < self._total:
            left = (now - self._since) * (self._total - self._done) / self._done
            whole = f"; about {figures[MINUTES_LEFT]:.0f} min in all" if MINUTES_LEFT in figures else ""
            self._say(f"{self._name}: {self._done}/{self._total}, {left:.0f} s left{whole}")
            self._said = now

    def _finish(self) -> None:
        if self._name:
            self._say(f"{self._name}: done in {time.monotonic() - self._since:.1f} s")
        self._name = ""

    @staticmethod
    def _say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class _Quiet(Silence):
    def __enter__(self) -> "_Quiet":
        return self

    def __exit__(self, *exception) -> None:
        pass


@contextmanager
def progress_of(again: str, *, quiet: bool) -> Iterator[Bars | Lines | _Quiet]:
    """Bars on a terminal, lines elsewhere, nothing when quiet; after Ctrl-C it says to continue with ``again``."""
    show = _Quiet() if quiet else Bars() if sys.stderr.isatty() else Lines()
    try:
        with show:
            yield show
    except KeyboardInterrupt:
        print(f"aliquot: stopped; continue with: {again}", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
