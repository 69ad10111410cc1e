"""Scores as dots with intervals, one line for each training set or method; and how training sets are drawn."""

from collections.abc import Sequence

from aliquot.evaluate.results import HeldOut
from aliquot.release.report.facts import SOURCE_NAMES, mean_std_n
from aliquot.release.report.svg import Colour, Drawing, canvas, drawing, styled

SOURCE_COLOURS = {
    "random": Colour.RANDOM,
    "aliquot": Colour.OURS,
    "expanded": Colour.EXPANDED,
    "full": Colour.FULL,
    "full_best_epoch": Colour.BEST,
}
SHORT_NAMES = {  # names beside a dot
    "random": "random real rows",
    "aliquot": "these rows",
    "expanded": "records around them",
    "full": "all, fixed epochs",
    "full_best_epoch": "all, best epoch",
}
SOURCE_MARKS = {"random": "D", "aliquot": "o", "expanded": "^", "full": "s", "full_best_epoch": "s"}


def held_out_figure(held_out: HeldOut, metric: str) -> Drawing:
    """Dot and interval of one metric for every training set."""
    found = {key: getattr(scores, metric) for key, scores in held_out.by_source().items()}
    with styled():
        figure, axes = canvas(height=1.55)
        for place, (key, summary) in enumerate(found.items()):
            look = (SOURCE_COLOURS[key], SOURCE_MARKS[key], key == "aliquot")
            _dot_and_interval(axes, place, summary.mean, summary.std, *look)
        if held_out.full_best_epoch is not None:
            _bar(axes, getattr(held_out.full_best_epoch, metric).mean)
        named_lines(axes, [SHORT_NAMES[key] for key in found])
        axes.get_yticklabels()[list(found).index("aliquot")].set_fontweight("bold")
        return drawing(
            figure,
            name=f"scores-{metric}",
            title=f"{metric.upper()} on held-out patients",
            description="; ".join(f"{SOURCE_NAMES[key]}: {mean_std_n(summary)}" for key, summary in found.items()),
            caption=f"{metric.upper()} on held-out patients",
        )


def method_scores(name: str, metric: str, entries: Sequence[tuple[str, float, float]], bar: float | None) -> Drawing:
    """One line per method: its label, mean and spread of a metric; ``bar`` is what all patients reach.

    ``name`` must be unique on the page.
    """
    with styled():
        figure, axes = canvas(height=0.6 + 0.26 * len(entries))
        for place, (_, mean, std) in enumerate(entries):
            _dot_and_interval(axes, place, mean, std, Colour.OURS, "o")
        if bar is not None:
            _bar(axes, bar)
        named_lines(axes, [label for label, *_ in entries])
        said = "" if bar is None else f" The dotted line is what all patients reach, {bar:.3f}."
        return drawing(
            figure,
            name=name,
            title=f"{metric} by method",
            description="; ".join(f"{label}: {mean:.3f} ± {std:.3f}" for label, mean, std in entries) + "." + said,
            caption=f"{metric} by method: mean and spread.{said}",
        )


def named_lines(axes, names: Sequence[str]) -> None:
    """One line per name, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.margins(x=0.08)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    axes.locator_params(axis="x", nbins=5)


def _bar(axes, mean: float) -> None:
    axes.axvline(mean, color=Colour.BEST, linestyle=":", linewidth=1, zorder=0)


def _dot_and_interval(axes, place: int, mean: float, std: float, colour: str, mark: str, bold: bool = False) -> None:
    axes.plot([mean - std, mean + std], [place, place], color=colour, linewidth=3, solid_capstyle="round")
    axes.plot(mean, place, mark, color=colour, markersize=8 if bold else 6.5)
    weight = "bold" if bold else "normal"
    axes.text(1.03, place, f"{mean:.3f}", transform=axes.get_yaxis_transform(), va="center", fontweight=weight)
