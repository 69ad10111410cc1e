"""Do the rows look like the patients, column by column? Real values appear as counts in bins only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aliquot.cohort.cells import within
from aliquot.cohort.codes import RARE, Code, LevelCode, NumberCode, OrdinalCode
from aliquot.cohort.values import levels_of, numbers
from aliquot.disclosure import rounded
from aliquot.evaluate.bins import count_in, edges_of
from aliquot.evaluate.record import Record, as_tuple

MOST_COLUMNS = 48  # the ones that differ most; more would not be looked at


@dataclass(frozen=True)
class Gaps(Record):
    """Missing values of a column: patients, and the share of the rows."""

    patients: int | str
    rows: float


@dataclass(frozen=True, kw_only=True)
class ColumnValues(Record):
    """A column's values in bins or levels: patients to the nearest ten, and shares of the rows."""

    name: str
    edges: tuple[float, ...] | None = None  # of numbers; the first and the last bin are open
    levels: tuple[str, ...] | None = None  # of categories
    patients: tuple[int | str, ...]
    rows: tuple[float, ...]
    difference: float
    missing: Gaps


@dataclass(frozen=True)
class OutsideRange(Record):
    """Numbers of the rows outside the range that patients back: how many, of how many, in which columns.

    In releases of 0.1 the range is that of the smallest and the largest training value.
    """

    values: int
    of: int
    columns: Mapping[str, int]


def column_distributions(
    real: pd.DataFrame, rows: pd.DataFrame, weights: np.ndarray, codes: tuple[Code, ...]
) -> tuple[ColumnValues, ...]:
    """For each column, in how many patients and in which share of the rows its values fall; largest difference first.

    ``real`` has one row per training patient; ``weights`` of the rows sum to one, and make up for classes that are as
    frequent among the rows as they are not among patients. Patients are counted to the nearest ten.
    """
    found = [_column(code, real[code.name], rows[code.name], weights) for code in codes]
    found = [entry for entry in found if entry is not None]
    return tuple(sorted(found, key=lambda entry: -entry.difference)[:MOST_COLUMNS])


def outside_range(rows: Mapping[str, np.ndarray], codes: Sequence[NumberCode]) -> OutsideRange:
    """How many numbers of the rows lie outside the range that patients back, in all and per column.

    The range of a column is that of its encoder, ``row_low`` to ``row_high``, with ten patients or more at or beyond
    either end. Columns of older encoders, which have none, are not counted.
    """
    values = {code.name: rows[code.name].round(code.decimals) for code in codes if code.row_low is not None}
    ends = {code.name: (code.row_low, code.row_high) for code in codes}
    inside = {name: within(one, *ends[name]) for name, one in values.items()}
    found = {name: int((one < inside[name]).sum() + (one > inside[name]).sum()) for name, one in values.items()}
    return OutsideRange(
        values=sum(found.values()),
        of=int(sum(np.isfinite(one).sum() for one in values.values())),
        columns={name: count for name, count in sorted(found.items(), key=lambda item: -item[1]) if count},
    )


def _column(code: Code, real: pd.Series, rows: pd.Series, weights: np.ndarray) -> ColumnValues | None:
    if isinstance(code, NumberCode) and not isinstance(code, OrdinalCode):
        cells, ours = numbers(real), numbers(rows)
        edges = edges_of(cells, whole=code.kind == "integer", log=code.log)
        if not len(edges):
            return None
        there, here = np.isfinite(cells), np.isfinite(ours)
        places = count_in(cells[there], edges), count_in(ours[here], edges)
        return _entry(code.name, {"edges": tuple(edges.tolist())}, there, here, places, weights)
    levels = _levels(code, real)
    cells, ours = _places(code, real, levels), _places(code, rows, levels)
    there, here = cells >= 0, ours >= 0
    return _entry(code.name, {"levels": tuple(levels)}, there, here, (cells[there], ours[here]), weights)


def _entry(name: str, bins: dict[str, Any], there, here, places, weights) -> ColumnValues:
    count = len(bins["edges"]) + 1 if "edges" in bins else len(bins["levels"])
    patients = np.bincount(places[0], minlength=count)
    shares = np.bincount(places[1], weights[here], minlength=count)
    shares = shares / max(shares.sum(), 1e-12)
    shown = tuple(rounded(patients))
    visible = np.array([0 if isinstance(n, str) else n for n in shown]) / max(patients.sum(), 1)
    return ColumnValues(
        name=name,
        **bins,
        patients=shown,
        rows=as_tuple(shares),
        difference=round(float(np.abs(visible - shares).sum() / 2), 2),
        missing=Gaps(rounded([int((~there).sum())])[0], round(float(weights[~here].sum()), 2)),
    )


def _levels(code: Code, real: pd.Series) -> list[str]:
    """The levels of a column that may be named: those that the encoder names."""
    if isinstance(code, LevelCode):
        return [*code.named, RARE]
    if isinstance(code, OrdinalCode):
        return [*code.levels]
    return sorted(levels_of(real)[1])


def _places(code: Code, cells: pd.Series, levels: list[str]) -> np.ndarray:
    """The place of each cell's level, that of ``(rare)`` where it is not listed, -1 where it is missing."""
    codes, found = levels_of(cells)
    if isinstance(code, LevelCode):
        return np.append(code.places(found), -1).astype(int)[codes]
    place = {level: number for number, level in enumerate(levels)}
    return np.append([place.get(level, len(levels) - 1) for level in found], -1).astype(int)[codes]
