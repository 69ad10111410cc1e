"""Groups of patients by which results are compared: columns that the user names, and bands of age."""

import re
from collections.abc import Collection, Iterable
from itertools import pairwise

import numpy as np
import pandas as pd

from aliquot.cohort.codes import MISSING
from aliquot.cohort.columns import check_known
from aliquot.cohort.values import is_numeric, levels_of, numbers
from aliquot.errors import SchemaError

MOST_LEVELS = 20  # of a column by which results may be compared
OLDEST = 130.0
BAND_STARTS = (18, 40, 65, 80)  # in years
SMALL_BAND = 100  # a band with fewer patients joins the next


def groups_of(frame: pd.DataFrame, asked: Collection[str], features: Iterable[str]) -> pd.DataFrame:
    """The group of each patient by each column asked for, and by bands of age where a feature is an age in years.

    Every column of the result is categorical, its levels in the order in which they are shown; a gap is a group too.

    >>> groups_of(pd.DataFrame({"age": [35, 81] * 100, "sex": ["f", None] * 100}), ["sex"], ["age"])[:2].to_numpy()
    array([['f', 'under 40'], ['(missing)', '40 and over']], dtype=object)
    """
    check_known("subgroup", asked, list(frame.columns))
    age = next((name for name in features if is_age(name, frame[name])), None)
    names = [*asked, age] if age is not None and age not in asked else asked
    return pd.DataFrame({name: _groups(name, frame[name]) for name in names}, index=frame.index)


def is_age(name: str, cells: pd.Series) -> bool:
    """Whether a column holds ages in years, by its name and its range.

    >>> is_age("age_years", pd.Series([61.2, 74.0])), is_age("dosage", pd.Series([61.2]))
    (True, False)
    """
    if "age" not in re.split(r"[^a-z]+", name.lower()) or not is_numeric(cells):
        return False
    values = numbers(cells)
    values = values[np.isfinite(values)]
    return bool(values.size and values.min() >= 0 and values.max() <= OLDEST and np.median(values) >= 1)


def _band_starts(ages: np.ndarray) -> list[int]:
    """Where bands start that have enough patients."""
    ages, starts = ages[np.isfinite(ages)], []
    for start in BAND_STARTS:
        since = starts[-1] if starts else 0
        if min(np.count_nonzero((ages >= since) & (ages < start)), np.count_nonzero(ages >= start)) >= SMALL_BAND:
            starts.append(start)
    return starts


def _band_names(starts: list[int]) -> list[str]:
    """Names of the bands between, before and after the starts.

    >>> _band_names([40, 65]), _band_names([])
    (['under 40', '40–64', '65 and over'], ['all ages'])
    """
    if not starts:
        return ["all ages"]
    between = [f"{low}–{high - 1}" for low, high in pairwise(starts)]
    return [f"under {starts[0]}", *between, f"{starts[-1]} and over"]


def _groups(name: str, cells: pd.Series) -> "pd.Categorical[str]":
    if is_age(name, cells):
        starts = _band_starts(numbers(cells))
        codes, levels = np.searchsorted(starts, numbers(cells), side="right"), _band_names(starts)
        codes = np.where(cells.isna(), -1, codes)
    else:
        codes, levels = levels_of(cells)
        order = np.argsort(np.asarray(levels, dtype=object), kind="stable")
        codes, levels = np.append(np.argsort(order), -1)[codes], [levels[place] for place in order]
    if len(levels) > MOST_LEVELS:
        raise SchemaError(
            f"asked for subgroups by {name!r}, which has {len(levels)} different values; name a column with at most "
            f"{MOST_LEVELS}"
        )
    gap = len(levels)
    return pd.Categorical.from_codes(
        np.where(codes < 0, gap, codes), categories=pd.Index([*levels, *([MISSING] if (codes < 0).any() else [])])
    )
