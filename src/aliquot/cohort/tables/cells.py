"""Cells of files that are not text, brought to what a table of text would hold."""

import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd

from aliquot.cohort.tables.numerals import Mark, read_numerals

# Texts that stand for a missing cell, as pandas.read_csv has them.
MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"}
    | {"<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)


def tidy(frame: pd.DataFrame, usual: Mark | None = None) -> pd.DataFrame:
    """The table with every column of objects as numbers, dates, truth values or texts.

    >>> tidy(pd.DataFrame({"seen": [datetime.date(2024, 1, 31)], "crp": [Decimal("1.5")]})).dtypes.astype(str).tolist()
    ['datetime64[s]', 'float64']
    """
    return pd.DataFrame({name: _tidy(cells, usual) for name, cells in frame.items()}, index=frame.index)


def _tidy(cells: pd.Series, usual: Mark | None) -> pd.Series:
    """One column: what is of one type keeps it; of several types, all become texts."""
    if isinstance(cells.dtype, pd.CategoricalDtype) or not pd.api.types.is_object_dtype(cells.dtype):
        return read_numerals(cells, usual) if pd.api.types.is_string_dtype(cells.dtype) else cells
    plain = cells.map(_value)
    present = plain.dropna()
    kinds = {type(value) for value in present}
    if kinds <= {datetime.date, datetime.datetime, pd.Timestamp}:
        return (
            pd.Series(pd.to_datetime(plain, utc=_zoned(present), errors="coerce"), name=cells.name) if kinds else plain
        )
    if kinds <= {int, float}:
        return pd.to_numeric(plain)
    if kinds == {bool}:
        return plain.astype("boolean" if len(present) < len(plain) else "bool")
    return read_numerals(plain.map(_text, na_action="ignore").astype("str"), usual)


def _value(value: object) -> object:
    """A cell as Python has it; None where it is missing."""
    match value:
        case bool() | np.bool_():
            return bool(value)
        case int() | np.integer():
            return int(value)
        case float() | np.floating() | Decimal():
            return _number(float(value))
        case bytes():
            return _value(value.decode("utf-8", "replace"))
        case str():
            return None if value.strip() in MISSING else value
        case None:
            return None
        case datetime.date():
            return None if pd.isna(value) else value
        case _:
            return str(value)


def _number(value: float) -> float | None:
    """A whole number without its decimal point; None for NaN."""
    if math.isnan(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _text(value: object) -> str:
    return value.isoformat(" ") if isinstance(value, datetime.datetime) else str(value)


def _zoned(values: pd.Series) -> bool:
    return any(getattr(value, "tzinfo", None) is not None for value in values)
