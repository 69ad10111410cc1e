"""What an encoder learns from the training rows of one column."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
import pandas as pd

from aliquot.cohort.cells import log_scale, read_numbers, read_truths
from aliquot.cohort.codes import (
    ABOVE_SIGNS,
    BELOW_SIGNS,
    MISSING,
    RARE,
    Code,
    LevelCode,
    NumberCode,
    OrdinalCode,
    TruthCode,
    ranks,
)
from aliquot.cohort.fitting_lists import fit_list
from aliquot.cohort.scaling import centre_and_scale, on_decimals, resolved_decimals, row_range, written_decimals
from aliquot.cohort.schema import Column
from aliquot.cohort.values import YES_NO_PAIRS, is_numeric, levels_of, signs
from aliquot.disclosure import SUPPORT, coarse, patients_in, patients_per
from aliquot.errors import SettingsError

LOG_CHOICES = ("schema", "auto", "never")
LOG_SKEWNESS = 2.0  # beyond this, "auto" takes the logarithm
SCALES = ("std", "robust")


@dataclass(frozen=True, kw_only=True)
class EncoderSettings:
    """How columns are encoded."""

    rare_below: int = SUPPORT  # levels of fewer training patients share the rare bin, their names are not stored;
    # and gaps of fewer patients get no (missing) feature, which would point at them
    log: Literal["schema", "auto", "never"] = (
        "schema"  # "schema": where the schema says so; "auto": also where skewed; "never"
    )
    scale: Literal["std", "robust"] = "std"  # mean and deviation of all numbers, or of the winsorised ones
    code_levels: int = 30  # most frequent codes of a list with a feature of their own, and as many shared prefixes
    clip: float = 0.0  # standardised numbers are clipped at ± clip; 0: not at all

    def __post_init__(self) -> None:
        if self.log not in LOG_CHOICES:
            raise SettingsError(f"the encoder setting log must be one of {', '.join(LOG_CHOICES)}; change it")
        if self.scale not in SCALES:
            raise SettingsError(f"the encoder setting scale must be one of {', '.join(SCALES)}; change it")
        if self.rare_below < 1 or self.code_levels < 1 or not self.clip >= 0:
            raise SettingsError(
                "the encoder settings need rare_below and code_levels of 1 or more and clip of 0 or more; change them"
            )


def fit_code(column: Column, cells: pd.Series, settings: EncoderSettings, patients: np.ndarray | None = None) -> Code:
    """The code of one column; ``patients`` has a code for the patient of each cell, None: all are different.

    >>> cells = pd.Series(["f"] * 12 + ["m"] * 15 + ["x"] * 2)
    >>> fit_code(Column(name="sex", kind="categorical"), cells, EncoderSettings()).levels
    ('f', 'm')
    """
    return replace(_fit(column, cells, settings, patients), gap_values=column.gap_values or None)


def _fit(column: Column, cells: pd.Series, settings: EncoderSettings, patients: np.ndarray | None) -> Code:
    if column.kind == "categorical":
        return _fit_levels(column, cells, settings.rare_below, patients)
    if column.kind == "code":
        return fit_list(column, cells, patients, fewest=settings.rare_below, most=settings.code_levels)
    if column.kind == "boolean":
        return _fit_truths(column, cells, settings.rare_below, patients)
    if column.kind == "ordinal":
        return _fit_order(column, cells, settings, patients)
    return _fit_numbers(column, cells, settings, patients)


def share_gaps(codes: Iterable[Code], frame: pd.DataFrame) -> tuple[Code, ...]:
    """The codes, where columns missing in exactly the same rows share the ``(missing)`` feature of the first.

    Levels keep their own, which is one of the bins that sum to one. On new rows the shared feature tells the gaps
    of its own column.

    >>> frame = pd.DataFrame({"ph_min": [7.1, 7.3, None] * 10, "ph_max": [7.4, 7.3, None] * 10})
    >>> columns = [Column(name=name, kind="numeric") for name in frame]
    >>> codes = [fit_code(column, frame[column.name], EncoderSettings()) for column in columns]
    >>> [code.features for code in share_gaps(codes, frame)]
    [('ph_min', 'ph_min=(missing)'), ('ph_max',)]
    """
    first: dict[bytes, str] = {}  # by gaps
    shared = list(codes)
    for place, code in enumerate(shared):
        if code.missing:
            owner = first.setdefault(frame[code.name].isna().to_numpy().tobytes(), code.name)
            if owner != code.name and not isinstance(code, LevelCode):
                shared[place] = replace(code, missing=False, missing_with=owner)
    return tuple(shared)


def _fit_levels(column: Column, cells: pd.Series, rare_below: int, patients: np.ndarray | None) -> LevelCode:
    codes, levels = levels_of(cells)
    counts = patients_per(codes, patients, len(levels))
    kept = [level for level, count in zip(levels, counts, strict=True) if count >= rare_below]
    return LevelCode(
        name=column.name,
        kind="categorical",
        dtype=str(cells.dtype),
        levels=tuple(sorted(set(kept) - {RARE, MISSING})),
        missing=patients_in(codes < 0, patients) >= rare_below,
    )


def _fit_truths(column: Column, cells: pd.Series, rare_below: int, patients: np.ndarray | None) -> TruthCode:
    values = read_truths(column.name, cells)
    present = values[~np.isnan(values)]
    return TruthCode(
        name=column.name,
        kind="boolean",
        dtype=str(cells.dtype),
        spelling=_spelling(cells),
        mode=bool(present.mean() > 0.5) if present.size else False,
        missing=patients_in(np.isnan(values), patients) >= rare_below,
    )


def _spelling(cells: pd.Series) -> tuple[bool | int | str, bool | int | str]:
    present = cells.dropna()
    if pd.api.types.is_bool_dtype(present.infer_objects().dtype):
        return False, True
    if is_numeric(present.infer_objects()):
        return 0, 1
    by_word = {level.strip().lower(): level for level in levels_of(present)[1]}
    no, yes = next((pair for pair in YES_NO_PAIRS if by_word.keys() & set(pair)), YES_NO_PAIRS[0])
    return by_word.get(no, no), by_word.get(yes, yes)


def _fit_numbers(
    column: Column, cells: pd.Series, settings: EncoderSettings, patients: np.ndarray | None
) -> NumberCode:
    values = read_numbers(column.name, cells, column.low, column.high)
    gaps = np.isnan(values)
    present = values[~gaps]
    log = settings.log != "never" and (column.log or (settings.log == "auto" and _is_skewed(present)))
    whose = None if patients is None else patients[~gaps]
    median = float(np.median(present)) if present.size else 0.0
    filled = np.where(gaps, median, values)
    scored, middle = (log_scale(filled), float(log_scale(np.array(median)))) if log else (filled, median)
    centre, scale = centre_and_scale(scored, settings.scale, patients, middle)
    median = coarse(median, scale * (1 + abs(median)) if log else scale, patients_in(~gaps, patients))
    ends = row_range(present, whose, median, scale, log=log)
    scores = ((log_scale(np.array(ends)) if log else np.array(ends)) - centre) / scale
    slopes = scale * (1 + np.abs(ends) if log else np.ones(2))
    resolved = resolved_decimals(np.array(ends), scores, slopes, cells.dtype)
    decimals = 0 if column.kind == "integer" else min(written_decimals(present, cells.dtype, whose), resolved)
    ends = on_decimals(ends, decimals, median)
    return NumberCode(
        name=column.name,
        kind="integer" if column.kind == "integer" else "numeric",
        dtype=str(cells.dtype),
        median=median,
        centre=centre,
        scale=scale,
        log=log,
        low=None if column.low is None else float(column.low),
        high=None if column.high is None else float(column.high),
        clip=float(settings.clip),
        decimals=decimals,
        missing=patients_in(gaps, patients) >= settings.rare_below,
        row_low=ends.low,
        row_high=ends.high,
        below=_bound(BELOW_SIGNS, signs(cells), values, ends.low, patients, settings.rare_below),
        above=_bound(ABOVE_SIGNS, signs(cells), values, ends.high, patients, settings.rare_below),
        days_from=column.days_from,
        day_first=column.day_first,
    )


def _bound(
    known: tuple[str, ...],
    found: np.ndarray,
    values: np.ndarray,
    end: float,
    patients: np.ndarray | None,
    fewest: int,
) -> tuple[str, float] | None:
    """The most frequent sign of those known and the bound that rows show with it; None where few patients have one.

    That is the bound that most patients have if there are ten, within the range of rows, else its end.
    """
    told = np.isin(found, known)
    if patients_in(told, patients) < fewest:
        return None
    sign = max(known, key=lambda one: int((found == one).sum()))
    codes, bounds = pd.factorize(np.where(told, values, np.nan))
    counts = patients_per(codes, patients)
    bound = float(bounds[counts.argmax()]) if counts.max() >= fewest else end
    return sign, max(bound, end) if known is BELOW_SIGNS else min(bound, end)


def _fit_order(column: Column, cells: pd.Series, settings: EncoderSettings, patients: np.ndarray | None) -> OrdinalCode:
    places = replace(column, kind="integer", levels=())
    known = _fit_numbers(places, ranks(column.name, cells, column.levels), replace(settings, log="never"), patients)
    values = {field.name: getattr(known, field.name) for field in fields(known)}
    highest = len(column.levels) - 1.0
    return OrdinalCode(
        **(values | {"kind": "ordinal", "dtype": str(cells.dtype), "low": 0.0, "high": highest}), levels=column.levels
    )


def _is_skewed(present: np.ndarray) -> bool:
    """Whether no value is negative and the third standardised moment exceeds ``LOG_SKEWNESS``."""
    spread = present.std() if present.size else 0.0
    if spread == 0 or present.min() < 0:
        return False
    return bool((((present - present.mean()) / spread) ** 3).mean() > LOG_SKEWNESS)
