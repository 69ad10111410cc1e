"""Shared turns of phrase for messages about columns; column names and counts only, never a cell."""

import re
from collections.abc import Iterable, Sequence

from aliquot.errors import closest

SHOWN = 8  # names or problems listed before "and N more"

_CELL = re.compile(r"\s*([-+<>]?\d+([.,]\d+)*(e[-+]?\d+)?|\d{1,4}([-/.]\d{1,4}){2}([T ].*)?)\s*", re.IGNORECASE)


def listed(items: Iterable[str], *, separator: str = ", ") -> str:
    """The first few items in one line.

    >>> listed("abcdefghij")
    'a, b, c, d, e, f, g, h and 2 more'
    """
    items = list(items)
    more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return separator.join(items[:SHOWN]) + more


def quoted(names: Iterable[str]) -> str:
    """The first few column names in quotes; line breaks in a name are escaped."""
    return listed(repr(name) for name in names)


def counted(count: int, noun: str) -> str:
    """A count with its noun, plural where needed.

    >>> counted(1, "cell"), counted(3, "cell")
    ('1 cell', '3 cells')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def suggestion(name: str, known: Sequence[str]) -> str:
    """What the user may have meant by an unknown column.

    >>> suggestion("dyed", ["age", "died"])
    "did you mean 'died'?"
    >>> suggestion("outcome", ["age", "died"])
    "known columns: 'age', 'died'"
    >>> suggestion("died", ["64.9", "female", "0"])
    'its first line looks like cells, not names; give every column a name'
    """
    if look_like_cells(known):
        return "its first line looks like cells, not names; give every column a name"
    near = closest(name, known)
    return f"did you mean {near!r}?" if near else f"known columns: {quoted(known)}"


def look_like_cells(names: Iterable[str]) -> bool:
    """Whether some names of columns are numbers or dates, as in a table without a line of names; none is to be shown.

    >>> look_like_cells(["age", "24h_urine"]), look_like_cells(["female", "2020-03-31"])
    (False, True)
    """
    return any(_CELL.fullmatch(name) for name in names)


def together(problems: Sequence[str]) -> str:
    """Several problems with columns as one sentence, with what to do.

    >>> print(together(["'admitted' holds dates"]))
    cannot use the table as it is: 'admitted' holds dates; fix the file, leave columns out (drop=[…]),
    or set kind = "ignore" in the schema file
    """
    return (
        f"cannot use the table as it is: {listed(problems, separator='; ')}; fix the file, "
        'leave columns out (drop=[…]), or set kind = "ignore" in the schema file'
    )
