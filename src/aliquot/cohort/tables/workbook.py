"""Workbooks: Excel's and LibreOffice's, read as they were saved, without running a formula."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from aliquot.cohort.checks import check_names
from aliquot.cohort.found import Found
from aliquot.cohort.tables.cells import tidy
from aliquot.cohort.tables.header import check_header, header_place
from aliquot.cohort.tables.sheets import chosen
from aliquot.cohort.tables.table import Table
from aliquot.errors import FileError

Row = Sequence[object]


def read_workbook(path: Path, sheet: str | None) -> Table:
    """The table in a sheet: the one named, or the only visible one that holds a table.

    Rows above the names, blank rows and columns without any cell below the names are left out.
    """
    with CalamineWorkbook.from_path(str(path)) as book:
        pages = [one for one in book.sheets_metadata if one.typ == SheetTypeEnum.WorkSheet]
        names = [one.name for one in pages]
        shown = [one.name for one in pages if one.visible == SheetVisibleEnum.Visible] if sheet is None else [sheet]
        rows = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in shown if name in names}
    name = chosen(path, "sheet", sheet, names, [one for one in rows if _is_table(rows[one])])
    if not any(map(any, rows[name])):
        raise FileError(f"the sheet {name!r} is empty; name one with a table")
    frame, header = _table(f"the sheet {name!r}", rows[name])
    return Table(frame, Found(format="workbook", sheet=name, header=header))


def _table(what: str, rows: Sequence[Row]) -> tuple[pd.DataFrame, int]:
    """The cells below the names, and the row of these from 1."""
    texts = [[_name(cell) for cell in row] for row in rows]
    place = header_place(texts, _width(texts))
    used = [column for column in range(len(texts[0])) if any(row[column].strip() for row in texts[place:])]
    names, below = [texts[place][column] for column in used], [row for row in texts[place + 1 :] if any(row)]
    check_header(what, names, [[row[column] for column in used] for row in below])
    check_names(names)
    kept = [row for row, text in zip(rows[place + 1 :], texts[place + 1 :], strict=True) if any(text)]
    cells = {
        name: pd.Series([row[column] for row in kept], dtype=object) for name, column in zip(names, used, strict=True)
    }
    return tidy(pd.DataFrame(cells)), place + 1


def _is_table(rows: Sequence[Row]) -> bool:
    """Whether a sheet has two rows and columns or more, a title apart."""
    texts = [[_name(cell) for cell in row] for row in rows]
    return _width(texts) >= 2 and sum(sum(map(bool, row)) >= 2 for row in texts) >= 2


def _width(texts: Sequence[Sequence[str]]) -> int:
    """How many columns have any cell."""
    return sum(any(cell.strip() for cell in column) for column in zip(*texts, strict=True))


def _name(cell: object) -> str:
    """A cell as a name would be spelt; whole numbers have no decimal point."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
