"""Which of several tables in one file is meant."""

from collections.abc import Sequence
from pathlib import Path

from aliquot.cohort.wording import quoted
from aliquot.errors import FileError, known_names


def chosen(path: Path, what: str, asked: str | None, names: Sequence[str], tables: Sequence[str]) -> str:
    """The one asked for, or the only one that holds a table.

    >>> chosen(Path("a.xlsx"), "sheet", None, ["data", "notes"], ["data"])
    'data'
    """
    if asked is not None:
        if asked not in names:
            raise FileError(f"the file {str(path)!r} has no {what} {asked!r}; {known_names(asked, names)}")
        return asked
    if not tables:
        raise FileError(f"the file {str(path)!r} has no {what} with a table; pass one with column names and rows")
    if len(tables) > 1:
        raise FileError(
            f"the file {str(path)!r} has a table in {len(tables)} places ({quoted(tables)}); name one: sheet=…"
        )
    return tables[0]
