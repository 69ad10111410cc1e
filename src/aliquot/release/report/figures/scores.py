"""Scores as dots with intervals, one line for each training set, model or method."""

from collections.abc import Sequence
from typing import Any

from aliquot.release.report.facts import TRAINED_ON, spread
from aliquot.release.report.svg import BEST, FULL, INK, OURS, RANDOM, Drawing, canvas, drawing, styled

COLOURS = {"random": RANDOM, "aliquot": OURS, "full": FULL, "full_best_epoch": BEST}
SHORT = {  # names beside a dot
    "random": "random real rows",
    "aliquot": "these rows",
    "full": "all, fixed epochs",
    "full_best_epoch": "all, best epoch",
}
MARKS = {"random": "D", "aliquot": "o", "full": "s", "full_best_epoch": "s"}


def scores(metrics: dict[str, Any], metric: str) -> Drawing:
    """Dot and interval of one metric for every training set."""
    held_out = metrics["held_out"]
    found = {key: held_out[key][metric] for key in TRAINED_ON if key in held_out}
    with styled():
        figure, axes = canvas(height=1.55)
        for place, (key, summary) in enumerate(found.items()):
            _dot_and_interval(axes, place, summary, COLOURS[key], MARKS[key], bold=key == "aliquot")
        if "full_best_epoch" in found:
            axes.axvline(found["full_best_epoch"]["mean"], color=BEST, linestyle=":", linewidth=1, zorder=0)
        _lines(axes, [SHORT[key] for key in found])
        axes.get_yticklabels()[list(found).index("aliquot")].set_fontweight("bold")
        return drawing(
            figure,
            name=f"scores-{metric}",
            title=f"{metric.upper()} on held-out patients",
            description="; ".join(f"{TRAINED_ON[key]}: {spread(summary)}" for key, summary in found.items()),
            caption=f"{metric.upper()} on held-out patients",
        )


def transfer(metrics: dict[str, Any], metric: str = "auprc") -> Drawing | None:
    """One line per kind of model: trained on random rows, on these rows, on all patients."""
    models = metrics.get("transfer")
    if not models:
        return None
    with styled():
        figure, axes = canvas(height=0.9 + 0.33 * len(models))
        for place, found in enumerate(models.values()):
            values = [found[key][metric] for key in ("random", "aliquot", "full") if key in found]
            axes.plot([min(values), max(values)], [place, place], color=INK, alpha=0.25, linewidth=1.5, zorder=1)
            for key in ("random", "full", "aliquot"):
                if key in found:
                    named = {"full": "all patients"}.get(key, SHORT[key]) if place == 0 else None
                    size = 7 if key == "aliquot" else 6
                    axes.plot(found[key][metric], place, MARKS[key], color=COLOURS[key], markersize=size, label=named)
        _lines(axes, list(models))
        axes.set_xlabel(f"{metric.upper()}, held-out patients")
        handles, names = axes.get_legend_handles_labels()
        order = [place for name in ("random real rows", "these rows", "all patients") for place in _where(names, name)]
        handles, names = [handles[place] for place in order], [names[place] for place in order]
        beside = {"columnspacing": 1.2, "handletextpad": 0.2, "borderaxespad": 0}
        figure.legend(handles, names, loc="outside upper left", ncols=3, **beside)
        return drawing(
            figure,
            name=f"transfer-{metric}",
            title=f"{metric.upper()} of other kinds of models",
            description="; ".join(
                f"{model}: " + ", ".join(f"{SHORT.get(key, key)} {one[metric]:.3f}" for key, one in found.items())
                for model, found in models.items()
            ),
            caption=f"{metric.upper()} of other kinds of models",
        )


def method_scores(name: str, metric: str, entries: Sequence[tuple[str, float, float]], bar: float | None) -> Drawing:
    """One line per method: its label, mean and spread of a metric; ``bar`` is what all patients reach.

    ``name`` must be unique on the page.
    """
    with styled():
        figure, axes = canvas(height=0.6 + 0.26 * len(entries))
        for place, (_, mean, std) in enumerate(entries):
            _dot_and_interval(axes, place, {"mean": mean, "std": std}, OURS, "o")
        if bar is not None:
            axes.axvline(bar, color=BEST, linestyle=":", linewidth=1, zorder=0)
        _lines(axes, [label for label, *_ in entries])
        said = "" if bar is None else f" The dotted line is what all patients reach, {bar:.3f}."
        return drawing(
            figure,
            name=name,
            title=f"{metric} by method",
            description="; ".join(f"{label}: {mean:.3f} ± {std:.3f}" for label, mean, std in entries) + "." + said,
            caption=f"{metric} by method: mean and spread.{said}",
        )


def _where(names: Sequence[str], name: str) -> list[int]:
    return [place for place, one in enumerate(names) if one == name]


def _lines(axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.margins(x=0.08)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    axes.locator_params(axis="x", nbins=5)


def _dot_and_interval(
    axes, place: int, summary: dict[str, float], colour: str, mark: str, *, bold: bool = False
) -> None:
    mean, std = summary["mean"], summary["std"]
    axes.plot([mean - std, mean + std], [place, place], color=colour, linewidth=3, solid_capstyle="round")
    axes.plot(mean, place, mark, color=colour, markersize=8 if bold else 6.5)
    axes.text(
        1.03,
        place,
        f"{mean:.3f}",
        transform=axes.get_yaxis_transform(),
        va="center",
        fontweight="bold" if bold else "normal",
    )
