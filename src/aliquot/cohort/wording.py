"""Shared turns of phrase for messages about columns; column names and counts only, never a cell."""

from collections.abc import Iterable, Sequence

from aliquot.errors import closest

SHOWN = 8  # names or problems listed before "and N more"


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
    """
    near = closest(name, known)
    return f"did you mean {near!r}?" if near else f"known columns: {quoted(known)}"


def together(problems: Sequence[str]) -> str:
    """Several problems with columns as one sentence, with what to do.

    >>> print(together(["'admitted' holds dates"]))
    cannot use the table as it is: 'admitted' holds dates; fix the file, leave columns out (--drop COLUMN),
    or set kind = "ignore" in the schema file
    """
    return (
        f"cannot use the table as it is: {listed(problems, separator='; ')}; fix the file, "
        'leave columns out (--drop COLUMN), or set kind = "ignore" in the schema file'
    )
