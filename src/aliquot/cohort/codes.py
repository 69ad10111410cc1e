"""How one column becomes features and back: a code for numbers, one for truth values, one for levels.

Each code knows its ``features``, fills its block of the encoded table (``encode``) and turns such a block
back into cells of the source's type (``decode``). A cell shows as missing again where its ``(missing)``
feature is above one half, or, for levels, where it is the largest. Columns with the same gaps share one such
feature: ``missing_with`` then names the column that has it, and ``decode`` is given it after the code's own.
"""

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from msgspec import Meta

from aliquot.cohort.scaling import MAX_DECIMALS, SMALLEST, float_of
from aliquot.cohort.values import (
    LARGEST,
    infinite,
    is_numeric,
    levels_of,
    loose_spelling,
    numbers,
    truths,
    unreadable,
)
from aliquot.cohort.wording import counted
from aliquot.errors import SchemaError

RARE, MISSING = "(rare)", "(missing)"
_BOUND = 10 * LARGEST  # with room for rounding
Measured = Annotated[float, Meta(ge=-_BOUND, le=_BOUND)]
Spread = Annotated[float, Meta(ge=SMALLEST, le=_BOUND)]


@dataclass(frozen=True, kw_only=True)
class NumberCode:
    """z = (f(x) - centre) / scale with f(x) = x, or ``log_scale(x)`` where ``log``; gaps take the median."""

    name: str
    kind: Literal["numeric", "integer"]
    dtype: str  # type of the source column
    median: Measured
    centre: Measured
    scale: Spread
    log: bool
    low: Measured | None
    high: Measured | None
    clip: Annotated[float, Meta(ge=0, le=LARGEST)]  # bound on |z|; 0: none
    decimals: Annotated[int, Meta(ge=0, le=MAX_DECIMALS)]  # of the source, as far as float32 scores carry them
    missing: bool  # whether a (missing) feature follows
    missing_with: str | None = None  # column whose (missing) feature tells the gaps of this one too
    row_low: Measured | None = None  # range of the numbers in valid rows; ten or more patients lie at or beyond an end
    row_high: Measured | None = None

    def __post_init__(self) -> None:
        in_order = _in_order(self.low, self.high) and _in_order(self.row_low, self.row_high)
        if not in_order or _is_kept(self.dtype) is not True:
            raise ValueError(f"column {self.name!r} has no range or type that numbers could have")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return (self.name, f"{self.name}={MISSING}") if self.missing else (self.name,)

    @property
    def decoded_from(self) -> tuple[str, ...]:
        """Names of the encoded columns that ``decode`` takes."""
        return self.features if self.missing_with is None else (self.name, f"{self.missing_with}={MISSING}")

    def encode(self, cells: pd.Series, block: np.ndarray) -> int:
        """Fill ``block`` (n, features); returns 0, as numbers cannot be unseen."""
        values = as_stored(read_numbers(self.name, cells, self.low, self.high), self.dtype)
        gaps = np.isnan(values)
        values[gaps] = self.median
        scores = (log_scale(values) if self.log else values) - self.centre
        scores /= self.scale
        bound = self.clip or float(np.finfo(np.float32).max)
        block[:, 0] = np.clip(scores, -bound, bound)
        if self.missing:
            block[:, 1] = gaps
        return 0

    def decode(self, block: np.ndarray) -> pd.Series:
        """Numbers in the source's unit, range, decimals and type."""
        values = block[:, 0].astype(np.float64) * self.scale + self.centre
        values = undo_log_scale(values) if self.log else values
        values = np.round(within(values, self.low, self.high), self.decimals) + 0.0  # no -0.0
        return _restore_numbers(self._with_gaps(values, block), self.dtype)

    def _with_gaps(self, values: np.ndarray, block: np.ndarray) -> np.ndarray:
        return np.where(block[:, 1] > 0.5, np.nan, values) if len(self.decoded_from) > 1 else values


