"""Options of readers, as ``--read NAME=VALUE`` gives them: every option has a kind, whatever its value looks like."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aliquot.errors import SettingsError

LARGEST = 1e6  # of a number; a million hours are more than a life


def _number(text: str) -> float:
    number = float(text)
    if not abs(number) <= LARGEST:
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


KINDS: dict[str, tuple[Callable[[str], Any], str]] = {  # options that are not here are text
    **dict.fromkeys(("hours", "step_hours", "minimum_share", "fraction"), (_number, "a number, at most a million")),
    "seed": (_whole, "a whole number from 0"),
    "masks": (_truth, "true or false"),
    "labels": (_path, "a path"),
    "site_roles": (_pairs, "pairs such as OUH:train,UHB:held_out"),
}


def typed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as their reader wants them; a value of another kind is an error that says what the option takes.

    >>> typed({"hours": "48", "masks": "false", "task": "5"})
    {'hours': 48.0, 'masks': False, 'task': '5'}
    """
    return {name: _typed(name, str(value)) for name, value in options.items()}


def absolute(name: str, value: str) -> str:
    """A value that means the same from any folder: a path from the root, anything else as it is."""
    return str(Path(value).resolve()) if value and name in KINDS and KINDS[name][0] is _path else value


def _typed(name: str, text: str) -> Any:
    read, takes = KINDS.get(name, (_text, "a word"))
    try:
        return read(text)
    except ValueError:
        raise SettingsError(f"asked to read with {name}={text!r}, but {name} takes {takes}; change it") from None
