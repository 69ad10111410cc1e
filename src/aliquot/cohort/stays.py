"""Patients as they were read, before anything is checked, left out or encoded."""

from dataclasses import dataclass

import pandas as pd

from aliquot.cohort.found import Found
from aliquot.cohort.series import Series


@dataclass(frozen=True, eq=False)
class Stays:
    """One row per patient or stay, in the order of the source, and what was measured over time.

    The outcome and identifiers, where they are known, are still among the columns of ``frame``.

    >>> Stays(pd.DataFrame({"age": [61, 74]})).series is None
    True
    """

    frame: pd.DataFrame  # what does not change in time; may have no columns where there are series
    series: Series | None = None  # in the order of the rows
    stay_id: str | None = None  # the column of ``frame`` that names the rows; never a feature
    notes: tuple[str, ...] = ()  # sentences for the user on what was left out
    found: Found | None = None  # the format that they were read from

    @property
    def channels(self) -> tuple[str, ...]:
        """What was measured over time."""
        return () if self.series is None else self.series.channels
