"""What may be said of every column of a table without telling anything of one patient."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from aliquot.cohort.checks import MIXED, column_problem, left_out
from aliquot.cohort.code_lists import scheme_of
from aliquot.cohort.declared import as_declared
from aliquot.cohort.kinds import NUMBER_KINDS
from aliquot.cohort.proposals import gap_marks, unit_factor
from aliquot.cohort.scaling import Range, centre_and_scale, on_decimals, row_range, written_decimals
from aliquot.cohort.schema import Column, Schema
from aliquot.cohort.values import levels_of, numbers, signs
from aliquot.disclosure import FEW, SUPPORT, patients_in, patients_per

SHOWN_LEVELS = 6  # most frequent first
_SCHEMES = {
    "icd9": "ICD-9 codes; rare ones count as their prefix or chapter",
    "icd10": "ICD-10 codes; rare ones count as their prefix or chapter",
    "prefix": "codes; rare ones count as their prefix",
}
Verdict = Literal["feature", "left out", "decide"]


@dataclass(frozen=True)
class ColumnProfile:
    """One column: kind, gaps and content as far as ten patients stand behind them, and what becomes of it."""

    name: str
    kind: str
    missing: float  # share of the rows to a per cent; of fewer than ten rows, that of ten
    content: str  # a range or levels; empty where nothing may be said
    verdict: Verdict
    why: str  # one clause; empty for a plain feature
    gaps: str  # ``missing`` in words: "none", "<10 rows", "12 %"


def profile(frame: pd.DataFrame, schema: Schema, patients: np.ndarray | None = None) -> tuple[ColumnProfile, ...]:
    """The profile of each column that ``schema`` names, in its order.

    ``patients`` has a code for the patient of each row; None: every row is a patient.

    >>> from aliquot.cohort import infer_schema
    >>> frame = pd.DataFrame({"age": range(20, 80), "ward": ["icu", "ward", None] * 20, "visit_id": range(60)})
    >>> for one in profile(frame, infer_schema(frame)):
    ...     print(one.name, one.gaps, one.content, one.verdict)
    age none 30 to 70 feature
    ward 33 % icu, ward feature
    visit_id none  left out
    """
    table, settled = as_declared(frame, schema)
    return tuple(_profile(column, table[column.name], patients) for column in settled)


def _profile(column: Column, cells: pd.Series, patients: np.ndarray | None) -> ColumnProfile:
    verdict, why = _verdict(column, cells, patients)
    share, gaps = _missing(cells.isna().to_numpy(), patients)
    usable = left_out(column, cells) is None and column_problem(column, cells) is None
    content = _content(column, cells, patients) if usable else ""
    return ColumnProfile(column.name, column.kind, share, content, verdict, why, gaps)


def _verdict(column: Column, cells: pd.Series, patients: np.ndarray | None) -> tuple[Verdict, str]:
    problem = column_problem(column, cells)
    if problem is not None:
        return "decide", problem
    why = left_out(column, cells)
    if why is not None:
        return "decide" if why == MIXED else "left out", why
    proposal = _proposal(column, cells, patients)
    return ("decide", proposal) if proposal else ("feature", _how(column, cells))


def _proposal(column: Column, cells: pd.Series, patients: np.ndarray | None) -> str | None:
    """What to ask about the numbers of a column; they are features until somebody answers."""
    if column.kind not in NUMBER_KINDS:
        return None
    values = numbers(cells)
    marks = gap_marks(values, patients)
    if marks:
        named = ", ".join(f"{mark:g}" for mark in marks)
        return f"a mark of gaps? then: missing = [{named}]"
    factor = None if column.log else unit_factor(values, patients)
    return None if factor is None else f"two units? a group of values is about {factor:g} times the others"


def _how(column: Column, cells: pd.Series) -> str:
    """What is special in how a feature is encoded."""
    if column.kind in NUMBER_KINDS and np.any(signs(cells) != ""):
        return "cells like <5 are their number, with a flag"
    if column.kind == "code":
        codes, levels = levels_of(cells)
        return _SCHEMES[column.scheme or scheme_of(levels, np.bincount(codes[codes >= 0], minlength=len(levels)))]
    return f"days since {column.days_from!r}" if column.days_from is not None else ""


def _missing(gaps: np.ndarray, patients: np.ndarray | None) -> tuple[float, str]:
    if not gaps.any():
        return 0.0, "none"
    if gaps.all():
        return 1.0, "100 %"
    if patients_in(gaps, patients) < SUPPORT:
        return round(min(1.0, SUPPORT / len(gaps)), 2), f"{FEW} rows"
    if patients_in(~gaps, patients) < SUPPORT:
        return round(max(0.0, 1 - SUPPORT / len(gaps)), 2), f"all but {FEW} rows"
    return round(float(gaps.mean()), 2), f"{gaps.mean():.0%}".replace("%", " %") if gaps.mean() >= 0.005 else "<1 %"


def _content(column: Column, cells: pd.Series, patients: np.ndarray | None) -> str:
    is_number = column.kind in (*NUMBER_KINDS, "date")
    return _range(cells, patients) if is_number else _levels(cells, patients)


def _range(cells: pd.Series, patients: np.ndarray | None) -> str:
    """The range with ten patients at or beyond either end; empty where there are not enough."""
    values = numbers(cells)
    there = np.isfinite(values)
    values, whose = values[there], None if patients is None else patients[there]
    if not values.size:
        return ""
    median = float(np.median(values))
    ends = row_range(values, whose, median, centre_and_scale(values, "robust", whose)[1])
    low, high = on_decimals(ends, written_decimals(values, cells.dtype, whose), median)
    backed = all(patients_in(beyond, whose) >= SUPPORT for beyond in (values <= low, values >= high))
    return _words(Range(low + 0.0, high + 0.0)) if backed else ""  # no -0


def _words(ends: Range) -> str:
    return f"{ends.low:.6g}" if ends.low == ends.high else f"{ends.low:.6g} to {ends.high:.6g}"


def _levels(cells: pd.Series, patients: np.ndarray | None) -> str:
    """Levels of ten patients or more, the most frequent first, and how many others there are."""
    codes, levels = levels_of(cells)
    backing = patients_per(codes, patients)
    kept = sorted((-count, level) for count, level in zip(backing, levels, strict=True) if count >= SUPPORT)
    named, rarer = [level for _, level in kept[:SHOWN_LEVELS]], len(levels) - len(kept)
    more = f"{len(kept) - len(named)} more" if len(kept) > len(named) else ""
    rest = " and ".join(filter(None, (more, f"{rarer} rarer" if rarer else "")))
    return " and ".join(filter(None, (", ".join(named), rest)))
