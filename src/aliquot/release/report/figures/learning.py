"""What happened while the rows were learned."""

from typing import Any

import numpy as np

from aliquot.release.report.svg import FAINT, INK, OURS, Drawing, canvas, drawing, styled

STEEP = 5  # a loss that falls by more than this is drawn on a logarithmic scale


def tuning(metrics: dict[str, Any]) -> Drawing | None:
    """AUPRC on the tuning patients while the rows were learned, with the chosen rows marked."""
    learning = metrics.get("learning") or {}
    if "judged_at" not in learning:
        return None
    at, mean, std = (np.asarray(learning[name], float) for name in ("judged_at", "tuning", "tuning_std"))
    chosen = int(mean.argmax())  # as the search does: the first of the best
    with styled():
        figure, axes = canvas()
        _band(axes, at, mean, mean - std, mean + std)
        _mark_chosen(axes, at[chosen])
        axes.plot(at[chosen], mean[chosen], "o", color=INK, markersize=6)
        axes.set(xlabel="iteration", ylabel="AUPRC, tuning patients")
        return drawing(
            figure,
            name="tuning",
            title="AUPRC on the tuning patients by iteration",
            description=f"It starts at {mean[0]:.3f}, is highest at iteration {at[chosen]:.0f} with "
            f"{mean[chosen]:.3f}, whose rows were chosen, and ends at {mean[-1]:.3f}.",
            caption="Networks trained on the rows, on the tuning patients: mean and one standard deviation.",
        )


def matching_loss(metrics: dict[str, Any]) -> Drawing | None:
    """The matching loss over iterations, averaged over short stretches."""
    loss = (metrics.get("learning") or {}).get("loss")
    if loss is None:
        return None
    at, mean, low, high = (np.asarray(loss[name], float) for name in ("at", "mean", "low", "high"))
    with styled():
        figure, axes = canvas()
        _band(axes, at, mean, low, high)
        best = metrics.get("tuning", {}).get("best_iteration")
        if best is not None:
            _mark_chosen(axes, best)
        axes.set(xlabel="iteration", ylabel="matching loss")
        if low.min() > 0 and high.max() > STEEP * low.min():
            _on_log_scale(axes)
        return drawing(
            figure,
            name="matching-loss",
            title="Matching loss by iteration",
            description=f"The mean is {mean[0]:.3f} at the start and {mean[-1]:.3f} at the end.",
            caption="How far students end from the experts' target: mean, and range of the middle 80 %. "
            "1: no nearer than at the start.",
        )


def _on_log_scale(axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def _band(axes, at: np.ndarray, mean: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    axes.fill_between(at, low, high, color=OURS, alpha=0.2, linewidth=0)
    axes.plot(at, mean, color=OURS, linewidth=1.8)
    axes.locator_params(axis="x", nbins=5)


def _mark_chosen(axes, iteration: float) -> None:
    """A line at the chosen rows, named above it, towards the side with more room."""
    right = iteration < sum(axes.get_xlim()) / 2
    axes.axvline(iteration, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    axes.annotate(
        "chosen rows",
        (iteration, 1.0),
        (-3 if right else 3, 3),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="left" if right else "right",
    )
