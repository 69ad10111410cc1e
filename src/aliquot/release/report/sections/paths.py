"""The paths from untrained to trained experts: the loss along them, and how they look in a plane."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aliquot.curves import Geometry
from aliquot.evaluate.evidence import Evidence
from aliquot.evaluate.record import Record, as_tuple
from aliquot.release.condensation import Condensation
from aliquot.release.report.facts import percent
from aliquot.release.report.section import Section
from aliquot.release.report.svg import Colour, Drawing, canvas, drawing, styled

_WAYS = {  # name, colour and line
    "sgd": ("SGD path", Colour.FULL, "--"),
    "line": ("straight line", Colour.RANDOM, ":"),
    "curve": ("Bézier curve", Colour.OURS, "-"),
}


Points = tuple[tuple[tuple[float, ...], ...], ...]  # per expert and time, two coordinates


@dataclass(frozen=True)
class LossPerPath(Record):
    """Loss along the SGD path, the straight line between its ends, and the Bézier curve; at each time."""

    sgd: tuple[float, ...] = ()
    line: tuple[float, ...] = ()
    curve: tuple[float, ...] = ()


@dataclass(frozen=True)
class PointsPerPath(Record):
    """The same paths as points in a plane."""

    sgd: Points = ()
    line: Points = ()
    curve: Points = ()


@dataclass(frozen=True)
class Paths(Record):
    """Loss along the three paths, means over experts, and each expert's paths in a plane; empty without experts."""

    experts: int = 0
    times: tuple[float, ...] = ()
    loss: LossPerPath = LossPerPath()
    plane: PointsPerPath = PointsPerPath()
    plane_share: tuple[float, ...] = ()  # of the paths' variance that the plane shows


@dataclass(frozen=True)
class _Result(Record):
    paths: Paths | None = None


def _measure(evidence: Evidence) -> _Result:
    geometry = evidence.geometry
    return _Result(Paths() if geometry is None else paths_of(geometry))


def paths_of(geometry: Geometry) -> Paths:
    """What the report shows of experts' paths and of the curves in their place."""
    losses = (geometry.loss_sgd, geometry.loss_line, geometry.loss_curve)
    planes = (geometry.plane_sgd, geometry.plane_line, geometry.plane_curve)
    return Paths(
        experts=len(geometry.loss_curve),
        times=as_tuple(geometry.times, 5),
        loss=LossPerPath(*(as_tuple(np.mean(loss, axis=0), 5) for loss in losses)),
        plane=PointsPerPath(*(as_tuple(plane, 5) for plane in planes)),
        plane_share=as_tuple(geometry.plane_share, 5),
    )


def _content(result: Condensation) -> dict[str, Any]:
    paths = SECTION.read(result.results).paths or Paths()
    return {"figures": [_loss_figure(paths), _plane_figure(paths)]}


def _loss_figure(paths: Paths) -> Drawing:
    """Training loss along the experts' path, the straight line and the Bézier curve; means over experts."""
    loss = {way: getattr(paths.loss, way) for way in _WAYS}
    with styled():
        figure, axes = canvas(height=3.0)
        for way, (name, colour, line) in _WAYS.items():
            axes.plot(paths.times, loss[way], line, color=colour, linewidth=2, label=name)
        axes.legend()
        axes.set(xlabel="position on the path (0: untrained, 1: trained)", ylabel="training loss")
        return drawing(
            figure,
            name="path-loss",
            title="Training loss along the path from untrained to trained experts",
            description="Mean loss on the whole way: "
            + "; ".join(f"{name} {np.mean(loss[way]):.3f}" for way, (name, *_) in _WAYS.items()),
            caption="Training loss along the paths from untrained to trained networks; "
            + ("one expert." if paths.experts == 1 else f"means over {paths.experts} experts."),
        )


def _plane_figure(paths: Paths) -> Drawing:
    """The same paths in the plane of their first two principal components; one expert strong, others faint."""
    seen = {way: np.asarray(getattr(paths.plane, way), float) for way in _WAYS}
    with styled():
        figure, axes = canvas(height=3.0)
        for way, (name, colour, line) in _WAYS.items():
            for number, points in enumerate(seen[way]):
                first = number == 0
                style = {"linewidth": 2 if first else 1, "alpha": 1 if first else 0.35}
                axes.plot(*points.T, line, color=colour, label=name if first else None, **style)
        ends = seen["line"][0][[0, -1]]
        axes.plot(*ends[0], "o", color=Colour.INK, markersize=6, fillstyle="none")
        axes.plot(*ends[1], "o", color=Colour.INK, markersize=6)
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
            caption="The paths of the networks' weights in the plane of their first two principal components, which "
            f"shows {percent(float(np.mean(paths.plane_share)))} of how they vary; in units of the straight line.",
        )


SECTION = Section(
    key="paths",
    title="The paths that they follow",
    order=20,
    result=_Result,
    measure=_measure,
    is_there=lambda results: bool((SECTION.read(results).paths or Paths()).experts),
    content=_content,
)
