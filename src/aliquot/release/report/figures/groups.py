"""Scores in groups of patients: the rows beside all patients."""

from typing import Any

from aliquot.release.report.facts import count
from aliquot.release.report.figures.scores import COLOURS, MARKS
from aliquot.release.report.svg import INK, Drawing, canvas, drawing, styled

PAIR = {"full_best_epoch": "all patients", "aliquot": "these rows"}
MOST_LETTERS = 22


def subgroups(metrics: dict[str, Any], column: str, number: int, metric: str = "auprc") -> Drawing | None:
    """One line per group of a column: networks trained on these rows and on all patients."""
    groups = [group for group in metrics["subgroups"][column] if "aliquot" in group]
    if len(groups) < 2:
        return None
    with styled():
        figure, axes = canvas(height=0.95 + 0.3 * len(groups))
        for place, group in enumerate(groups):
            means = [group[key][metric]["mean"] for key in PAIR]
            axes.plot(means, [place, place], color=INK, alpha=0.25, linewidth=1.5, zorder=1)
            for key, name in PAIR.items():
                mean, std = group[key][metric]["mean"], group[key][metric]["std"]
                axes.plot([mean - std, mean + std], [place, place], color=COLOURS[key], linewidth=3, alpha=0.5)
                named = name if place == 0 else None
                axes.plot(mean, place, MARKS[key], color=COLOURS[key], markersize=7, label=named)
        axes.set_yticks(range(len(groups)), [f"{_short(g['name'])} ({count(g['patients'])})" for g in groups])
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=5)
        axes.set_xlabel(metric.upper())
        figure.legend(loc="outside upper left", ncols=2, columnspacing=1.2, handletextpad=0.2, borderaxespad=0)
        return drawing(
            figure,
            name=f"groups-{number}-{metric}",
            title=f"{metric.upper()} by {column}",
            description="; ".join(
                f"{group['name']}: "
                + ", ".join(f"{name} {group[key][metric]['mean']:.3f}" for key, name in PAIR.items())
                for group in groups
            ),
            caption=f"{metric.upper()} by {column}",
        )


def _short(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"
