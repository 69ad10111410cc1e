"""``rows.csv`` as people open it: a name or category that a spreadsheet would run as a formula is made plain text."""

import re

import pandas as pd

# Where a cell begins (some spreadsheets begin one after a semicolon, tab or line break), perhaps after blanks or
# invisible signs, a sign that begins a formula, also in full width. A tab or line break at the start is one too.
FORMULA = re.compile(r"(^(?=[\t\r\n])|(?:^|[;\t\r\n])(?=[\s\x00-\x1f\u200b-\u200f\ufeff]*[=+\-@＝＋－＠]))")


def guarded(text: str) -> str:
    """Text with an apostrophe before whatever a spreadsheet would take for a formula.

    =========================  =============================
    text                       result
    =========================  =============================
    ``=1+1``                   ``'=1+1``
    ``－2`` (full width)       ``'－2``
    ``ward;=1+1``              ``ward;'=1+1``
    ``icu``, ``3-4``, ``a=b``  unchanged
    =========================  =============================

    >>> guarded("=HYPERLINK(...)"), guarded("icu")
    ("'=HYPERLINK(...)", 'icu')
    """
    return FORMULA.sub(r"\1'", text)


def csv(table: pd.DataFrame) -> bytes:
    """A table as CSV: names of columns, and cells that are text, guarded; numbers as they are."""
    shown = pd.DataFrame({_cell(name): _cells(table[name]) for name in table.columns}, index=table.index)
    return shown.to_csv(index=False).encode()


def _cells(cells: pd.Series) -> pd.Series:
    if pd.api.types.is_numeric_dtype(cells):
        return cells
    return pd.Series([_cell(value) for value in cells], index=cells.index, dtype=object)  # whole numbers stay whole


def _cell(value: object) -> object:
    return guarded(value) if isinstance(value, str) else value
