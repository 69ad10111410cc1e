"""ROC and precision-recall curves: means over networks, with bands."""

from typing import Any

import numpy as np

from aliquot.release.report.figures.scores import COLOURS
from aliquot.release.report.svg import FAINT, Drawing, canvas, drawing, styled

SETS = {"random": ("random real rows", ":"), "full_best_epoch": ("all patients", "--"), "aliquot": ("these rows", "-")}


def roc(metrics: dict[str, Any]) -> Drawing | None:
    """Sensitivity by false-positive rate."""
    found = _found(metrics)
    if not found:
        return None
    with styled():
        figure, axes = canvas(height=3.4)
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1)
        for key, curves in found.items():
            grid = np.concatenate([[0.0], curves["grid"]])
            mean, std = (np.concatenate([[0.0], curves["sensitivity"][part]]) for part in ("mean", "std"))
            _curve(axes, key, grid, mean, std)
        axes.legend(loc="lower right")
        axes.set(xlabel="false-positive rate", ylabel="sensitivity", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        return drawing(
            figure,
            name="roc",
            title="ROC curves on held-out patients",
            description="Sensitivity where one in five is a false alarm: "
            + "; ".join(f"{SETS[key][0]} {_at(one, 'sensitivity', 0.2):.2f}" for key, one in found.items()),
            caption="Sensitivity by false-positive rate, held-out patients: mean and one standard deviation over "
            "networks.",
        )


def precision_recall(metrics: dict[str, Any]) -> Drawing | None:
    """Precision by sensitivity."""
    found = _found(metrics)
    if not found:
        return None
    prevalence = metrics["data"]["prevalence"]
    base = prevalence[-1] if len(prevalence) == 2 else float(np.mean(prevalence))
    with styled():
        figure, axes = canvas(height=3.4)
        axes.axhline(base, color=FAINT, linewidth=1)
        for key, curves in found.items():
            _curve(axes, key, np.array(curves["grid"]), *(np.array(curves["precision"][p]) for p in ("mean", "std")))
        axes.legend(loc="upper right")
        axes.set(xlabel="sensitivity (recall)", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        return drawing(
            figure,
            name="precision-recall",
            title="Precision-recall curves on held-out patients",
            description="Precision where half of the events are found: "
            + "; ".join(f"{SETS[key][0]} {_at(one, 'precision', 0.5):.2f}" for key, one in found.items()),
            caption="Precision by sensitivity, held-out patients; the grey line is chance.",
        )


def _found(metrics: dict[str, Any]) -> dict[str, Any]:
    ranking = metrics.get("ranking") or {}
    return {key: ranking[key] for key in SETS if ranking.get(key)}


def _curve(axes, key: str, grid: np.ndarray, mean: np.ndarray, std: np.ndarray) -> None:
    name, line = SETS[key]
    axes.fill_between(
        grid, np.clip(mean - std, 0, 1), np.clip(mean + std, 0, 1), color=COLOURS[key], alpha=0.18, linewidth=0
    )
    axes.plot(grid, mean, line, color=COLOURS[key], linewidth=2 if key == "aliquot" else 1.5, label=name)


def _at(curves: dict[str, Any], what: str, place: float) -> float:
    return float(np.interp(place, curves["grid"], curves[what]["mean"]))