@dataclass(frozen=True, kw_only=True)
class TruthCode:
    """1 for yes, 0 for no; gaps take the more frequent of the two."""

    name: str
    kind: Literal["boolean"]
    dtype: str
    spelling: tuple[bool | int | str, bool | int | str]  # how the source writes no and yes
    mode: bool
    missing: bool
    missing_with: str | None = None

    def __post_init__(self) -> None:
        if _is_kept(self.dtype) is False:
            raise ValueError(f"column {self.name!r} has no type that truth values could have")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return (self.name, f"{self.name}={MISSING}") if self.missing else (self.name,)

    @property
    def decoded_from(self) -> tuple[str, ...]:
        """Names of the encoded columns that ``decode`` takes."""
        return self.features if self.missing_with is None else (self.name, f"{self.missing_with}={MISSING}")

    def encode(self, cells: pd.Series, block: np.ndarray) -> int:
        """Fill ``block`` (n, features); returns 0, as truth values cannot be unseen."""
        values = read_truths(self.name, cells)
        gaps = np.isnan(values)
        block[:, 0] = np.where(gaps, float(self.mode), values)
        if self.missing:
            block[:, 1] = gaps
        return 0

    def decode(self, block: np.ndarray) -> pd.Series:
        """Yes from one half upwards, in the source's spelling."""
        codes = (block[:, 0] >= 0.5).astype(int)
        if len(self.decoded_from) > 1:
            codes[block[:, 1] > 0.5] = 2
        words = np.array([*self.spelling, None], dtype=object)
        return restore(words[codes], self.dtype)


@dataclass(frozen=True, kw_only=True)
class LevelCode:
    """One feature per kept level, one for all rare or unseen levels, one for gaps if the source had any."""

    name: str
    kind: Literal["categorical"]
    dtype: str
    levels: tuple[str, ...]
    missing: bool

    def __post_init__(self) -> None:
        if _is_kept(self.dtype) is False or len(set(self.bins)) < len(self.bins):
            raise ValueError(f"column {self.name!r} has no type that levels could have, or a level twice")

    @property
    def bins(self) -> tuple[str, ...]:
        """Kept levels, then the rare bin, then the missing bin."""
        return (*self.levels, RARE, MISSING) if self.missing else (*self.levels, RARE)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return tuple(f"{self.name}={level}" for level in self.bins)

    @property
    def decoded_from(self) -> tuple[str, ...]:
        """Names of the encoded columns that ``decode`` takes."""
        return self.features

    def encode(self, cells: pd.Series, block: np.ndarray) -> int:
        """Fill ``block`` (n, features); returns how many cells went to the rare bin as unseen."""
        codes, levels = levels_of(cells)
        rare = len(self.levels)
        target = np.array([*self._places(levels), rare + self.missing])[codes]
        block[:] = 0.0
        block[np.arange(len(cells)), target] = 1.0
        known_rare = RARE in levels and codes == levels.index(RARE)  # an exported row comes back
        return int(np.count_nonzero((target == rare) & ~np.asarray(known_rare)))

    def _places(self, levels: list[str]) -> list[int]:
        """The feature of each level: by its text, else by its loose spelling where one kept level alone has that."""
        place = {level: column for column, level in enumerate(self.levels)}
        spellings = [loose_spelling(level) for level in self.levels]
        shared = Counter(spellings)
        loose = {text: column for column, text in enumerate(spellings) if shared[text] == 1}
        return [place.get(level, loose.get(loose_spelling(level), len(self.levels))) for level in levels]

    def decode(self, block: np.ndarray) -> pd.Series:
        """The level of the largest feature; rare ones all read ``(rare)``."""
        words = np.array([*self.levels, RARE, None], dtype=object)
        return restore(words[block.argmax(axis=1)], self.dtype, categories=[*self.levels, RARE])


Code = NumberCode | TruthCode | LevelCode


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


def _restore_numbers(values: np.ndarray, dtype: str) -> pd.Series:
    if not _is_numeric_name(dtype):
        return pd.Series(values)  # numbers written as text come back as numbers
    target = pd.api.types.pandas_dtype(dtype)
    if pd.api.types.is_integer_dtype(target):
        if isinstance(target, np.dtype) and np.isnan(values).any():
            return pd.Series(values)  # gaps have no place in it
        bounds = np.iinfo(getattr(target, "numpy_dtype", target))  # type: ignore[arg-type]
        top = float(bounds.max)
        values = np.clip(np.round(values), bounds.min, top if int(top) == bounds.max else np.nextafter(top, 0))
    return pd.Series(values).astype(target)


def _in_order(low: float | None, high: float | None) -> bool:
    return low is None or high is None or low <= high


def _is_kept(dtype: str) -> bool | None:
    """Whether cells can be kept in the type of that name; None where pandas knows no such type, and text stays text."""
    with warnings.catch_warnings(action="error"):
        try:
            return pd.api.types.pandas_dtype(dtype).kind in "biufmMOU"
        except (TypeError, ValueError, NotImplementedError):
            return None
        except Warning:  # names that NumPy is about to forget; no column tells one
            return False


def _is_numeric_name(dtype: str) -> bool:
    return is_numeric(pd.Series([], dtype=dtype))
