"""Whatever is read from disk and could come from a stranger or be damaged: bytes, then plain values, then types.

Each step refuses what no writer of ours makes, with a :class:`NotAsWrittenError` that quotes nothing; whoever asked
says with :func:`expecting` in one sentence what was read and what to do.

=================  ====================================================================================
step               refuses
=================  ====================================================================================
``content_of``     what is no file, or larger than ``most``, before a byte of it is read
``json_of``        what is not JSON in UTF-8; NaN and infinity; whole numbers beyond 64 bits; deep nests
``toml_of``        the same of TOML, and lines that take its parser long
``typed``          values of another type or outside the bounds that the type states
``require``        what does not fit together
=================  ====================================================================================
"""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec

from aliquot.errors import AliquotError

MOST_BYTES = 2**27  # of a JSON document: some 300,000 described columns
MOST_TOML = 2**22  # it is parsed slowly
MOST_DOTS = 200  # in a line of TOML: the time for a dotted key grows with the square of its length
DEEPEST = 50
LARGEST_WHOLE = 2**63

Count = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
Positive = Annotated[int, msgspec.Meta(ge=1, lt=2**31)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Versions = dict[str, str]


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
    return _checked(values)


def toml_of(content: bytes) -> dict[str, Any]:
    """The plain values of a TOML document; dates are none.

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
    return _checked(values)


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


def _checked(values: Any) -> Any:
    """The values, if they are finite, of 64 bits and not nested too deep."""
    level = [values]
    for _ in range(DEEPEST):
        if not level:
            return values
        require(all(_is_plain(value) for value in level))
        level = [part for value in level for part in _parts(value)]
    raise NotAsWrittenError("nested too deep")


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return -LARGEST_WHOLE <= value < LARGEST_WHOLE
    return value is None or isinstance(value, str | list | dict)


def _parts(value: Any) -> Any:
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
