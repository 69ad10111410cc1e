"""How one column becomes features and back: a code for numbers, one for ranks, truth values, levels and code lists.

Each code knows its ``features``, fills its block of the encoded table (``encode``) and turns such a block
back into cells of the source's type (``decode``). A cell shows as missing again where its ``(missing)``
feature is above one half, or, for levels, where it is the largest. Columns with the same gaps share one such
feature: ``missing_with`` then names the column that has it, and ``decode`` is given it after the code's own.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd
from msgspec import Meta

from aliquot.cohort.cells import (
    as_stored,
    is_kept,
    log_scale,
    read_numbers,
    read_truths,
    restore,
    restore_numbers,
    undo_log_scale,
    within,
)
from aliquot.cohort.code_lists import chapter_of, key_of
from aliquot.cohort.scaling import MAX_DECIMALS, SMALLEST
from aliquot.cohort.values import LARGEST, levels_of, loose_spelling, signs, spelt
from aliquot.cohort.wording import counted
from aliquot.errors import SchemaError

RARE, MISSING, BELOW, ABOVE = "(rare)", "(missing)", "(below)", "(above)"
_BOUND = 10 * LARGEST  # with room for rounding
Measured = Annotated[float, Meta(ge=-_BOUND, le=_BOUND)]
Spread = Annotated[float, Meta(ge=SMALLEST, le=_BOUND)]
BELOW_SIGNS, ABOVE_SIGNS = ("<", "<=", "≤"), (">", ">=", "≥")


@dataclass(frozen=True, kw_only=True)
class NumberCode:
    """z = (f(x) - centre) / scale with f(x) = x, or ``log_scale(x)`` where ``log``; gaps take the median."""

    name: str
    kind: str  # numeric or integer
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
    below: tuple[str, float] | None = None  # sign and bound of cells like <0.2, which have a flag of their own
    above: tuple[str, float] | None = None  # the same of cells like >90
    days_from: str | None = None  # column of the dates from which the days of this one are counted
    day_first: bool | None = None  # of dates like 31/01/2024
    gap_values: tuple[float | str, ...] | None = None  # cells that mean missing

    def __post_init__(self) -> None:
        in_order = _in_order(self.low, self.high) and _in_order(self.row_low, self.row_high)
        if not in_order or is_kept(self.dtype) is not True:
            raise ValueError(f"column {self.name!r} has no range or type that numbers could have")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return (self.name, *([f"{self.name}={MISSING}"] if self.missing else []), *self.flags)

    @property
    def flags(self) -> tuple[str, ...]:
        """Names of the features that tell whether the number is a bound."""
        found = ((BELOW, self.below), (ABOVE, self.above))
        return tuple(f"{self.name}={text}" for text, bound in found if bound is not None)

    @property
    def gap(self) -> str | None:
        """Name of the feature that tells the gaps."""
        return f"{self.name if self.missing else self.missing_with}={MISSING}" if self._has_gap else None

    @property
    def decoded_from(self) -> tuple[str, ...]:
        """Names of the encoded columns that ``decode`` takes."""
        return (self.name, *([] if self.gap is None else [self.gap]), *self.flags)

    def encode(self, cells: pd.Series, block: np.ndarray) -> int:
        """Fill ``block`` (n, features); returns 0, as numbers cannot be unseen."""
        values = as_stored(read_numbers(self.name, cells, self.low, self.high), self.number_type)
        block[:, 0] = self.scores(values)
        if self.missing:
            block[:, 1] = np.isnan(values)
        if self.flags:
            block[:, -len(self.flags) :] = self._flagged(signs(cells))
        return 0

    def scores(self, values: np.ndarray) -> np.ndarray:
        """The feature of each number; gaps take the median."""
        values = np.where(np.isnan(values), self.median, values)
        scores = (log_scale(values) if self.log else values) - self.centre
        bound = self.clip or float(np.finfo(np.float32).max)
        return np.clip(scores / self.scale, -bound, bound)

    def decode(self, block: np.ndarray) -> pd.Series:
        """Numbers in the source's unit, range, decimals and type; bounds with their sign."""
        values = self.values(block)
        cells = restore_numbers(values, self.dtype)
        flagged = [(place, sign) for place, (sign, _) in enumerate(filter(None, (self.below, self.above)))]
        for place, sign in reversed(flagged):  # the first one counts
            those = (block[:, place - len(flagged)] > 0.5) & ~np.isnan(values)
            if those.any():
                told = pd.Series([sign + spelt(float(value)) for value in values], dtype=object)
                cells = cells.astype(object).mask(those, told)
        return cells

    def values(self, block: np.ndarray) -> np.ndarray:
        """Numbers in the source's unit, range and decimals, NaN in gaps."""
        values = block[:, 0].astype(np.float64) * self.scale + self.centre
        values = undo_log_scale(values) if self.log else values
        values = np.round(within(values, self.low, self.high), self.decimals) + 0.0  # no -0.0
        return values if self.gap is None else np.where(block[:, 1] > 0.5, np.nan, values)

    @property
    def number_type(self) -> str:
        """Type in which the numbers are stored."""
        return self.dtype

    @property
    def _has_gap(self) -> bool:
        return self.missing or self.missing_with is not None

    def _flagged(self, found: np.ndarray) -> np.ndarray:
        known = [signs for signs, bound in ((BELOW_SIGNS, self.below), (ABOVE_SIGNS, self.above)) if bound]
        return np.stack([np.isin(found, signs) for signs in known], axis=1)


