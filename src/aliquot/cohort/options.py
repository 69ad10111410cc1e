"""Options of readers, as ``--read NAME=VALUE`` gives them: every option has a kind, whatever its value looks like."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aliquot.errors import SettingsError

_MOST = 1e6  # of a number; a million hours are more than a life


@dataclass(frozen=True)
class Option:
    """What an option of a reader is for, and the kind of its value.

    =========  =====================================================
    kind       value
    =========  =====================================================
    ``str``    a word
    ``float``  a number, at most a million
    ``int``    a whole number from 0
    ``bool``   true or false
    ``Path``   a path
    ``dict``   pairs such as OUH:train,UHB:held_out
    =========  =====================================================

    >>> Option("of each stay, from its beginning", float).value("hours", "48")
    48.0
    """

    text: str
    kind: type = str

    def value(self, name: str, given: object) -> Any:
        """What the reader gets; a value of another kind is an error that says what the option takes."""
        read, takes = _KINDS[self.kind]
        try:
            return read(str(given))
        except ValueError:
            raise SettingsError(
                f"asked to read with {name}={str(given)!r}, but {name} takes {takes}; change it"
            ) from None

    def absolute(self, given: str) -> str:
        """The same value from any folder: a path from the root, anything else as it is."""
        return str(Path(given).resolve()) if given and self.kind is Path else given


def _number(text: str) -> float:
    number = float(text)
    if not abs(number) <= _MOST:
        raise ValueError
    return number


def _whole(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


def _path(text: str) -> Path:
    return Path(_text(text))


def _text(text: str) -> str:
    if not text:
        raise ValueError
    return text


def _pairs(text: str) -> dict[str, str]:
    pairs = [part.partition(":") for part in text.split(",")]
    if not all(name.strip() and value.strip() for name, _, value in pairs):
        raise ValueError
    return {name.strip(): value.strip() for name, _, value in pairs}


_KINDS: dict[type, tuple[Callable[[str], Any], str]] = {
    str: (_text, "a word"),
    float: (_number, "a number, at most a million"),
    int: (_whole, "a whole number from 0"),
    bool: (_truth, "true or false"),
    Path: (_path, "a path"),
    dict: (_pairs, "pairs such as OUH:train,UHB:held_out"),
}
