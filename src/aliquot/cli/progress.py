"""Progress for people: bars on a terminal, one plain line per stage elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from textwrap import wrap

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from aliquot.context import NoProgress
from aliquot.errors import SettingsError
from aliquot.run.progress import MINUTES_LEFT

INTERRUPTED = 130
WIDTH = 80  # of a terminal that nobody made wider


class TimeLeft(ProgressColumn):
    """Time left of a stage at its pace so far, and of the whole run by its forecast."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """Hours, minutes and seconds."""
        left = task.fields.get("left", task.time_remaining)
        if task.finished or left is None:
            return Text("" if task.finished else "-:--:--", style="progress.remaining")
        return Text(str(timedelta(seconds=int(left))), style="progress.remaining")


class StageBars:
    """A bar for the whole run and, below it, one per stage: time passed, time left and the figures worth watching."""

    def __init__(self):
        self._bars = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TimeLeft(),
            TextColumn("{task.fields[figures]}"),
            console=Console(stderr=True),
        )
        self._whole = self._bars.add_task("whole run", total=1.0, visible=False, figures="", left=None)
        self._task: TaskID | None = None
        self._since = time.monotonic()

    def __enter__(self) -> "StageBars":
        self._bars.start()
        return self

    def __exit__(self, *exception) -> None:
        if exception[0] is None:
            self._finish()
            self._bars.update(self._whole, completed=1.0)
        self._bars.stop()

    def say(self, line: str) -> None:
        """Print a line above the bars."""
        self._bars.console.print(line, markup=False, highlight=False)

    def stage(self, name: str, total: int) -> None:
        """Begin a bar."""
        self._finish()
        self._task = self._bars.add_task(f"  {name}", total=total, figures="")

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Move the bar, and that of the whole run by its forecast."""
        if self._task is None:
            return
        left = figures.pop(MINUTES_LEFT, None)
        if left is not None:
            passed, seconds = time.monotonic() - self._since, 60 * left
            done = passed / max(passed + seconds, 1e-9)
            self._bars.update(self._whole, visible=True, completed=min(done, 0.999), left=seconds)
        self._bars.update(self._task, advance=amount, figures=_shown(figures))

    def _finish(self) -> None:
        """A stage that ended early is full all the same."""
        if self._task is not None:
            task = self._bars.tasks[-1]
            self._bars.update(self._task, completed=task.total)


class StageLines:
    """One line per finished stage, and one per minute with the time left while a stage goes on.

    ``verbose`` also says when a stage begins, every second how far it is, and the figures worth watching.
    """

    def __init__(self, *, verbose: bool = False):
        self._verbose, self._between = verbose, 1.0 if verbose else 60.0
        self._name, self._total, self._done = "", 0, 0
        self._began = self._since = self._said = time.monotonic()

    def __enter__(self) -> "StageLines":
        return self

    def __exit__(self, *exception) -> None:
        if exception[0] is None:
            self._finish()

    def say(self, line: str) -> None:
        """Print a line."""
        for part in wrap(line, WIDTH, subsequent_indent="  "):
            self._say(part)

    def stage(self, name: str, total: int) -> None:
        """Begin a stage; say how long the one before took."""
        self._finish()
        self._name, self._total, self._done = name, total, 0
        self._since = self._said = time.monotonic()
        if self._verbose:
            self._say(f"{name}: begins, {total} to do")

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Now and then say how far it is."""
        self._done += amount
        now = time.monotonic()
        if now - self._said >= self._between and 0 < self._done < self._total:
            left = (now - self._since) * (self._total - self._done) / self._done
            minutes = figures.pop(MINUTES_LEFT, None)
            whole = "" if minutes is None else f"; about {minutes:.0f} min left of the whole run"
            watched = f"; {_shown(figures)}" if self._verbose and figures else ""
            self._say(f"{self._name}: {self._done}/{self._total}, {left:.0f} s left{whole}{watched}")
            self._said = now

    def _finish(self) -> None:
        if self._name:
            self._say(f"{self._name}: done in {time.monotonic() - self._since:.1f} s")
        self._name = ""

    def _say(self, line: str) -> None:
        clock = f"[{time.monotonic() - self._began:7.1f} s] " if self._verbose else ""
        print(clock + line, file=sys.stderr, flush=True)


class Silent(NoProgress):
    """Nothing is said."""

    def __enter__(self) -> "Silent":
        return self

    def __exit__(self, *exception) -> None:
        pass

    def say(self, line: str) -> None:
        """Nothing is said."""


@contextmanager
def progress_of(
    again: str | Callable[[], str], *, quiet: bool, verbose: bool = False
) -> Iterator[StageBars | StageLines | Silent]:
    """Bars on a terminal, lines elsewhere or when verbose, nothing when quiet; after Ctrl-C it says how to continue.

    ``again`` is the command to continue with, or finds it when it is needed.
    """
    if quiet and verbose:
        raise SettingsError("asked for both --quiet and --verbose; leave out one of them")
    bars = sys.stderr.isatty() and not verbose
    show = Silent() if quiet else StageBars() if bars else StageLines(verbose=verbose)
    try:
        with show:
            yield show
    except KeyboardInterrupt:
        command = again if isinstance(again, str) else again()
        print(f"aliquot: stopped; continue with: {command}", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


def _shown(figures: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.3f}" for name, value in figures.items())