@dataclass(frozen=True, kw_only=True)
class OrdinalCode(NumberCode):
    """The place of a level in the declared order, 0, 1, 2, …, as a number."""

    levels: tuple[str, ...]

    @property
    def number_type(self) -> str:
        """Type in which the places are stored."""
        return "float64"

    def encode(self, cells: pd.Series, block: np.ndarray) -> int:
        """Fill ``block`` (n, features); a SchemaError where a level is none of the declared ones."""
        return super().encode(ranks(self.name, cells, self.levels), block)

    def decode(self, block: np.ndarray) -> pd.Series:
        """The level whose place is nearest."""
        places = self.values(block)
        words = np.array([*self.levels, None], dtype=object)
        found = words[np.where(np.isnan(places), len(self.levels), places).astype(int)]
        return restore(found, self.dtype, categories=[*self.levels])


@dataclass(frozen=True, kw_only=True)
class TruthCode:
    """1 for yes, 0 for no; gaps take the more frequent of the two."""

    name: str
    kind: str  # boolean
    dtype: str
    spelling: tuple[bool | int | str, bool | int | str]  # how the source writes no and yes
    mode: bool
    missing: bool
    missing_with: str | None = None
    gap_values: tuple[float | str, ...] | None = None  # cells that mean missing

    def __post_init__(self) -> None:
        if is_kept(self.dtype) is False:
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
    kind: str  # categorical
    dtype: str
    levels: tuple[str, ...]
    missing: bool
    gap_values: tuple[float | str, ...] | None = None  # cells that mean missing

    def __post_init__(self) -> None:
        if is_kept(self.dtype) is False or len(set(self.bins)) < len(self.bins):
            raise ValueError(f"column {self.name!r} has no type that levels could have, or a level twice")

    @property
    def named(self) -> tuple[str, ...]:
        """What a row may show: the kept levels."""
        return self.levels

    @property
    def bins(self) -> tuple[str, ...]:
        """What has a name, then the rare bin, then the missing bin."""
        return (*self.named, RARE, MISSING) if self.missing else (*self.named, RARE)

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
        rare = len(self.named)
        target = np.array([*self.places(levels), rare + self.missing])[codes]
        block[:] = 0.0
        block[np.arange(len(cells)), target] = 1.0
        known_rare = RARE in levels and codes == levels.index(RARE)  # an exported row comes back
        return int(np.count_nonzero((target == rare) & ~np.asarray(known_rare)))

    def places(self, levels: list[str]) -> list[int]:
        """The bin of each level: by its text, else by its loose spelling where one kept level alone has that."""
        place = {level: column for column, level in enumerate(self.named)}
        spellings = [loose_spelling(level) for level in self.named]
        shared = Counter(spellings)
        loose = {text: column for column, text in enumerate(spellings) if shared[text] == 1}
        return [place.get(level, loose.get(loose_spelling(level), len(self.named))) for level in levels]

    def decode(self, block: np.ndarray) -> pd.Series:
        """The level of the largest feature; rare ones all read ``(rare)``."""
        words = np.array([*self.named, RARE, None], dtype=object)
        return restore(words[block.argmax(axis=1)], self.dtype, categories=[*self.named, RARE])


@dataclass(frozen=True, kw_only=True)
class ListCode(LevelCode):
    """Levels of a code list: one that is not kept counts as the longest of its prefixes that is, or as its chapter.

    A prefix is written as ``I21.-``, a chapter as ``I00-I99``; both are read back.
    """

    parents: tuple[tuple[str, str], ...]  # prefix of the codes without dots, and how it is written
    chapters: tuple[tuple[str, str, str], ...]  # how it is written, and between which three signs its codes begin
    padded: bool  # whether numbers have three digits before the dot, as in ICD-9

    @property
    def named(self) -> tuple[str, ...]:
        """What a row may show: kept levels, prefixes, chapters."""
        return (*self.levels, *(text for _, text in self.parents), *(text for text, _, _ in self.chapters))

    def places(self, levels: list[str]) -> list[int]:
        """The bin of each level: its own, else that of its longest prefix, else that of its chapter, else the rare."""
        rare, own = len(self.named), super().places(levels)
        return [self._group(level) if place == rare else place for level, place in zip(levels, own, strict=True)]

    def _group(self, level: str) -> int:
        key = key_of(level, padded=self.padded)
        prefixes = [(len(prefix), text) for prefix, text in self.parents if key.startswith(prefix)]
        group = max(prefixes)[1] if prefixes else chapter_of(key, self.chapters)
        return len(self.named) if group is None else self.named.index(group)


Code = NumberCode | TruthCode | LevelCode


def _in_order(low: float | None, high: float | None) -> bool:
    return low is None or high is None or low <= high


def ranks(name: str, cells: pd.Series, levels: tuple[str, ...]) -> pd.Series:
    """The place of each cell's level in the declared order; a SchemaError where one is not among them.

    >>> ranks("pain", pd.Series(["severe", None, "mild"]), ("mild", "severe")).tolist()
    [1.0, nan, 0.0]
    """
    codes, found = levels_of(cells)
    place = {loose_spelling(level): float(number) for number, level in enumerate(levels)}
    places = np.array([*(place.get(loose_spelling(level.strip()), np.inf) for level in found), np.nan])[codes]
    undeclared = int(np.isinf(places).sum())
    if undeclared:
        raise SchemaError(
            f"column {name!r} has {counted(undeclared, 'cell')} with a level that its order in the schema does not "
            "name; add the level there, or clean the cells"
        )
    return pd.Series(places, name=name)
