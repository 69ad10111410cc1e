"""Pictures of the studies, for PNG and SVG; numbers behind each are in the study's CSV."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aliquot.release.report.svg import Colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aliquot.grid.geometry import PathsResult
    from aliquot.paper.statistics import Ranks

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "aliquot",  # the same ids in every run
    "font.family": "DejaVu Sans",
    "font.size": 9,
    **dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), Colour.INK.value
    ),
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
PICTURE_WORDS = {  # of every picture: what it is, and what one sees
    "auprc-by-size": (
        "AUPRC by rows per class",
        "One panel per cohort: AUPRC on held-out patients against rows per class, a line for each method; dashed is "
        "full data at its best epoch.",
    ),
    "average-ranks": (
        "Average ranks of the methods",
        "A dot for each method at its average rank over cohorts, sizes and seeds, best on top, for AUROC and AUPRC; "
        "the bar has the length of Nemenyi's critical difference.",
    ),
    "inner-loop": (
        "Student steps",
        "AUROC and AUPRC on held-out patients against student steps, a line for each method.",
    ),
    "figure-1": (
        "SGD path, straight line and Bézier curve",
        "For each recipe: the three paths of one expert in the plane of two principal components, the loss along them, "
        "and the matching loss over iterations of rows that follow each.",
    ),
    "theorem": (
        "What the theorem speaks of",
        "A dot for every expert: curvature of its curve, distance to its SGD path, and difference of predicted "
        "probabilities, by cohort and recipe.",
    ),
}
PATH_TITLES = {"sgd": "SGD path", "linear": "straight line", "bezier": "Bézier curve"}
_PATH_COLOURS = {"sgd": "#7a7a7a", "linear": "#d08a1f", "bezier": "#1b6ca8"}
_COLOURS = ("#7a7a7a", "#8c6bb1", "#d08a1f", "#2a9d6f", "#b5574b", "#d38fc0", "#1b6ca8", "#0b2f4e")


def picture_style():
    """The context in which figures are made and written."""
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def _panels(rows: int, columns: int, width: float, height: float) -> "tuple[Figure, np.ndarray]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def rank_dots(ranks: "Mapping[str, Ranks]", names: Mapping[str, str]) -> "Figure":
    """A dot for each method at its average rank, one panel per metric; the bar is Nemenyi's critical difference."""
    most = max(len(one.average) for one in ranks.values())
    figure, panels = _panels(1, len(ranks), 4.2 * len(ranks), 1.2 + 0.27 * most)
    for axes, (metric, one) in zip(panels[0], ranks.items(), strict=True):
        order = sorted(one.average, key=one.average.__getitem__)
        values, places = [one.average[label] for label in order], np.arange(len(order))
        axes.hlines(places, 1, values, color="#d9d9d9", linewidth=1)
        axes.plot(values, places, "o", color=_COLOURS[6])
        reach = float(len(order))
        if one.critical is not None and len(order) > 2:
            reach = max(reach, values[0] + one.critical)
            axes.plot([values[0], values[0] + one.critical], [-0.8, -0.8], color="#333333", linewidth=2)
            axes.annotate("critical difference", (values[0], -0.8), xytext=(0, 3), textcoords="offset points", size=8)
        axes.set_yticks(places, [names.get(label, label) for label in order])
        axes.set(ylim=(len(order) - 0.5, -1.6), xlim=(0.9, reach + 0.2), xlabel="average rank (1 is best)")
        axes.set_title(f"{metric.upper()}, {one.blocks} block{'s' * (one.blocks != 1)}")
    return figure


def add_note(figure: "Figure", note: str) -> None:
    """Write a line below the figure."""
    figure.supxlabel(note, size=7, color="#666666")


def auprc_by_size(table: pd.DataFrame, names: Mapping[str, str], titles: Mapping[str, str]) -> "Figure":
    """AUPRC against rows per class, one panel per cohort; dashed is full data at its best epoch."""
    cohorts = list(dict.fromkeys(table["cohort"]))
    figure, panels = _panels(1, len(cohorts), 3.4 * len(cohorts) + 1.6, 3.2)
    rows = table[table["rows_per_class"].notna()]
    labels = list(dict.fromkeys(rows["label"]))
    colours = dict(zip(labels, _COLOURS * len(labels), strict=False))
    for axes, cohort in zip(panels[0], cohorts, strict=True):
        for label in labels:
            line = rows[(rows["cohort"] == cohort) & (rows["label"] == label)].sort_values("rows_per_class")
            axes.errorbar(
                line["rows_per_class"],
                line["auprc"],
                line["auprc_networks"],
                color=colours[label],
                marker="o",
                markersize=3.5,
                linewidth=1.3,
                elinewidth=0.7,
                label=names.get(label, label),
            )
        for score in table[(table["cohort"] == cohort) & (table["method"] == "full best")]["auprc"]:
            axes.axhline(score, color="#333333", linestyle="--", linewidth=1, label="full data, best epoch")
        _sizes(axes, rows[rows["cohort"] == cohort]["rows_per_class"].unique())
        axes.set(title=titles[cohort], xlabel="rows per class")
    panels[0][0].set_ylabel("AUPRC, held-out patients")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside right center")
    return figure


