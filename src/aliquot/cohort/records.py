"""What every reader of a known dataset returns: outcomes, and features in a table, in series over time, or both."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from aliquot.cohort.roles import ROLES
from aliquot.cohort.wording import counted
from aliquot.errors import FileError


@dataclass(frozen=True, eq=False)
class Records:
    """n stays or presentations, in the same order in every part.

    Guarantees: all parts have n rows; labels are 0 or 1, both occur; ids are unique; a role is one of train, tuning and
    held_out; series are finite where they are not missing. What is wrong is a FileError without any value in it.
    """

    labels: np.ndarray  # (n,) int8, 0 or 1
    ids: np.ndarray  # (n,) text, unique
    frame: pd.DataFrame  # (n, columns) features that do not change in time; may have no columns
    series: np.ndarray | None = None  # (n, T, C) float32, NaN where not measured
    channels: tuple[str, ...] = ()  # (C,)
    step_hours: float = 1.0  # between two of the T steps
    groups: np.ndarray | None = None  # (n,) text: the patient behind each; a split never divides one
    roles: np.ndarray | None = None  # (n,) text: the source's own split, where it has one
    target: str = "outcome"
    notes: tuple[str, ...] = ()  # what a user should know: rows left out, groups unknown, …

    def __post_init__(self):
        n = len(self.labels)
        parts = {
            "ids": self.ids,
            "table": self.frame,
            "series": self.series,
            "patients": self.groups,
            "split": self.roles,
        }
        lengths = {name: len(part) for name, part in parts.items() if part is not None}
        problems = [f"{size} {name} for {n} outcomes" for name, size in lengths.items() if size != n]
        if set(np.unique(self.labels)) != {0, 1}:
            problems.append("outcomes that are not 0 and 1, both of them")
        if len(np.unique(self.ids)) != len(self.ids):
            problems.append(f"{counted(len(self.ids) - len(np.unique(self.ids)), 'repeated id')}")
        if self.roles is not None and not set(self.roles) <= set(ROLES):
            problems.append("a split with other names than train, tuning and held_out")
        if self.series is not None and (self.series.ndim != 3 or self.series.shape[2] != len(self.channels)):
            problems.append(f"{len(self.channels)} names for series of shape {self.series.shape}")
        if self.series is not None and np.isinf(self.series).any():
            problems.append("series with infinite values")
        if problems:
            raise FileError(f"the files hold {'; '.join(problems)}; take them from their source again")
