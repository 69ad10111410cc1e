"""Cells as numbers and truth values, and what was encoded as cells of the source's type."""

import warnings

import numpy as np
import pandas as pd

from aliquot.cohort.scaling import float_of
from aliquot.cohort.values import LARGEST, infinite, is_numeric, numbers, truths, unreadable
from aliquot.cohort.wording import counted
from aliquot.errors import SchemaError


def read_numbers(name: str, cells: pd.Series, low: float | None, high: float | None) -> np.ndarray:
    """Cells as float64 within the plausible range; a SchemaError where one is no finite number."""
    values = numbers(cells)
    wrong = unreadable(cells, values) + infinite(values)
    if wrong:
        raise SchemaError(
            f"column {name!r} should be numeric but has {counted(wrong, 'cell')} without a finite number; clean it"
        )
    return within(values, low, high)


def read_truths(name: str, cells: pd.Series) -> np.ndarray:
    """Cells as 0.0 and 1.0; a SchemaError where one is neither."""
    values = truths(cells)
    wrong = unreadable(cells, values)
    if wrong:
        raise SchemaError(
            f"column {name!r} should be boolean but has {counted(wrong, 'cell')} without a yes or no; clean it"
        )
    return values


def log_scale(values: np.ndarray) -> np.ndarray:
    """sign(x) · log(1 + |x|): the usual log(1 + x) for counts and concentrations, defined below zero too."""
    return np.sign(values) * np.log1p(np.abs(values))


def undo_log_scale(values: np.ndarray) -> np.ndarray:
    """The inverse of ``log_scale``, held within ±``LARGEST``.

    >>> undo_log_scale(log_scale(np.array([-3.0, 0.0, 8.0]))).round(9).tolist()
    [-3.0, 0.0, 8.0]
    """
    return np.sign(values) * np.expm1(np.minimum(np.abs(values), np.log1p(LARGEST)))


def within(values: np.ndarray, low: float | None, high: float | None) -> np.ndarray:
    """A copy of the values, moved inside the plausible range where there is one; gaps stay."""
    return np.clip(values, -np.inf if low is None else low, np.inf if high is None else high)


def as_stored(values: np.ndarray, dtype: str) -> np.ndarray:
    """Values as a column of the source's type holds them, in float64: a CSV file shows 0.1, whatever is stored.

    >>> as_stored(np.array([0.1]), "float32").tolist(), as_stored(np.array([0.1]), "object").tolist()
    ([0.10000000149011612], [0.1])
    """
    if not _is_numeric_name(dtype):
        return values
    stored = float_of(pd.api.types.pandas_dtype(dtype))
    bounds = np.finfo(stored)
    return np.clip(values, bounds.min, bounds.max).astype(stored).astype(np.float64)


def restore(cells: np.ndarray, dtype: str, categories: list[str] | None = None) -> pd.Series:
    """Cells in the source's type, or as text where it cannot hold them (a rare level among numbers)."""
    series = pd.Series(cells, dtype=object)
    if dtype == "category" and categories is not None:
        return series.astype(pd.CategoricalDtype(categories))
    if dtype in ("object", "str"):  # "str" is what pandas infers for text since version 3
        return series if dtype == "object" else series.infer_objects()
    try:
        readable = pd.to_numeric(series) if _is_numeric_name(dtype) else series
        return readable.astype(pd.api.types.pandas_dtype(dtype))
    except (TypeError, ValueError, NotImplementedError, OverflowError):
        return series


def restore_numbers(values: np.ndarray, dtype: str) -> pd.Series:
    """Numbers in the source's type; those that it wrote as text stay numbers."""
    if not _is_numeric_name(dtype):
        return pd.Series(values)
    target = pd.api.types.pandas_dtype(dtype)
    if pd.api.types.is_integer_dtype(target):
        if isinstance(target, np.dtype) and np.isnan(values).any():
            return pd.Series(values)  # gaps have no place in it
        bounds = np.iinfo(getattr(target, "numpy_dtype", target))  # type: ignore[arg-type]
        top = float(bounds.max)
        values = np.clip(np.round(values), bounds.min, top if int(top) == bounds.max else np.nextafter(top, 0))
    return pd.Series(values).astype(target)


def is_kept(dtype: str) -> bool | None:
    """Whether cells can be kept in the type of that name; None where pandas knows no such type, and text stays text.

    >>> is_kept("int64"), is_kept("V100000"), is_kept("dictionary<values=string>[pyarrow]")
    (True, False, None)
    """
    with warnings.catch_warnings(action="error"):
        try:
            return pd.api.types.pandas_dtype(dtype).kind in "biufmMOU"
        except (TypeError, ValueError, NotImplementedError):
            return None
        except Warning:  # names that NumPy is about to forget; no column tells one
            return False


def _is_numeric_name(dtype: str) -> bool:
    return is_numeric(pd.Series([], dtype=dtype))
