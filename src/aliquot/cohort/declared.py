"""The cells of a column as its schema entry says to read them: marks of gaps are gaps, dates become days."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

import numpy as np
import pandas as pd

from aliquot.cohort.kinds import DAY_OR_MONTH_FIRST
from aliquot.cohort.schema import Column, Schema
from aliquot.cohort.values import is_numeric, levels_of, loose_spelling, numbers, unreadable
from aliquot.cohort.wording import counted
from aliquot.errors import SchemaError

DAY_DECIMALS = 3  # of days between two dates: a minute and a half
DAY_SECONDS = 24 * 60 * 60


class Reading(Protocol):
    """What tells how the cells of a column are read: an entry of a schema, or a code made from one."""

    @property
    def name(self) -> str:
        """Name of the column."""
        ...

    @property
    def gap_values(self) -> tuple[float | str, ...] | None:
        """Cells that mean missing."""
        ...


def as_declared(frame: pd.DataFrame, schema: Schema) -> tuple[pd.DataFrame, Schema]:
    """The columns that the schema names, as it says to read them, and the schema with the order of dates settled."""
    settled = Schema(tuple(_with_order_of_dates(column, frame) for column in schema))
    return pd.DataFrame({column.name: cells_of(frame, column) for column in settled}, index=frame.index), settled


def cells_of(frame: pd.DataFrame, how: Reading) -> pd.Series:
    """Cells of one column; those that are what :func:`as_declared` made of them stay.

    >>> frame = pd.DataFrame({"out": ["2024-01-05", None], "admitted": ["2024-01-02", "2024-01-02"]})
    >>> cells_of(frame, Column(name="out", kind="date", days_from="admitted")).tolist()
    [3.0, nan]
    >>> cells_of(pd.DataFrame({"ph": [7.4, -999.0]}), Column(name="ph", kind="numeric", gap_values=(-999,))).tolist()
    [7.4, nan]
    """
    cells = frame[how.name]
    if how.gap_values:
        cells = _without(cells, how.gap_values)
    anchor = getattr(how, "days_from", None)
    return cells if anchor is None else _days(frame, cells, anchor, day_first=bool(getattr(how, "day_first", None)))


def _without(cells: pd.Series, marks: Iterable[float | str]) -> pd.Series:
    """The cells without those that only mark a gap."""
    codes, levels = levels_of(cells)
    unwanted = {loose_spelling(str(mark).strip()) for mark in marks}
    gaps = np.array([*(loose_spelling(level.strip()) in unwanted for level in levels), False])[codes]
    return cells.mask(gaps) if gaps.any() else cells


def _days(frame: pd.DataFrame, cells: pd.Series, anchor: str, *, day_first: bool) -> pd.Series:
    """Days from the anchor to each date; numbers are days already."""
    days = numbers(cells)
    if is_numeric(cells) or (cells.notna().any() and not unreadable(cells, days)):
        return pd.Series(days, index=cells.index, name=cells.name)
    if anchor not in frame.columns:
        raise SchemaError(f"the table lacks the column {anchor!r}, from which the days of {cells.name!r} count; add it")
    start, end = (_dates(one, day_first=day_first) for one in (frame[anchor], cells))
    days = (end - start).dt.total_seconds() / DAY_SECONDS
    return pd.Series(days.to_numpy(float).round(DAY_DECIMALS) + 0.0, index=cells.index, name=cells.name)


def _dates(cells: pd.Series, *, day_first: bool) -> pd.Series:
    """Cells as points in time; a SchemaError where one is none."""
    if not pd.api.types.is_datetime64_any_dtype(cells.dtype):
        codes, levels = levels_of(cells)
        known = [pd.to_datetime(level, errors="coerce", dayfirst=_is_day_first(level, day_first)) for level in levels]
        utc = [one.tz_convert(None) if isinstance(one, pd.Timestamp) and one.tzinfo else one for one in known]
        times = pd.Series(pd.DatetimeIndex([*utc, pd.NaT])[codes], index=cells.index)
    else:
        times = cells.dt.tz_convert(None) if getattr(cells.dtype, "tz", None) is not None else cells
    wrong = int((times.isna() & cells.notna()).sum())
    if wrong:
        raise SchemaError(
            f"column {cells.name!r} should hold dates but has {counted(wrong, 'cell')} without one; clean it"
        )
    return times


def _is_day_first(level: str, day_first: bool) -> bool:
    return day_first and DAY_OR_MONTH_FIRST.match(level) is not None


def _with_order_of_dates(column: Column, frame: pd.DataFrame) -> Column:
    """The column with the order of its dates where it is made of dates like 31/01/2024 and the schema does not say."""
    if column.days_from is None or column.day_first is not None:
        return column
    found = [frame[name] for name in (column.name, column.days_from) if name in frame.columns]
    texts = [level for cells in found if not is_numeric(cells) for level in levels_of(cells)[1]]
    parts = [one for one in (DAY_OR_MONTH_FIRST.match(text) for text in texts) if one is not None]
    if not parts:
        return column
    return replace(column, day_first=not any(int(one[2]) > 12 for one in parts))
