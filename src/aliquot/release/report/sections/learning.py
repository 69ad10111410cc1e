"""What happened while the rows were learned: scores on the tuning part, and the matching loss."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from aliquot.evaluate.evidence import Evidence
from aliquot.evaluate.record import Record, as_tuple
from aliquot.evaluate.results import Results
from aliquot.release.condensation import Condensation
from aliquot.release.report import facts
from aliquot.release.report.section import Check, Section
from aliquot.release.report.svg import Colour, Drawing, canvas, drawing, drawn, styled

POINTS = 150  # of a learning curve; more would not show
FEWEST_LOOKS = 5  # at the tuning patients, to say what is noise
_LOSSES = {
    "parameters": "How far students end from the experts' target; 1 is no nearer than at the start.",
    "predictions": "How far students' predictions are from the experts', as a divergence; 0 is none.",
}
STEEP = 5  # a loss that falls by more than this is drawn on a logarithmic scale


@dataclass(frozen=True)
class LossCurve(Record):
    """The matching loss in short stretches of iterations: where, mean, and range of the middle 80 %."""

    at: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Learning(Record):
    """AUPRC at each evaluation on tuning, and the matching loss; empty where nothing was learned step by step."""

    judged_at: tuple[int, ...] = ()
    tuning: tuple[float, ...] = ()
    tuning_std: tuple[float, ...] = ()
    loss: LossCurve | None = None


@dataclass(frozen=True)
class _Result(Record):
    learning: Learning | None = None


def within_noise(results: Results) -> str | None:
    """The numbers of a choice that could be luck; None where it could not, or where there were too few evaluations."""
    learning = SECTION.read(results).learning
    if not _enough_evaluations(learning) or facts.keeps_last(results):
        return None
    scores = learning.tuning
    best = max(range(len(scores)), key=scores.__getitem__)
    usual, deviation = sorted(scores)[len(scores) // 2], learning.tuning_std[best]
    if scores[best] - usual > deviation:
        return None
    return (
        f"within the noise: {scores[best]:.3f} ± {deviation:.3f} on tuning, the middle of {len(scores)} evaluations "
        f"{usual:.3f}"
    )


def _enough_evaluations(learning: Learning | None) -> TypeGuard[Learning]:
    return learning is not None and len(learning.judged_at) >= FEWEST_LOOKS


def _measure(evidence: Evidence) -> _Result:
    return _Result(learning_of(evidence.history))


def learning_of(history: Mapping[str, np.ndarray]) -> Learning:
    """What the report shows of a history.

    >>> learning_of({"loss": np.array([0.5, 0.25])}).loss.mean
    (0.5, 0.25)
    """
    evaluated: dict[str, Any] = {}
    if len(history.get("judged_at", ())):
        evaluated["judged_at"] = tuple(np.asarray(history["judged_at"]).astype(int).tolist())
        evaluated |= {name: as_tuple(history[name], 5) for name in ("tuning", "tuning_std")}
    loss = np.asarray(history.get("loss", ()), float)
    return Learning(**evaluated, loss=_stretches(loss) if np.isfinite(loss).any() else None)


def _stretches(values: np.ndarray) -> LossCurve:
    """Position, mean, 10th and 90th percentile of the finite values of consecutive stretches."""
    numbers = np.flatnonzero(np.isfinite(values))
    places = np.array_split(numbers, min(POINTS, len(numbers)))
    low, high = np.array([np.quantile(values[part], (0.1, 0.9)) for part in places]).T
    return LossCurve(
        at=tuple(round(float(part.mean() + 1), 1) for part in places),
        mean=as_tuple([values[part].mean() for part in places], 5),
        low=as_tuple(low, 5),
        high=as_tuple(high, 5),
    )


def _content(result: Condensation) -> dict[str, Any]:
    results = result.results
    learning = SECTION.read(results).learning or Learning()
    last = facts.keeps_last(results)
    figures = drawn(_tuning_figure(learning, last=last), _loss_figure(learning, results))
    return {"figures": figures, "tuning": results.tuning, "origin": facts.origin(result), "last": last}


def _tuning_figure(learning: Learning, *, last: bool) -> Drawing | None:
    """AUPRC on the tuning patients while the rows were learned, with the kept rows marked."""
    if not learning.judged_at:
        return None
    evaluated = (learning.judged_at, learning.tuning, learning.tuning_std)
    at, mean, std = (np.asarray(values, float) for values in evaluated)
    kept = len(mean) - 1 if last else int(mean.argmax())  # as the search does: the first of the best
    reached = f"It starts at {mean[0]:.3f}, is highest at iteration {at[mean.argmax()]:.0f} with {mean.max():.3f}"
    with styled():
        figure, axes = canvas()
        _band(axes, at, mean, mean - std, mean + std)
        _mark_kept(axes, at[kept])
        axes.plot(at[kept], mean[kept], "o", color=Colour.INK, markersize=6)
        axes.set(xlabel="iteration", ylabel="AUPRC, tuning patients")
        return drawing(
            figure,
            name="tuning",
            title="AUPRC on the tuning patients by iteration",
            description=f"{reached}{'' if last else ', whose rows were kept'}, and ends at {mean[-1]:.3f}.",
            caption="Networks trained on the rows, on the tuning patients: mean and one standard deviation.",
        )


def _loss_figure(learning: Learning, results: Results) -> Drawing | None:
    """The matching loss over iterations, averaged over short stretches."""
    loss = learning.loss
    if loss is None:
        return None
    at, mean, low, high = (np.asarray(values, float) for values in (loss.at, loss.mean, loss.low, loss.high))
    best = None if results.tuning is None else results.tuning.best_iteration
    with styled():
        figure, axes = canvas()
        _band(axes, at, mean, low, high)
        if best is not None:
            _mark_kept(axes, best)
        axes.set(xlabel="iteration", ylabel="matching loss")
        if low.min() > 0 and high.max() > STEEP * low.min():
            _on_log_scale(axes)
        return drawing(
            figure,
            name="matching-loss",
            title="Matching loss by iteration",
            description=f"The mean is {mean[0]:.3f} at the start and {mean[-1]:.3f} at the end.",
            caption=f"{_LOSSES.get(facts.slot(results, 'goal'), _LOSSES['parameters'])} Mean, and middle 80 %.",
        )


def _on_log_scale(axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def _band(axes, at: np.ndarray, mean: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    axes.fill_between(at, low, high, color=Colour.OURS, alpha=0.2, linewidth=0)
    axes.plot(at, mean, color=Colour.OURS, linewidth=1.8)
    axes.locator_params(axis="x", nbins=5)


def _mark_kept(axes, iteration: float) -> None:
    """A line at the kept rows, named above it, towards the side with more room."""
    right = iteration < sum(axes.get_xlim()) / 2
    axes.axvline(iteration, color=Colour.FAINT, linestyle="--", linewidth=1, zorder=0)
    axes.annotate(
        "these rows",
        (iteration, 1.0),
        (-3 if right else 3, 3),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="left" if right else "right",
    )


def _checks(result: Condensation) -> list[Check]:
    if not _enough_evaluations(SECTION.read(result.results).learning):
        return []
    noise = within_noise(result.results)
    if facts.keeps_last(result.results):
        said = "No: the rows are those after the last iteration, and none were chosen."
        return [Check("Chosen by luck?", said, heed=False, order=50, section="learning")]
    said = (
        "No: on tuning patients they stand out by more than networks differ." if noise is None else f"Perhaps, {noise}."
    )
    return [Check("Chosen by luck?", said, heed=noise is not None, order=50, section="learning")]


SECTION = Section(
    key="learning",
    title="How the rows were learned",
    order=10,
    result=_Result,
    measure=_measure,
    is_there=lambda results: SECTION.read(results).learning is not None,
    content=_content,
    checks=_checks,
)
