"""Errors that a user can correct, each as one sentence: what was asked, what was found, what to do.

Messages may hold column names, counts and types. They never hold a cell value, a row or a patient identifier.
"""

import errno
import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# What the compiler's run time, the loader of libraries and threads say when they get no memory.
_NO_MEMORY = (
    "RESOURCE_EXHAUSTED",
    "std::bad_alloc",
    "annot allocate memory",
    "nable to allocate",
    "failed to map",
    "can't start new thread",
)


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that an unknown one resembles most, or None where none is near.

    ``known`` are names that may be printed: commands, settings, columns; never the values of a column.

    >>> closest("dyed", ["age", "died"]), closest("AGE", ["age"]), closest("outcome", ["age"])
    ('died', 'age', None)
    """
    known = list(known)
    same = [match for match in known if match.lower() == name.lower()]
    return next(iter(same or get_close_matches(name, known, n=1)), None)


def known_names(name: str, known: Iterable[str], words: str = "known") -> str:
    """What may have been meant by an unknown name, and all that are known.

    >>> known_names("btn", ["btm", "mtt"]), known_names("x", ["btm", "mtt"])
    ("did you mean 'btm'? known: btm, mtt", 'known: btm, mtt')
    """
    known = list(known)
    near = closest(name, known)
    return (f"did you mean {near!r}? " if near else "") + f"{words}: {', '.join(known) or 'none'}"


class AliquotError(ValueError):
    """A mistake that the user can fix; the command prints its sentence and ends with exit code 2."""


class FileError(AliquotError):
    """A file is missing, cannot be read, or is not what it should be."""


class SchemaError(AliquotError):
    """A column is missing, or holds something that cannot become a feature."""


class TargetError(AliquotError):
    """The outcome column cannot be learned as it is."""


class TooFewPatientsError(AliquotError):
    """A class or a split has fewer patients than were asked for."""


class SplitError(AliquotError):
    """The user's own split cannot be used."""


class SettingsError(AliquotError):
    """A setting does not exist or has an impossible value."""


class RunFolderError(AliquotError):
    """The output folder cannot take this run."""


class VersionError(AliquotError):
    """Stored work was made with other versions than those installed."""


class TamperedError(AliquotError):
    """A stored file is truncated or was changed after it was written."""


class DegenerateSegmentError(AliquotError):
    """A trajectory segment has no length, so there is nothing to match."""


def remedy_of(error: BaseException) -> str | None:
    """The sentence for a user: our own errors', or that for a full disk or too little memory; None for any other error.

    >>> remedy_of(OSError(errno.ENOSPC, "full")), remedy_of(KeyError("a cell"))
    ('could not read or write a file: no space is left; correct that, then run the same command again', None)
    """
    if isinstance(error, AliquotError):
        return str(error)
    if isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY):
        return "this needs more memory than there is; use fewer columns, rows or workers, or a smaller expert.block"
    if isinstance(error, OSError):
        why = "no space is left" if error.errno in _NO_SPACE else os.strerror(error.errno or 0).lower()
        what = repr(Path(error.filename).name) if isinstance(error.filename, str) else "a file"
        return f"could not read or write {what}: {why}; correct that, then run the same command again"
    return None
