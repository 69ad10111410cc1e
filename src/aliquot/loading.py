"""Whatever is read from disk and could come from a stranger or be damaged: bytes, then plain values, then types.

Each step refuses what no writer of ours makes, with a :class:`NotAsWrittenError` that quotes nothing; whoever asked
says with :func:`expecting` in one sentence what was read and what to do.

=================  ====================================================================================
step               refuses
=================  ====================================================================================
``content_of``     what is no file, or larger than ``most``, before a byte of it is read
``arrays_in``      arrays of another size than their header promises, before there is room for them
``json_of``        what is not JSON in UTF-8; NaN and infinity; whole numbers beyond 64 bits; deep nests
``toml_of``        what is not TOML; deep nests, and lines that take its parser long
``typed``          values of another type or outside the bounds that the type states
``require``        what does not fit together
=================  ====================================================================================
"""

import math
import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, TypeVar

import msgspec
import numpy as np

from aliquot.errors import AliquotError

MOST_BYTES = 2**27  # of a JSON document: some 300,000 described columns
MOST_TOML = 2**22  # it is parsed slowly
MOST_PACKED = 1100  # times smaller than what was packed: no deflate packs closer
MOST_DOTS = 200  # in a line of TOML: the time for a dotted key grows with the square of its length
DEEPEST = 50
LARGEST_WHOLE = 2**63

Positive = Annotated[int, msgspec.Meta(ge=1, lt=2**31)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Versions = dict[str, str]

T = TypeVar("T")


class NotAsWrittenError(ValueError):
    """Content that is damaged, was changed, or was never ours; says nothing of what was found but perhaps the line."""

    where = ""


@contextmanager
def expecting(error: AliquotError) -> Iterator[None]:
    """Raise ``error`` where something that is read inside is not as it was written."""
    try:
        yield
    except NotAsWrittenError:
        raise error from None


def require(holds: object) -> None:
    """Raise a NotAsWrittenError unless something holds."""
    if not holds:
        raise NotAsWrittenError("not as it was written")


def content_of(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file that has at most so many."""
    require(path.is_file() and path.stat().st_size <= most)
    return path.read_bytes()


def text_of(content: bytes) -> str:
    """The text in UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise NotAsWrittenError("not text") from None


def json_of(content: bytes | str) -> Any:
    """The plain values of a JSON document.

    >>> json_of('{"scale": 1.5}')
    {'scale': 1.5}
    >>> json_of('{"scale": NaN}')
    Traceback (most recent call last):
    ...
    aliquot.loading.NotAsWrittenError: not JSON
    """
    try:
        values = msgspec.json.decode(content)
    except (ValueError, RecursionError):
        raise NotAsWrittenError("not JSON") from None
    return plain(values)


def toml_of(content: bytes) -> dict[str, Any]:
    """The values of a TOML document, which may hold more than :func:`plain` ones: whoever wrote it is told by name.

    >>> toml_of(b"epochs = 30")
    {'epochs': 30}
    """
    require(len(content) <= MOST_TOML)
    require(all(line.count(b".") <= MOST_DOTS for line in content.splitlines()))
    wrong = NotAsWrittenError("not TOML")
    try:
        values = tomllib.loads(text_of(content))
    except (ValueError, RecursionError) as error:
        line = re.search(r"line \d+", str(error))
        wrong.where = "" if line is None else line.group()
        raise wrong from None
    for _ in _levels(values):
        pass
    return values


def arrays_in(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an ``.npz`` file by name; each has the bytes that its header promises before room is made for it.

    A file that cannot be opened is an OSError.
    """
    require(not path.is_dir())
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                for entry in archive.infolist():
                    require(entry.file_size <= MOST_PACKED * (entry.compress_size + 1))
                    with archive.open(entry) as member:
                        _check_header(member, entry.file_size)
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        except MemoryError:
            raise
        except Exception:  # a damaged file can raise anything, down to SyntaxError from numpy's header
            raise NotAsWrittenError("not an archive of arrays") from None


def _check_header(member: IO[bytes], size: int) -> None:
    version = np.lib.format.read_magic(member)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    require(version in read)
    shape, _, dtype = read[version](member)
    require(not dtype.hasobject and min(shape, default=0) >= 0)
    require(member.tell() + math.prod(shape) * dtype.itemsize == size)


def json_in(path: Path, kind: Any) -> Any:
    """The values of a JSON file, as a type.

    A file that is missing is an OSError.
    """
    path.stat()
    return typed(json_of(content_of(path)), kind)


def typed(values: Any, kind: Any) -> Any:
    """Plain values as a type: dataclasses with their parts, bounds as in ``Annotated[float, msgspec.Meta(gt=0)]``.

    Nothing is converted but lists to tuples, and whole numbers where others are asked for.

    >>> typed([1, 2], tuple[float, ...])
    (1.0, 2.0)
    >>> typed(True, float)
    Traceback (most recent call last):
    ...
    aliquot.loading.NotAsWrittenError: not of the type that was written
    """
    try:
        return msgspec.convert(values, kind)
    except (msgspec.ValidationError, RecursionError):
        raise NotAsWrittenError("not of the type that was written") from None


def plain(values: T) -> T:
    """The values, if their numbers are finite and of 64 bits, and there is nothing but numbers, text and truth values.

    >>> plain([1, float("nan")])
    Traceback (most recent call last):
    ...
    aliquot.loading.NotAsWrittenError: not as it was written
    """
    for level in _levels(values):
        require(all(map(_is_plain, level)))
    return values


def _levels(values: Any) -> Iterator[list[Any]]:
    """The values, what is in them, what is in these, and so on; an error where that does not end soon."""
    level = [values]
    for _ in range(DEEPEST):
        if not level:
            return
        yield level
        level = [part for value in level for part in _parts(value)]
    require(not level)


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return -LARGEST_WHOLE <= value < LARGEST_WHOLE
    return value is None or isinstance(value, str | list | dict)


def _parts(value: Any) -> Any:
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
