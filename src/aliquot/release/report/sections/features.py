"""Real and synthetic values, column by column: small multiples, and numbers outside the patients' range.

In a figure patients are filled bars, and the rows a line or dot.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from aliquot.cohort import Encoder, SeriesEncoder
from aliquot.cohort.codes import Code, NumberCode, OrdinalCode
from aliquot.cohort.series import Series
from aliquot.cohort.values import numbers
from aliquot.evaluate.distributions import ColumnValues, OutsideRange, column_distributions, outside_range
from aliquot.evaluate.evidence import Evidence
from aliquot.evaluate.metrics import row_classes
from aliquot.evaluate.record import Record
from aliquot.release.condensation import Condensation
from aliquot.release.report.facts import percent
from aliquot.release.report.section import Check, Section
from aliquot.release.report.svg import Drawing, framed

FIRST_COLUMNS = 12  # small figures that are open at once
NAMED_COLUMNS = 8  # of those with values out of range
_WIDTH, _TOP, _BAR, _LABELS = 180.0, 4.0, 74.0, 18.0  # of bars that stand
_NAMES, _LINE = 80.0, 16.0  # of bars that lie: width of the names, height of a line
_MOST_LEVELS, _LONGEST = 6, 10
_LETTER = 6.4  # width of a letter, about


@dataclass(frozen=True)
class _Result(Record):
    features: tuple[ColumnValues, ...]
    outside_range: OutsideRange | None = None


def _measure(evidence: Evidence) -> _Result:
    encoder = evidence.parts.encoder
    real, rows, codes = evidence.train, _decoded(encoder, evidence.x), _codes(encoder)
    ranged = [code for code in codes if isinstance(code, NumberCode) and not isinstance(code, OrdinalCode)]
    patients = _one_each(real.frame, real.series).iloc[evidence.first_rows(evidence.parts.train)]
    weights = _weights(evidence.targets, evidence.cohort.prevalence)
    return _Result(
        column_distributions(patients, _one_each(*rows), weights, codes),
        outside_range({code.name: _numbers_of(*rows, code.name) for code in ranged}, ranged),
    )


def _weights(targets: np.ndarray, prevalence: tuple[float, ...]) -> np.ndarray:
    """A weight for each row, so that classes weigh as much as they are frequent among patients."""
    classes = row_classes(targets)
    return np.asarray(prevalence)[classes] / np.bincount(classes)[classes]


def _codes(encoder: Encoder | SeriesEncoder) -> tuple[Code, ...]:
    return (*encoder.channels, *encoder.static.columns) if isinstance(encoder, SeriesEncoder) else encoder.columns


def _decoded(encoder: Encoder | SeriesEncoder, x: np.ndarray) -> tuple[pd.DataFrame, Series | None]:
    """The rows in the units of the source: the table of what does not change, and the series if there are any."""
    if isinstance(encoder, SeriesEncoder):
        series, frame = encoder.inverse(x)
        return frame, series
    return encoder.inverse(x), None


def _one_each(frame: pd.DataFrame, series: Series | None) -> pd.DataFrame:
    """A table with one value for each patient and column; of series, the mean over time."""
    if series is None:
        return frame
    seen = np.isfinite(series.values)
    count = seen.sum(axis=1)
    means = np.where(seen, series.values, 0.0).sum(axis=1) / np.maximum(count, 1)
    moving = pd.DataFrame(np.where(count > 0, means, np.nan), columns=list(series.channels))
    return moving if frame.columns.empty else pd.concat([moving, frame.reset_index(drop=True)], axis=1)


def _numbers_of(frame: pd.DataFrame, series: Series | None, name: str) -> np.ndarray:
    if series is not None and name in series.channels:
        return series.values[:, :, series.channels.index(name)].ravel()
    return numbers(frame[name])


def _content(result: Condensation) -> dict[str, Any]:
    found = SECTION.read(result.results)
    figures = [_figure(column, number) for number, column in enumerate(found.features)]
    outside = found.outside_range if found.outside_range and found.outside_range.of else None
    named = [] if outside is None else list(outside.columns.items())[:NAMED_COLUMNS]
    return {
        "first": figures[:FIRST_COLUMNS],
        "more": figures[FIRST_COLUMNS:],
        "outside": outside_sentence(result),
        "most": ", ".join(f"{name} ({count:,})" for name, count in named),
        "series": result.x.ndim == 3,
    }


def _figure(column: ColumnValues, number: int) -> Drawing:
    """One small figure per column; patients to the nearest ten, classes weighted as among patients."""
    seen = [0 if isinstance(n, str) else n for n in column.patients]
    patients = [n / max(sum(seen), 1) for n in seen]
    if column.edges is not None:
        body, size = _standing(column.edges, patients, column.rows)
    else:
        body, size = _lying(column.levels or (), patients, column.rows)
    said = "; ".join(
        f"{name}: {percent(one)} of patients, {percent(other)} of rows"
        for name, one, other in zip(_bins(column), patients, column.rows, strict=True)
    )
    return Drawing(
        framed(body, name=f"column-{number}", size=size, title=f"Values of {column.name}", description=said),
        column.name,
    )


def _bins(column: ColumnValues) -> Sequence[str]:
    if column.edges is None:
        return column.levels or ()
    edges = [f"{edge:g}" for edge in column.edges]
    between = [f"{low} to {high}" for low, high in pairwise(edges)]
    return [f"under {edges[0]}", *between, f"from {edges[-1]}"]


def _standing(
    edges: Sequence[float], patients: Sequence[float], rows: Sequence[float]
) -> tuple[str, tuple[float, float]]:
    """Bars side by side, the edges below; the first and the last are open."""
    step, top = _WIDTH / len(patients), max(*patients, *rows, 1e-9)
    base = _TOP + _BAR
    bars, outline = [], []
    for place, (one, other) in enumerate(zip(patients, rows, strict=True)):
        high = _BAR * one / top
        bars.append(
            f'<rect x="{place * step + 0.5:.1f}" y="{base - high:.1f}" width="{step - 1:.1f}" height="{high:.1f}"/>'
        )
        level = base - _BAR * other / top
        outline.append(f"{place * step:.1f},{level:.1f} {(place + 1) * step:.1f},{level:.1f}")
    return (
        f'<g class="patients">{"".join(bars)}</g>'
        f'<polyline class="rows" points="{" ".join(outline)}"/>'
        f'<line class="axis" x1="0" y1="{base:g}" x2="{_WIDTH:g}" y2="{base:g}"/>{_ticks(edges, step, base)}',
        (_WIDTH, base + _LABELS),
    )


def _ticks(edges: Sequence[float], step: float, base: float) -> str:
    """As many edges as there is room for, from both ends."""
    chosen = [0, len(edges) - 1, len(edges) // 2]
    texts, taken = [], []
    for place in dict.fromkeys(chosen):
        word = f"{edges[place]:g}"
        half, middle = len(word) * _LETTER / 2, (place + 1) * step
        middle = min(max(middle, half), _WIDTH - half)
        if all(abs(middle - other) > half + width + 8 for other, width in taken):
            taken.append((middle, half))
            texts.append(f'<text x="{middle:.1f}" y="{base + 13:g}" text-anchor="middle">{word}</text>')
    return "".join(texts)


def _lying(levels: Sequence[str], patients: Sequence[float], rows: Sequence[float]) -> tuple[str, tuple[float, float]]:
    """A bar per level, its name before it, the most frequent first; what is left is one line."""
    order = sorted(range(len(patients)), key=lambda place: -max(patients[place], rows[place]))
    order = [place for place in order if patients[place] or rows[place]]
    lines = [(levels[place], patients[place], rows[place]) for place in order]
    if len(lines) > _MOST_LEVELS:
        rest = lines[_MOST_LEVELS - 1 :]
        lines = [*lines[: _MOST_LEVELS - 1], ("others", sum(one[1] for one in rest), sum(one[2] for one in rest))]
    room, top = _WIDTH - _NAMES - 6, max(max(one, other) for _, one, other in lines)
    parts = []
    for place, (name, one, other) in enumerate(lines):
        middle = _TOP + _LINE * (place + 0.5)
        short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        parts.append(
            f'<text x="{_NAMES - 5:g}" y="{middle + 4:g}" text-anchor="end">{html.escape(short)}</text>'
            f'<rect class="patients" x="{_NAMES:g}" y="{middle - 5:g}" width="{room * one / top:.1f}" height="10"/>'
            f'<line class="rows" x1="{_NAMES + room * other / top:.1f}" x2="{_NAMES + room * other / top:.1f}" '
            f'y1="{middle - 7:g}" y2="{middle + 7:g}"/>'
        )
    axis = f'<line class="axis" x1="{_NAMES:g}" x2="{_NAMES:g}" y1="{_TOP:g}" y2="{_TOP + _LINE * len(lines):g}"/>'
    return "".join(parts) + axis, (_WIDTH, max(_TOP + _LINE * len(lines) + 4, _TOP + _BAR + _LABELS))


def outside_sentence(result: Condensation) -> str:
    """How many cells of the rows lie outside the patients' range; empty where that was not counted."""
    outside = SECTION.read(result.results).outside_range
    if outside is None or not outside.of:
        return ""
    if are_valid(result):
        return "0 cells lie outside the patients' range: every row is a valid record."
    share = percent(outside.values / outside.of, 1)
    return f"{outside.values:,} of {outside.of:,} numbers ({share}) lie outside the patients' range."


def are_valid(result: Condensation) -> bool:
    """Whether the rows were made as valid records, and no number of them is out of range."""
    outside, slots = SECTION.read(result.results).outside_range, result.settings.get("slots", {})
    return outside is not None and not outside.values and bool(slots.get("valid"))


def _checks(result: Condensation) -> list[Check]:
    said, valid = outside_sentence(result), are_valid(result)
    if not said:
        return []
    outside = SECTION.read(result.results).outside_range
    heed = not valid and outside is not None and outside.values > 0
    return [Check("Plausible values?", f"Yes: {said}" if valid else said, heed=heed, order=80, section="features")]


SECTION = Section(
    key="features",
    title="Real and synthetic values",
    order=70,
    result=_Result,
    measure=_measure,
    is_there=lambda results: bool(SECTION.read(results).features),
    content=_content,
    checks=_checks,
)
