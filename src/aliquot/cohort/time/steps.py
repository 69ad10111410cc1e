"""Whose and when each line of a table is, and the mean of what was measured in each step of a stay."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from aliquot.cohort.series import Series
from aliquot.cohort.time.hours import hours_of
from aliquot.cohort.time.measurements import Measurements
from aliquot.cohort.values import is_numeric, levels_of, numbers
from aliquot.cohort.wording import counted
from aliquot.disclosure import masked_count
from aliquot.errors import SchemaError, SettingsError

MAX_STEPS = 1000  # of a grid whose length was not given
TOLERANCE = 1e-9  # of a step: 0.3 hours begin the fourth tenth of an hour, whatever floats make of it


@dataclass(frozen=True, eq=False)
class Lines:
    """Where the lines of a table belong on a grid of stays and steps."""

    stay: np.ndarray  # (lines,) number of its stay
    step: np.ndarray  # (lines,) float64; below 0 and from ``steps`` on outside the grid
    stays: int
    steps: int

    @cached_property
    def inside(self) -> np.ndarray:
        """Whether each line is on the grid."""
        return (self.step >= 0) & (self.step < self.steps)

    @cached_property
    def place(self) -> np.ndarray:
        """The number of each line's step among those of all stays; -1 outside."""
        return np.where(self.inside, self.stay * self.steps + np.where(self.inside, self.step, 0).astype(np.int64), -1)

    @cached_property
    def first(self) -> np.ndarray:
        """The first line of each stay; -1 where it has none."""
        first = np.full(self.stays, -1)
        first[self.stay[::-1]] = np.arange(len(self.stay))[::-1]
        return first

    def changing(self, cells: pd.Series) -> int:
        """Within how many stays a column changes; an empty cell differs from a full one.

        >>> lines = Lines(np.array([0, 0, 1]), np.zeros(3), stays=2, steps=1)
        >>> lines.changing(pd.Series([61, 61, 74])), lines.changing(pd.Series([61, None, 74]))
        (0, 1)
        """
        if is_numeric(cells):
            values = numbers(cells)
            first = values[self.first][self.stay]
            differs = (values != first) & ~(np.isnan(values) & np.isnan(first))
        else:
            codes, _ = levels_of(cells)
            differs = codes != codes[self.first][self.stay]
        return int(np.count_nonzero(np.bincount(self.stay[differs], minlength=self.stays)))


def lines_of(
    stay: pd.Series, time: pd.Series, listed: pd.Series | None, *, steps: int | None, step_hours: float
) -> Lines:
    """Where lines belong, by a column of stays and one of times.

    ``listed`` names all stays in their order, once each; None: those of the lines, as they first appear. Without a
    number of ``steps`` the grid is as long as the longest stay.
    """
    codes, known = _named(stay, "line")
    number = np.arange(len(known)) if listed is None else _numbers_in(known, listed)
    stays = len(known) if listed is None else len(listed)
    row = number[codes]
    step = np.floor(hours_of(time, row, stays) / step_hours + TOLERANCE)
    if steps is None:
        longest = step.max(initial=0) + 1
        if longest > MAX_STEPS:
            raise SettingsError(
                f"the longest stay takes more than {MAX_STEPS} steps of {step_hours:g} hours; say with --hours how "
                "much of each stay to take, or with --step-hours to take longer steps"
            )
        steps = int(longest)
    return Lines(row, step, stays, steps)


def averaged(measured: Measurements, lines: Lines, step_hours: float) -> tuple[Series, tuple[str, ...]]:
    """The mean of each channel in each step of each stay, and notes on what is not there; channel by channel."""
    shape = lines.stays, lines.steps
    values = np.empty((*shape, len(measured.channels)), dtype=np.float32)
    seen, outside = np.zeros(lines.stays, dtype=bool), np.zeros(lines.stays, dtype=bool)
    for channel, (where, numbers_there) in enumerate(measured.parts):
        inside = lines.inside[where]
        means = mean_at(lines.place[where[inside]], numbers_there[inside], lines.stays * lines.steps)
        values[:, :, channel] = means.reshape(shape)
        seen |= np.isfinite(values[:, :, channel]).any(axis=1)
        outside[lines.stay[where[~inside]]] = True
    span = f"hours 0 to {lines.steps * step_hours:g}"
    if not seen.any():
        raise SchemaError(f"nothing was measured in {span}; check the time, or ask for other --hours")
    found = ((outside, "with measurements outside of"), (~seen, "without any measurement in"))
    notes = tuple(f"{masked_count(int(those.sum()), 'stay')} {where} {span}" for those, where in found if those.any())
    return Series(values, measured.channels, step_hours), notes


def mean_at(place: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """Mean of the values that fall on each of ``size`` places, float32; missing where none does.

    >>> mean_at(np.array([0, 2, 2]), np.array([7.0, 80.0, 90.0]), 3).tolist()
    [7.0, nan, 85.0]
    """
    with np.errstate(invalid="ignore"):
        means = np.bincount(place, values, minlength=size) / np.bincount(place, minlength=size)
    return means.astype(np.float32)


def _named(cells: pd.Series, noun: str) -> tuple[np.ndarray, list[str]]:
    codes, known = levels_of(cells)
    missing = int((codes < 0).sum())
    if missing:
        raise SchemaError(
            f"the stay identifier {str(cells.name)!r} is missing in {counted(missing, noun)}; fill it in or remove "
            f"these {noun}s"
        )
    return codes, known


def _numbers_in(known: list[str], listed: pd.Series) -> np.ndarray:
    """The number of each stay in the table of outcomes."""
    codes, names = _named(listed, "row")
    repeated = len(codes) - len(names)
    if repeated:
        raise SchemaError(
            f"the table of outcomes has {counted(repeated, 'row')} for a stay that came before; keep one row per stay"
        )
    number = pd.Index(names, dtype=object).get_indexer(pd.Index(known, dtype=object))
    absent = int((number < 0).sum())
    if absent:
        raise SchemaError(
            f"{absent} of the {len(known)} stays with measurements are not in the table of outcomes; add them there, "
            "or remove their measurements"
        )
    return number
