"""Small multiples: each column's values among patients, as filled bars, and among the rows, as a line or dot."""

import html
from itertools import pairwise
from typing import Any

from aliquot.release.report.facts import percent
from aliquot.release.report.svg import Drawing, framed

WIDTH, TOP, BAR, LABELS = 180.0, 4.0, 74.0, 18.0  # of bars that stand
NAMES, LINE = 80.0, 16.0  # of bars that lie: width of the names, height of a line
MOST_LEVELS, MOST_LETTERS = 6, 10
LETTER = 6.4  # width of a letter, about


def column_figures(metrics: dict[str, Any]) -> list[Drawing]:
    """One small figure per column; patients to the nearest ten, classes weighted as among patients."""
    return [_figure(entry, number) for number, entry in enumerate(metrics.get("features") or [])]


def _figure(entry: dict[str, Any], number: int) -> Drawing:
    seen = [0 if isinstance(n, str) else n for n in entry["patients"]]
    patients = [n / max(sum(seen), 1) for n in seen]
    named = _bins(entry)
    draw = _standing if "edges" in entry else _lying
    body, size = draw(entry, patients, entry["rows"])
    said = "; ".join(
        f"{name}: {percent(one)} of patients, {percent(other)} of rows"
        for name, one, other in zip(named, patients, entry["rows"], strict=True)
    )
    return Drawing(
        framed(body, name=f"column-{number}", size=size, title=f"Values of {entry['name']}", description=said),
        entry["name"],
    )


def _bins(entry: dict[str, Any]) -> list[str]:
    if "levels" in entry:
        return entry["levels"]
    edges = [f"{edge:g}" for edge in entry["edges"]]
    between = [f"{low} to {high}" for low, high in pairwise(edges)]
    return [f"under {edges[0]}", *between, f"from {edges[-1]}"]


def _standing(entry: dict[str, Any], patients: list[float], rows: list[float]) -> tuple[str, tuple[float, float]]:
    """Bars side by side, the edges below; the first and the last are open."""
    step, top = WIDTH / len(patients), max(*patients, *rows, 1e-9)
    base = TOP + BAR
    bars, outline = [], []
    for place, (one, other) in enumerate(zip(patients, rows, strict=True)):
        high = BAR * one / top
        bars.append(
            f'<rect x="{place * step + 0.5:.1f}" y="{base - high:.1f}" width="{step - 1:.1f}" height="{high:.1f}"/>'
        )
        level = base - BAR * other / top
        outline.append(f"{place * step:.1f},{level:.1f} {(place + 1) * step:.1f},{level:.1f}")
    return (
        f'<g class="patients">{"".join(bars)}</g>'
        f'<polyline class="rows" points="{" ".join(outline)}"/>'
        f'<line class="axis" x1="0" y1="{base:g}" x2="{WIDTH:g}" y2="{base:g}"/>{_ticks(entry["edges"], step, base)}',
        (WIDTH, base + LABELS),
    )


def _ticks(edges: list[float], step: float, base: float) -> str:
    """As many edges as there is room for, from both ends."""
    chosen = [0, len(edges) - 1, len(edges) // 2]
    texts, taken = [], []
    for place in dict.fromkeys(chosen):
        word = f"{edges[place]:g}"
        half, middle = len(word) * LETTER / 2, (place + 1) * step
        middle = min(max(middle, half), WIDTH - half)
        if all(abs(middle - other) > half + width + 8 for other, width in taken):
            taken.append((middle, half))
            texts.append(f'<text x="{middle:.1f}" y="{base + 13:g}" text-anchor="middle">{word}</text>')
    return "".join(texts)


def _lying(entry: dict[str, Any], patients: list[float], rows: list[float]) -> tuple[str, tuple[float, float]]:
    """A bar per level, its name before it, the most frequent first; what is left is one line."""
    order = sorted(range(len(patients)), key=lambda place: -max(patients[place], rows[place]))
    order = [place for place in order if patients[place] or rows[place]]
    lines = [(entry["levels"][place], patients[place], rows[place]) for place in order]
    if len(lines) > MOST_LEVELS:
        rest = lines[MOST_LEVELS - 1 :]
        lines = [*lines[: MOST_LEVELS - 1], ("others", sum(one[1] for one in rest), sum(one[2] for one in rest))]
    room, top = WIDTH - NAMES - 6, max(max(one, other) for _, one, other in lines)
    parts = []
    for place, (name, one, other) in enumerate(lines):
        middle = TOP + LINE * (place + 0.5)
        short = name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"
        parts.append(
            f'<text x="{NAMES - 5:g}" y="{middle + 4:g}" text-anchor="end">{html.escape(short)}</text>'
            f'<rect class="patients" x="{NAMES:g}" y="{middle - 5:g}" width="{room * one / top:.1f}" height="10"/>'
            f'<line class="rows" x1="{NAMES + room * other / top:.1f}" x2="{NAMES + room * other / top:.1f}" '
            f'y1="{middle - 7:g}" y2="{middle + 7:g}"/>'
        )
    axis = f'<line class="axis" x1="{NAMES:g}" x2="{NAMES:g}" y1="{TOP:g}" y2="{TOP + LINE * len(lines):g}"/>'
    return "".join(parts) + axis, (WIDTH, max(TOP + LINE * len(lines) + 4, TOP + BAR + LABELS))
