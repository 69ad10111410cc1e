"""A column of times as hours: numbers as they are, timestamps since the first of each stay."""

import numpy as np
import pandas as pd

from aliquot.cohort.values import is_numeric, numbers
from aliquot.cohort.wording import counted
from aliquot.errors import SchemaError

SAMPLE = 1000  # lines by which a column of text is judged
_TICKS_PER_HOUR = 3_600_000_000  # microseconds
_NO_TIME = np.iinfo(np.int64).min  # how NaT is stored


def hours_of(cells: pd.Series, stay: np.ndarray, stays: int) -> np.ndarray:
    """Hours of each line (float64), where ``stay`` is the number of its stay.

    Lines are read one by one, not by distinct text: there may be as many texts as lines.

    ====================================================  ==========================================
    column                                                hours
    ====================================================  ==========================================
    numbers, also when written as text                    as they are
    durations                                             as they are
    timestamps, also when written as text (ISO 8601)      since the earliest timestamp of the stay
    anything else, or empty cells                         a SchemaError that counts the lines
    ====================================================  ==========================================

    >>> hours_of(pd.Series(["2024-01-31 08:00", "2024-01-31 09:30"]), np.array([0, 0]), 1).tolist()
    [0.0, 1.5]
    """
    types = pd.api.types
    if types.is_timedelta64_dtype(cells.dtype):
        hours = cells.dt.total_seconds().to_numpy(np.float64) / 3600
    elif types.is_datetime64_any_dtype(cells.dtype):
        hours = _since_first(_ticks(cells), stay, stays)
    elif is_numeric(cells):
        hours = numbers(cells)
    else:
        hours = _from_text(cells, stay, stays)
    failed = int((~np.isfinite(hours)).sum())
    if failed:
        raise SchemaError(
            f"the time {str(cells.name)!r} has {counted(failed, 'line')} with neither a number of hours nor a "
            "timestamp such as 2024-01-31 08:00; correct or remove them"
        )
    return hours


def _from_text(cells: pd.Series, stay: np.ndarray, stays: int) -> np.ndarray:
    """The reading, as numbers or as timestamps, that more of the first lines allow."""
    sample = cells.dropna().head(SAMPLE)
    if np.isfinite(_numbers(sample)).sum() >= (_moments(sample) != _NO_TIME).sum():
        return _numbers(cells)
    return _since_first(_moments(cells), stay, stays)


def _numbers(cells: pd.Series) -> np.ndarray:
    return pd.to_numeric(cells.astype(str), errors="coerce").to_numpy(np.float64, na_value=np.nan)


def _moments(cells: pd.Series) -> np.ndarray:
    return _ticks(pd.Series(pd.to_datetime(cells.astype(str), format="ISO8601", utc=True, errors="coerce")))


def _ticks(moments: pd.Series) -> np.ndarray:
    """Microseconds since 1970, of moments with a time zone in that of Greenwich."""
    moments = moments if moments.dt.tz is None else moments.dt.tz_convert("UTC").dt.tz_localize(None)
    return moments.to_numpy("datetime64[us]").astype(np.int64)


def _since_first(ticks: np.ndarray, stay: np.ndarray, stays: int) -> np.ndarray:
    known = ticks != _NO_TIME
    first = np.full(stays, np.iinfo(np.int64).max)
    np.minimum.at(first, stay[known], ticks[known])
    return np.where(known, (ticks - first[stay]) / _TICKS_PER_HOUR, np.nan)
