"""The numbers of a table of measurements, channel by channel: one measurement per line, or one column per variable."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from aliquot.cohort.checks import check_names
from aliquot.cohort.values import LARGEST, infinite, levels_of, numbers, unreadable
from aliquot.cohort.wording import counted, quoted, together
from aliquot.errors import SchemaError

MAX_VARIABLES = 1000  # more names than this are identifiers or free text


@dataclass(frozen=True, eq=False)
class Measurements:
    """Channels, and for each in turn the lines in which it was measured and the numbers found there.

    Guarantees: numbers are finite; ``parts`` can be gone through once and holds one channel at a time.
    """

    channels: tuple[str, ...]
    parts: Iterator[tuple[np.ndarray, np.ndarray]]
    notes: tuple[str, ...] = ()


def from_columns(frame: pd.DataFrame, moving: Sequence[str], channels: Collection[str] | None = None) -> Measurements:
    """The measurements of a table with one column per variable: of the columns that change, or of those asked for.

    >>> measured = from_columns(pd.DataFrame({"hr": [80, None, 90]}), ["hr"])
    >>> [(lines.tolist(), values.tolist()) for lines, values in measured.parts]
    [([0, 2], [80.0, 90.0])]
    """
    text = [name for name in moving if channels is None and np.isnan(numbers(frame[name])).all()]
    names = [name for name in moving if name not in text] if channels is None else list(channels)
    _check_present(names, frame.columns)
    if not names:
        raise SchemaError(
            "no column of the table changes within a stay, so there are no series; pass a table with several lines "
            "per stay, or leave out --time"
        )
    problems = [_column_problem(name, frame[name]) for name in names]
    if any(problems):
        raise SchemaError(together([problem for problem in problems if problem]))
    extra = [name for name in moving if name not in (*names, *text)]
    notes = (f"left out {quoted(text)}: changes in time but is no number",) if text else ()
    return Measurements(tuple(names), (_measured(frame[name]) for name in names), (*notes, *_left_out(extra)))


def from_lines(
    frame: pd.DataFrame,
    variable: str,
    value: str,
    *,
    channels: Collection[str] | None = None,
    drop: Collection[str] = (),
) -> Measurements:
    """The measurements of a table with one per line, for the variables asked for or, sorted, for all.

    >>> lines = pd.DataFrame({"name": ["hr", "ph", "hr"], "value": [80, 7.4, None]})
    >>> [(lines.tolist(), values.tolist()) for lines, values in from_lines(lines, "name", "value").parts]
    [([0], [80.0]), ([1], [7.4])]
    """
    codes, known = _variables(frame[variable])
    names = sorted(set(known) - set(drop)) if channels is None else list(channels)
    _check_present(names, known)
    if channels is None and len(names) > MAX_VARIABLES:
        raise SchemaError(
            f"the variable {variable!r} has {len(names)} different names; name the column that says what was measured, "
            f"with at most {MAX_VARIABLES} variables"
        )
    place = {name: number for number, name in enumerate(names)}
    channel = np.array([place.get(name, -1) for name in known], dtype=np.int16)[codes]
    values = numbers(frame[value])
    _check_values(frame[value], values, channel, names)
    lines = np.flatnonzero((channel >= 0) & ~np.isnan(values))
    lines = lines[np.argsort(channel[lines], kind="stable")]
    bounds = np.searchsorted(channel[lines], np.arange(len(names) + 1))
    parts = ((lines[start:stop], values[lines[start:stop]]) for start, stop in pairwise(bounds))
    extra = [name for name in known if name not in place and name not in drop]
    return Measurements(tuple(names), parts, _left_out(extra))


def _check_present(names: Sequence[str], known: Collection[str]) -> None:
    absent = [name for name in names if name not in known]
    if absent:
        raise SchemaError(
            f"the table lacks channels that the release needs ({quoted(absent)}); add them, without values where they "
            "were not measured"
        )


def _left_out(names: Sequence[str]) -> tuple[str, ...]:
    return (f"left out {quoted(names)}: no channels of the release",) if names else ()


def _measured(cells: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    values = numbers(cells)
    lines = np.flatnonzero(~np.isnan(values))
    return lines, values[lines]


def _column_problem(name: str, cells: pd.Series) -> str | None:
    values = numbers(cells)
    failed, unbounded = unreadable(cells, values), infinite(values)
    if failed:
        return f"{name!r} changes in time but has {counted(failed, 'cell')} without a number (turn it into numbers)"
    return f"{name!r} has {counted(unbounded, 'infinite cell')}" if unbounded else None


def _variables(cells: pd.Series) -> tuple[np.ndarray, list[str]]:
    codes, known = levels_of(cells)
    missing = int((codes < 0).sum())
    if missing:
        raise SchemaError(
            f"the variable {str(cells.name)!r} is missing in {counted(missing, 'line')}; fill it in or remove these "
            "lines"
        )
    check_names(known)
    return codes, known


def _check_values(cells: pd.Series, values: np.ndarray, channel: np.ndarray, names: list[str]) -> None:
    """Refuse what is no finite number; variables are named only where the column does hold numbers."""
    taken = channel >= 0
    failed = taken & np.isnan(values) & cells.notna().to_numpy()
    if failed.any() and np.isnan(values[taken]).all():
        raise SchemaError(
            f"the value {str(cells.name)!r} holds no number at all; check which columns are named as variable and value"
        )
    unbounded = taken & (np.abs(values) > LARGEST)
    problems = [
        f"{names[place]!r} has {counted(count, 'value')} {fault}"
        for where, fault in ((failed, "without a number"), (unbounded, "that are infinite or too large"))
        for place, count in enumerate(np.bincount(channel[where], minlength=len(names)).tolist())
        if count
    ]
    if problems:
        raise SchemaError(together(problems))
