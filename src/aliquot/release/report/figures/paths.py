"""The ways from untrained to trained experts: the loss along them, and how they look in a plane."""

from typing import Any

import numpy as np

from aliquot.release.report.facts import percent
from aliquot.release.report.svg import FULL, INK, OURS, RANDOM, Drawing, canvas, drawing, styled

WAYS = {  # name, colour and line
    "sgd": ("SGD path", FULL, "--"),
    "line": ("straight line", RANDOM, ":"),
    "curve": ("Bézier curve", OURS, "-"),
}


def path_loss(metrics: dict[str, Any]) -> Drawing | None:
    """Training loss along the experts' path, the straight line and the Bézier curve; means over experts."""
    paths = metrics.get("paths")
    if not paths:
        return None
    with styled():
        figure, axes = canvas(height=3.0)
        for way, (name, colour, line) in WAYS.items():
            axes.plot(paths["times"], paths["loss"][way], line, color=colour, linewidth=2, label=name)
        axes.legend()
        axes.set(xlabel="position on the path (0: untrained, 1: trained)", ylabel="training loss")
        return drawing(
            figure,
            name="path-loss",
            title="Training loss along the path from untrained to trained experts",
            description="Mean loss on the whole way: "
            + "; ".join(f"{name} {np.mean(paths['loss'][way]):.3f}" for way, (name, *_) in WAYS.items()),
            caption="Training loss along the ways from untrained to trained networks; "
            + ("one expert." if paths["experts"] == 1 else f"means over {paths['experts']} experts."),
        )


def plane(metrics: dict[str, Any]) -> Drawing | None:
    """The same ways in the plane of their first two principal components; one expert strong, others faint."""
    paths = metrics.get("paths")
    if not paths:
        return None
    seen = {way: np.asarray(paths["plane"][way], float) for way in WAYS}
    share = np.mean(paths["plane_share"])
    with styled():
        figure, axes = canvas(height=3.0)
        for way, (name, colour, line) in WAYS.items():
            for number, points in enumerate(seen[way]):
                first = number == 0
                style = {"linewidth": 2 if first else 1, "alpha": 1 if first else 0.35}
                axes.plot(*points.T, line, color=colour, label=name if first else None, **style)
        ends = seen["line"][0][[0, -1]]
        axes.plot(*ends[0], "o", color=INK, markersize=6, fillstyle="none")
        axes.plot(*ends[1], "o", color=INK, markersize=6)
        for end, said, away in ((ends[0], "untrained", "left"), (ends[1], "trained", "right")):
            axes.annotate(said, end, (0, -9), textcoords="offset points", ha=away, va="top")
        axes.margins(x=0.06, y=0.2)
        axes.locator_params(axis="y", nbins=6)
        axes.legend(loc="upper right")
        axes.set(xlabel="along the straight line", ylabel="away from it")
        gone = {way: float(np.abs(seen[way][0, :, 1]).max()) for way in ("sgd", "curve")}
        return drawing(
            figure,
            name="plane",
            title="The paths in the plane of their first two principal components",
            description="In units of the straight line, the SGD path of the first expert bends away by "
            f"{gone['sgd']:.2f} and the Bézier curve by {gone['curve']:.2f}.",
            caption="The ways of the networks' weights in the plane of their first two principal components, which "
            f"shows {percent(share)} of how they vary; in units of the straight line.",
        )
