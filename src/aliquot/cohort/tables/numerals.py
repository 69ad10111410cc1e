"""Numbers as people write them: with a decimal comma or point, thousands set apart, perhaps as ``<0.2``."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from aliquot.cohort.values import levels_of

Mark = Literal[",", "."]

# Of the distinct texts of a column, to count as numbers that came with other words.
SHARE = 0.5

_BOUND = r"\s*(?:[<>≤≥]=?\s*)?[+-]?"
_POWER = r"(?:[eE][+-]?\d+)?\s*"
_SPACES = "'’\u00a0\u202f"  # between thousands; a plain space may also stand between two numbers
_WITH = {
    mark: re.compile(
        rf"{_BOUND}(?:(?:\d+|[1-9]\d{{0,2}}(?:(?:{re.escape(other)}\d{{3}})+|(?:[{_SPACES}]\d{{3}})+))"
        rf"(?:{re.escape(mark)}\d*)?|{re.escape(mark)}\d+){_POWER}",
        re.ASCII,
    )
    for mark, other in ((".", ","), (",", "."))
}
_COMPARED = re.compile(r"\s*[<>≤≥]")


def is_number(text: str) -> bool:
    """Whether a text writes one number, in either notation, also one that is only a bound.

    >>> [is_number(text) for text in ("36,5", "1.234,5", "<0.2", "3a", "")]
    [True, True, True, False, False]
    """
    return any(pattern.fullmatch(text) for pattern in _WITH.values())


def mark_of(texts: Iterable[str], usual: Mark | None = None) -> Mark | None:
    """The decimal mark of numbers that belong together; ``usual`` where they fit both, None where no one mark fits.

    >>> mark_of(["36,5", "1,234"]), mark_of(["7.412", "7.38"]), mark_of(["1.234"], usual=",")
    (',', '.', ',')
    """
    only = dict.fromkeys(_WITH, False)
    for text in texts:
        fits = [mark for mark, pattern in _WITH.items() if pattern.fullmatch(text)]
        if len(fits) == 1:
            only[fits[0]] = True
    if only[","] == only["."]:
        return None if only[","] else usual
    return "," if only[","] else "."


def usual_mark(columns: Iterable[Sequence[str]]) -> Mark | None:
    """The decimal mark of most columns that show one, from some cells of each.

    >>> usual_mark([["36,5", "37"], ["1", "2"], ["7,4", "haemolysed"]])
    ','
    """
    marks = [mark_of(shaped) for texts in columns if len(shaped := _shaped(texts)) >= SHARE * max(1, len(texts))]
    commas, points = marks.count(","), marks.count(".")
    return None if commas == points == 0 else "," if commas > points else "."


def read_numerals(cells: pd.Series, usual: Mark | None = None) -> pd.Series:
    """The cells as numbers if all write one; otherwise with their numbers, if these are many, in plain notation.

    >>> read_numerals(pd.Series(["36,5", "38", None])).tolist()
    [36.5, 38.0, nan]
    >>> read_numerals(pd.Series(["1,5", "<0,2", "haemolysed"])).tolist()
    ['1.5', '<0.2', 'haemolysed']
    """
    codes, levels = levels_of(cells)
    shaped = set(_shaped(levels))
    if not levels or len(shaped) < SHARE * len(levels):
        return cells
    one = mark_of(shaped, usual or ".")
    plain = [_plain(level, one or mark_of([level])) if level in shaped else level for level in levels]
    if None in plain:  # both marks, and a number that fits both: nobody can tell
        return cells
    texts = np.array([*plain, None], dtype=object)[codes]
    if len(shaped) < len(levels) or any(_COMPARED.match(level) for level in levels):
        return pd.Series(texts, index=cells.index, name=cells.name) if plain != levels else cells
    return pd.to_numeric(pd.Series(texts, index=cells.index, name=cells.name))


def _shaped(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if is_number(text)]


def _plain(text: str, mark: Mark | None) -> str | None:
    """A number without thousands and with a decimal point."""
    if mark is None:
        return None if {",", "."} & set(text) else text.strip()
    other = "." if mark == "," else ","
    return re.sub(rf"[{_SPACES}{other}]", "", text).replace(mark, ".").strip()
