"""Predicted against observed shares."""

from typing import Any

import numpy as np

from aliquot.release.report.svg import FAINT, OURS, RANDOM, Drawing, canvas, drawing, styled


def reliability(metrics: dict[str, Any]) -> Drawing | None:
    """Predicted against observed share of the last class, before and after the offset."""
    bins = metrics["calibration"].get("reliability")
    if not bins:
        return None
    points = {key: np.array([(p["predicted"], p["observed"]) for p in bins[key]]) for key in ("before", "after")}
    far = {key: np.abs(pairs[:, 0] - pairs[:, 1]).max() for key, pairs in points.items()}
    event = metrics["data"]["classes"][-1]
    with styled():
        figure, axes = canvas(height=3.4)
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, label="ideal")
        for key, colour, mark in (("before", RANDOM, "D--"), ("after", OURS, "o-")):
            axes.plot(*points[key].T, mark, color=colour, markersize=5, label=f"{key} the offset")
        axes.legend(loc="upper left")
        axes.set(xlabel="predicted probability", ylabel="observed share")
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        return drawing(
            figure,
            name="reliability",
            title=f"Predicted and observed share of class {event}",
            description="; ".join(f"{key} the offset at most {far[key]:.2f} from the ideal" for key in points),
            caption=f"Predicted and observed share of class {event} among held-out patients, in bins of equal size.",
        )
