"""What a file turned out to be, for people: its format, how its text is written, where its names are."""

from dataclasses import dataclass

from aliquot.disclosure import FEW, SUPPORT

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MARKS = {",": "decimal comma", ".": "decimal point"}


@dataclass(frozen=True, kw_only=True)
class Found:
    """The format of a table and what had to be found out to read it; what a format does not have is None.

    >>> Found(format="text", encoding="UTF-8", separator=";", decimal=",", header=1, rows=800, columns=12).sentence
    'text, UTF-8, separated by semicolons, decimal comma, names in line 1; 800 rows × 12 columns'
    """

    format: str
    encoding: str | None = None  # of text
    separator: str | None = None  # between cells of text
    decimal: str | None = None  # "," or "."; None: no number has one
    header: int | None = None  # the line or row with the names of the columns, from 1
    sheet: str | None = None  # of a workbook, or the object of an R file
    rows: int = 0
    columns: int = 0

    @property
    def sentence(self) -> str:
        """All of it in one line; a small number of rows is hidden."""
        said = [
            self.format,
            None if self.sheet is None else f"sheet {self.sheet!r}",
            self.encoding,
            None if self.separator is None else f"separated by {_SEPARATORS[self.separator]}",
            None if self.decimal is None else _MARKS[self.decimal],
            None if self.header is None else f"names in line {self.header}",
        ]
        rows = FEW if self.rows < SUPPORT else f"{self.rows:,}"
        return f"{', '.join(part for part in said if part)}; {rows} rows × {self.columns:,} columns"