def _sizes(axes: "Axes", sizes: np.ndarray) -> None:
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:.0f}" for size in sizes], minor=False)
    axes.minorticks_off()


def scores_by_steps(table: pd.DataFrame, names: Mapping[str, str], title: str) -> "Figure":
    """AUROC and AUPRC against student steps, one line per method."""
    figure, panels = _panels(1, 2, 9.2, 3.2)
    for axes, metric in zip(panels[0], ("auroc", "auprc"), strict=True):
        for (method, line), colour in zip(table.groupby("method", sort=False), _COLOURS[2:], strict=False):
            line = line.sort_values("steps")
            axes.errorbar(
                line["steps"],
                line[metric],
                line[f"{metric}_networks"],
                color=_COLOURS[-2] if method == "btm" else colour,
                marker="o",
                markersize=4,
                elinewidth=0.8,
                label=names.get(str(method), str(method)),
            )
        axes.set(xlabel="student steps per iteration", ylabel=f"{metric.upper()}, held-out patients")
    figure.legend(*panels[0][1].get_legend_handles_labels(), loc="outside right center")
    figure.suptitle(title, size=10)
    return figure


def path_panels(recipes: "Mapping[str, tuple[PathsResult, Mapping[str, pd.Series]]]", title: str) -> "Figure":
    """The paper's Figure 1, one row per recipe: (a) paths of an expert, (b) loss along them, (c) matching loss.

    Of each recipe: what its paths are like, and for each path the matching loss, by iteration, of rows that follow it.
    """
    figure, panels = _panels(len(recipes), 3, 12.5, 3.4 * len(recipes))
    for (where, along, over), (recipe, (paths, losses)) in zip(panels, recipes.items(), strict=True):
        _plane(where, paths)
        for path, name in PATH_TITLES.items():
            drawn: dict[str, Any] = {"color": _PATH_COLOURS[path], "label": name}
            along.plot(paths.times, np.mean(paths.loss[path], axis=0), **drawn)
            if path in losses:
                over.plot(losses[path].index, losses[path], marker=".", markersize=4, **drawn)
        where.set(
            title=f"(a) {title}: one expert, {recipe}", xlabel="principal component 1", ylabel="principal component 2"
        )
        along.set(title="(b) loss along the path", xlabel="t", ylabel="cross-entropy, training patients")
        over.set(
            title="(c) matching loss", xlabel="iteration", yscale="log", ylabel="L, mean since the last evaluation"
        )
    figure.legend(*panels[0][1].get_legend_handles_labels(), loc="outside upper center", ncols=len(PATH_TITLES))
    return figure


def _plane(axes: "Axes", paths: "PathsResult") -> None:
    """The three paths of one expert; their common ends are named beside the points, away from the paths."""
    for path, name in PATH_TITLES.items():
        points = np.asarray(paths.plane[path], float)
        marker = "." if path == "sgd" else None
        axes.plot(*points.T, color=_PATH_COLOURS[path], label=name, marker=marker, markersize=4)
    curve = paths.plane["bezier"]
    ends = {"start": curve[0], "end": curve[-1]}
    for mark, (x, y) in ends.items():
        left = x == min(end[0] for end in ends.values())
        aside = {"xytext": (-6 if left else 6, 0), "ha": "right" if left else "left", "va": "center"}
        axes.annotate(mark, (x, y), textcoords="offset points", **aside)
    axes.margins(x=0.2, y=0.12)


def theorem_dots(table: pd.DataFrame, names: Mapping[str, str], titles: Mapping[str, str]) -> "Figure":
    """A dot for every expert: curvature, distance from the SGD path, and difference of predictions."""
    shown = {
        "curvature": "curvature κ",
        "distance": "distance to the SGD path\n(of that between its ends)",
        "prediction_gap": "difference of probabilities",
    }
    groups = list(dict.fromkeys(zip(table["cohort"], table["method"], strict=True)))
    figure, panels = _panels(1, len(shown), 11, 0.9 + 0.32 * len(groups))
    for axes, (name, label) in zip(panels[0], shown.items(), strict=True):
        for place, (cohort, method) in enumerate(groups):
            values = table[(table["cohort"] == cohort) & (table["method"] == method)][name]
            colour = _COLOURS[6] if method == "btm" else _COLOURS[2]
            axes.plot(values, np.full(len(values), place), "o", color=colour, alpha=0.6, markersize=4)
        axes.set_yticks(range(len(groups)), [f"{titles[cohort]}, {names[method]}" for cohort, method in groups])
        axes.set(ylim=(len(groups) - 0.5, -0.5), xlabel=label)
        axes.set_xlim(left=0)
        axes.grid(axis="x", color="#e5e5e5", linewidth=0.6)
    for axes in panels[0][1:]:
        axes.set_yticklabels([])
    return figure
