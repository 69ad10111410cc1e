"""Measurements with a time, one per line or one column per variable, brought to a grid of equal steps."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from aliquot.cohort.checks import check_names, check_rows, is_constant
from aliquot.cohort.stays import Stays
from aliquot.cohort.time.measurements import Measurements, from_columns, from_lines
from aliquot.cohort.time.steps import Lines, averaged, lines_of
from aliquot.cohort.values import levels_of
from aliquot.cohort.wording import counted, quoted, suggestion
from aliquot.errors import SchemaError, SettingsError


@dataclass(frozen=True)
class Layout:
    """Which columns of a table of measurements say whose, when and what, and the grid to bring them to.

    With ``variable`` and ``value`` every line is one measurement; without them every line is a stay at a time, and the
    other columns are variables. The grid covers [0, ``hours``), or the longest stay, in steps of ``step_hours``, by
    default of an hour.

    >>> Layout("stay", "hour", hours=48, step_hours=2).steps
    24
    """

    stay_id: str
    time: str
    variable: str | None = None
    value: str | None = None
    hours: float | None = None
    step_hours: float | None = None
    outcomes: str | None = None  # path of a table with one row per stay

    def __post_init__(self) -> None:
        if (self.variable is None) != (self.value is None):
            raise SettingsError(
                "asked for one measurement per line, but only one of variable and value is named; name both columns, "
                "or neither where each variable has a column"
            )
        if len(set(self.columns)) < len(self.columns):
            raise SettingsError("one column was named for two of stay, time, variable and value; name different ones")
        step = self.step
        hours = step if self.hours is None else self.hours
        if not (0 < step <= hours < math.inf and math.isclose(round(hours / step) * step, hours)):
            raise SettingsError(f"asked for {hours:g} hours in steps of {step:g}; ask for one or more whole steps")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are named."""
        return tuple(name for name in (self.stay_id, self.time, self.variable, self.value) if name is not None)

    @property
    def step(self) -> float:
        """Length of a step in hours."""
        return 1.0 if self.step_hours is None else self.step_hours

    @property
    def steps(self) -> int | None:
        """Length of the grid; None: that of the longest stay."""
        return None if self.hours is None else round(self.hours / self.step)


def on_grid(
    frame: pd.DataFrame,
    layout: Layout,
    outcomes: pd.DataFrame | None = None,
    *,
    constant: Collection[str] = (),
    channels: Collection[str] | None = None,
    drop: Collection[str] = (),
) -> Stays:
    """Stays on a grid: the mean of what was measured in each step, and a table of what does not change.

    ``outcomes`` has one row per stay. ``constant`` names columns that must not change within a stay, as the target.
    ``channels`` names the variables to take; None: all. ``drop`` names columns or variables to leave out.

    ============================================  =================================================================
    in the tables                                 on the grid
    ============================================  =================================================================
    order of the stays                            as in ``outcomes``, or as they first appear in ``frame``
    order of the channels                         as the columns; variables that lines name are sorted
    several values in one step                    their mean
    a time before 0 or after the grid             left out, with a note
    a stay with nothing in these hours            missing throughout, with a note
    a stay with measurements but no outcome       refused
    one column per variable: one that never       in the table of what does not change, unless ``outcomes`` has it;
    changes within any stay                       an empty cell differs from a full one
    one measurement per line: another column      the same, where there is no ``outcomes``; else left out
    ============================================  =================================================================

    >>> lines = pd.DataFrame({"id": [7, 7, 8], "hour": [0.2, 0.8, 1.5], "name": "hr", "value": [80, 90, 70]})
    >>> stays = on_grid(lines, Layout("id", "hour", "name", "value"))
    >>> stays.series.values[:, :, 0].tolist(), stays.frame["id"].tolist()
    ([[85.0, nan], [nan, 70.0]], [7, 8])
    """
    frame, outcomes = _tables(frame, outcomes, layout, constant, drop)
    lines = lines_of(
        frame[layout.stay_id],
        frame[layout.time],
        None if outcomes is None else outcomes[layout.stay_id],
        steps=layout.steps,
        step_hours=layout.step,
    )
    changes = {name: lines.changing(frame[name]) for name in frame.columns if name not in layout.columns}
    _check_constant(changes, constant)
    moving = [name for name, stays in changes.items() if stays]
    measured = _measurements(frame, layout, lines, moving, channels, drop)
    long = layout.variable is not None
    rest = {name: n for name, n in changes.items() if name not in measured.channels and (long or not n)}
    beside, notes = _beside(frame, rest, outcomes, constant, long=long)
    beside = beside if outcomes is not None else [layout.stay_id, *beside]
    found = frame[beside].set_axis(range(len(frame))).reindex(lines.first).reset_index(drop=True)
    table = found if outcomes is None else pd.concat([outcomes, found], axis=1)
    if channels is None:
        _check_apart(measured.channels, list(table.columns))
    series, gaps = averaged(measured, lines, layout.step)
    return Stays(table, series, layout.stay_id, (*measured.notes, *notes, *gaps))


