"""A case run in this process, and what is wrong with how it ended."""

import io
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from aliquot.cli import main
from aliquot.errors import AliquotError

from .cases import Case, case_of
from .made import PLANTED

FINE = (0, 2, 130)
SECONDS = 120  # a case that takes longer hangs
SMALL = re.compile(r"(?<![\d.,<])[1-9] patients?\b")


def found(whole: Path, place: Path, numbers: Iterable[int], seed: int) -> list[str]:
    """What is wrong with the cases of some numbers, each of which spoils a copy of ``whole`` in its own way."""
    folder, wrong = place / "spoiled", []
    shutil.copytree(whole, folder)
    for number in numbers:
        case = case_of(number, seed, folder)
        before = set(folder.rglob("*"))
        outcome = run(case)
        wrong += problems(case, outcome, before, set(folder.rglob("*")))
        restore(folder, whole)
    return wrong


def restore(folder: Path, whole: Path) -> None:
    """Make a folder again what it was copied from."""
    for path in sorted(folder.rglob("*"), reverse=True):
        origin = whole / path.relative_to(folder)
        if path.is_dir():
            if not origin.exists():
                shutil.rmtree(path)
        elif not origin.exists():
            path.unlink()
        elif _stamp(path) != _stamp(origin):
            shutil.copy2(origin, path)
    for origin in whole.rglob("*"):
        if not (folder / origin.relative_to(whole)).exists():
            shutil.copy2(origin, folder / origin.relative_to(whole))


def _stamp(path: Path) -> tuple[int, int]:
    return path.stat().st_size, path.stat().st_mtime_ns


class HangError(BaseException):
    """A case took too long; no handler of exceptions takes it for a mistake."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended."""

    code: int | str | None
    said: str


def run(case: Case) -> Outcome:
    """Run the command or the function; an AliquotError of the latter ends as that of a command does."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            with time_limit(SECONDS):
                if case.call is None:
                    with patch.object(sys, "argv", ["aliquot", *case.words]):
                        main()
                else:
                    case.call()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except HangError:
            code = "none, it hangs"
        except AliquotError as error:
            code = 2
            print(error)
        except Exception as error:
            if os.environ.get("ALIQUOT_TRACEBACK"):
                raise
            code = 1
            print(f"internal error ({type(error).__name__})")
    return Outcome(code, said.getvalue())


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise a HangError in the block after so many seconds."""

    def stop(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)  # again: a callback may have swallowed the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def problems(case: Case, outcome: Outcome, before: set[Path], after: set[Path]) -> list[str]:
    """What is wrong with an outcome; ``before`` and ``after`` are the files that were and are there."""
    found = []
    if outcome.code not in FINE:
        found.append(f"exit code {outcome.code}: {outcome.said.strip()[-200:]}")
    if "Traceback" in outcome.said:
        found.append("a traceback")
    if outcome.code == 2 and outcome.said.strip().count("\n") and not outcome.said.startswith("Usage"):
        found.append(f"more than a sentence: {outcome.said[:300]!r}")
    found += [f"says what was planted: {outcome.said[:300]!r}" for secret in PLANTED if secret in outcome.said]
    found += [f"a small count: {outcome.said[:300]!r}"] if SMALL.search(outcome.said) else []
    new = after - before
    if outcome.code != 0 and new:
        found.append(f"left behind {sorted(path.name for path in new)}")
    found += [f"left a draft {path.name}" for path in new if path.name.endswith(".draft")]
    return [f"{case.name}: {problem}" for problem in found]
