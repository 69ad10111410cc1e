"""Where the names of the columns are, and whether they are names at all."""

from collections.abc import Sequence

from aliquot.cohort.kinds import DATE
from aliquot.cohort.tables.cells import MISSING
from aliquot.cohort.tables.numerals import is_number
from aliquot.errors import SchemaError

MOST_TITLES = 30  # lines above the names: a title, the day of the export, blank lines
MOST_SEEN = 200  # lines below that are compared with them
_MOST = 0.8  # of the cells of a column, to say what it holds

Record = Sequence[str]


def header_place(records: Sequence[Record], width: int) -> int:
    """The place of the record with the names: the first that fills more than half of the columns.

    >>> header_place([["Ward 3, May"], [], ["age", "sex"], ["61", "f"]], width=2)
    2
    """
    filled = [_filled(record) for record in records[:MOST_TITLES]]
    first = next((place for place, count in enumerate(filled) if count), 0)
    place = next((place for place, count in enumerate(filled) if count > width / 2), first)
    return first if place > first and looks_like_data(records[place], records[place + 1 :]) else place


def check_header(what: str, header: Record, below: Sequence[Record]) -> None:
    """Raise an error that prints no name where the names look like a patient's cells."""
    if looks_like_data(header, below):
        raise SchemaError(
            f"{what} has no line of column names: its first line looks like data; add a line of names above it"
        )


def looks_like_data(header: Record, below: Sequence[Record]) -> bool:
    """Whether the names look like one more record: a number or date above others, or texts that come again below.

    Columns of numbers or dates count where most names above them are none. Whole numbers in equal steps, at least three
    of them, are names of hours or of pixels, not data.

    >>> looks_like_data(["61", "f"], [["74", "m"], ["58", "f"]]), looks_like_data(["age", "f"], [["74", "m"]])
    (True, False)
    """
    seen = [record for record in below[:MOST_SEEN] if list(record) != list(header)]
    columns = [[record[place] for record in seen if place < len(record)] for place in range(len(header))]
    measured = [name for name, cells in zip(header, columns, strict=True) if _measured(cells)]
    values = [name for name in measured if _is_value(name)]
    names = [name for name in measured if name.strip() not in MISSING and not _is_value(name)]
    if len(values) > len(names) and not _in_steps(values):
        return True
    texts = [place for place, name in enumerate(header) if name.strip() and not is_number(name)]
    again = [place for place in texts if header[place] in columns[place]]
    return bool(texts) and len(again) > len(header) / 2


def _measured(cells: Sequence[str]) -> bool:
    """Whether most cells are numbers or dates."""
    present = [cell for cell in cells if cell.strip() not in MISSING]
    return sum(map(_is_value, present)) > _MOST * len(present)


def _is_value(text: str) -> bool:
    return is_number(text) or DATE.fullmatch(text) is not None


def _in_steps(names: Sequence[str]) -> bool:
    """Whether these are three or more whole numbers in equal steps."""
    if len(names) < 3 or not all(name.strip().isdecimal() for name in names):
        return False
    numbers = [int(name) for name in names]
    step = numbers[1] - numbers[0]
    return step > 0 and numbers == [numbers[0] + step * place for place in range(len(numbers))]


def _filled(record: Record) -> int:
    return sum(bool(cell.strip()) for cell in record)