def _tables(
    frame: pd.DataFrame, outcomes: pd.DataFrame | None, layout: Layout, constant: Collection[str], drop: Collection[str]
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Both tables without what is dropped; what must be constant is in that of outcomes where that has it."""
    frame = _with_columns(frame, layout.columns, "the table")
    check_rows(frame)
    if outcomes is not None:
        outcomes = _with_columns(outcomes, (layout.stay_id,), "the table of outcomes").reset_index(drop=True)
    listed = () if outcomes is None else tuple(outcomes.columns)
    _check_dropped(drop, frame, listed, layout)
    kept = {layout.stay_id, *constant}
    if outcomes is not None:
        outcomes = outcomes.drop(columns=[name for name in listed if name in drop and name not in kept])
    twice = [name for name in constant if name in listed]
    without = [name for name in frame.columns if name in twice or (name in drop and name not in kept)]
    return frame.drop(columns=[name for name in without if name not in layout.columns]), outcomes


def _with_columns(frame: pd.DataFrame, needed: Sequence[str], what: str) -> pd.DataFrame:
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    check_names(list(frame.columns))
    for name, role in zip(needed, ("stay identifier", "time", "variable", "value"), strict=False):
        if name not in frame.columns:
            raise SchemaError(f"the {role} {name!r} is not a column of {what}; {suggestion(name, list(frame.columns))}")
    return frame


def _check_dropped(drop: Collection[str], frame: pd.DataFrame, listed: Sequence[str], layout: Layout) -> None:
    known = [*frame.columns, *listed]
    unknown = [name for name in drop if name not in known]
    if unknown and layout.variable is not None:
        variables = set(levels_of(frame[layout.variable])[1])
        unknown = [name for name in unknown if name not in variables]
    if unknown:
        raise SchemaError(
            f"asked to leave out {quoted(unknown)}, but that is neither a column nor a variable; "
            f"{suggestion(unknown[0], known)}"
        )


def _check_constant(changes: Mapping[str, int], constant: Collection[str]) -> None:
    broken = [(name, stays) for name, stays in changes.items() if stays and name in constant]
    if broken:
        name, stays = broken[0]
        raise SchemaError(
            f"the column {name!r} must be the same throughout a stay, but changes within {counted(stays, 'stay')}; "
            "correct it, or pass a table with one row per stay as outcomes=…"
        )


def _measurements(
    frame: pd.DataFrame,
    layout: Layout,
    lines: Lines,
    moving: list[str],
    channels: Collection[str] | None,
    drop: Collection[str],
) -> Measurements:
    if layout.variable is None or layout.value is None:
        return from_columns(frame, moving, channels)
    variable = frame[layout.variable]
    if channels is None and not lines.changing(variable) and not is_constant(variable):
        raise SchemaError(
            f"the variable {layout.variable!r} never changes within a stay; name the column that says what was measured"
        )
    return from_lines(frame, layout.variable, layout.value, channels=channels, drop=drop)


def _beside(
    frame: pd.DataFrame,
    changes: Mapping[str, int],
    outcomes: pd.DataFrame | None,
    constant: Collection[str],
    *,
    long: bool,
) -> tuple[list[str], tuple[str, ...]]:
    """The columns to take beside the measurements, as they never change, and notes on the others."""
    held = [name for name in changes if outcomes is not None and name in outcomes.columns]
    empty = [name for name in changes if name not in (*held, *constant) and frame[name].isna().all()]
    other = [name for name in changes if name not in (*held, *empty, *constant)]
    other = [name for name in other if changes[name] or (long and outcomes is not None)]
    found = ((held, "also in the table of outcomes"), (empty, "never measured"), (other, "not measurements"))
    notes = tuple(f"left out {quoted(names)}: {why}" for names, why in found if names)
    return [name for name in changes if name not in (*held, *empty, *other)], notes


def _check_apart(channels: Sequence[str], columns: Sequence[str]) -> None:
    both = [name for name in channels if name in columns]
    if both:
        raise SchemaError(
            f"{quoted(both)} would be both a channel over time and a column that does not change; rename one of them, "
            "or leave both out (drop=[…])"
        )
