"""The figures of the report; each function draws one picture and says in words what it shows."""

import numpy as np

from aliquot.release.condensation import Condensation
from aliquot.release.report.facts import TRAINED_ON, spread
from aliquot.release.report.svg import BEST, FAINT, FULL, INK, OURS, RANDOM, Drawing, canvas, drawing, styled

COLOURS = {"random": RANDOM, "aliquot": OURS, "full": FULL, "full_best_epoch": BEST}
PATHS = {  # name, colour and line of the ways from an untrained to a trained expert
    "loss_sgd": ("SGD path", FULL, "--"),
    "loss_line": ("straight line", RANDOM, ":"),
    "loss_curve": ("Bézier curve", OURS, "-"),
}
POINTS = 150  # of a learning curve; more would not show


def scores(result: Condensation, metric: str) -> Drawing:
    """Dot and interval of one metric for every training set."""
    held_out = result.metrics["held_out"]
    found = {key: held_out[key][metric] for key in TRAINED_ON if key in held_out}
    with styled():
        figure, axes = canvas(height=2.2)
        for place, (key, summary) in enumerate(found.items()):
            _dot_and_interval(axes, place, summary, COLOURS[key], "o" if key == "aliquot" else "D")
        if "full_best_epoch" in found:
            axes.axvline(found["full_best_epoch"]["mean"], color=BEST, linestyle=":", linewidth=1, zorder=0)
        axes.set_yticks(range(len(found)), [TRAINED_ON[key].replace(", ", ",\n") for key in found])
        axes.set_ylim(len(found) - 0.5, -0.5)
        axes.margins(x=0.08)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(metric.upper())
        return drawing(
            figure,
            name=f"scores-{metric}",
            title=f"{metric.upper()} on held-out patients",
            description="; ".join(f"{TRAINED_ON[key]}: {spread(summary)}" for key, summary in found.items()),
            caption=f"{metric.upper()} on held-out patients: mean, and one standard deviation over networks.",
        )


def tuning(result: Condensation) -> Drawing | None:
    """AUPRC on the tuning patients while the rows were learned, with the chosen rows marked."""
    history = result.history
    if not len(history.get("judged_at", ())):
        return None
    at, mean, std = (np.asarray(history[name], float) for name in ("judged_at", "tuning", "tuning_std"))
    chosen = int(mean.argmax())  # as the search does: the first of the best
    with styled():
        figure, axes = canvas()
        _band(axes, at, mean, mean - std, mean + std)
        _mark_chosen(axes, at[chosen])
        axes.plot(at[chosen], mean[chosen], "o", color=INK, markersize=7)
        axes.set(xlabel="iteration", ylabel="AUPRC, tuning patients")
        return drawing(
            figure,
            name="tuning",
            title="AUPRC on the tuning patients by iteration",
            description=f"It starts at {mean[0]:.3f}, is highest at iteration {at[chosen]:.0f} with "
            f"{mean[chosen]:.3f}, whose rows were chosen, and ends at {mean[-1]:.3f}.",
            caption="Networks trained on the rows, on the tuning patients: mean and one standard deviation.",
        )


def matching_loss(result: Condensation) -> Drawing | None:
    """The matching loss over iterations, averaged over short stretches."""
    loss = np.asarray(result.history.get("loss", ()), float)
    if not np.isfinite(loss).any():
        return None
    at, mean, low, high = _stretches(loss)
    with styled():
        figure, axes = canvas()
        _band(axes, at, mean, low, high)
        best = result.metrics.get("tuning", {}).get("best_iteration")
        if best is not None:
            _mark_chosen(axes, best)
        axes.set(xlabel="iteration", ylabel="matching loss")
        return drawing(
            figure,
            name="matching-loss",
            title="Matching loss by iteration",
            description=f"The mean is {mean[0]:.3f} at the start and {mean[-1]:.3f} at the end.",
            caption="How far students end from the experts' target: mean, and range of the middle 80 %. "
            "1: no nearer than at the start.",
        )


def path_loss(result: Condensation) -> Drawing | None:
    """Training loss along the experts' path, the straight line and the Bézier curve; means over experts."""
    if result.curves is None:
        return None
    means = {key: np.mean(np.asarray(result.curves[key], float), axis=0) for key in PATHS}
    with styled():
        figure, axes = canvas()
        for key, (name, colour, line) in PATHS.items():
            axes.plot(result.curves["times"], means[key], line, color=colour, linewidth=2, label=name)
        axes.legend()
        axes.set(xlabel="position on the path (0: untrained, 1: trained)", ylabel="training loss")
        return drawing(
            figure,
            name="path-loss",
            title="Training loss along the path from untrained to trained experts",
            description="Mean loss on the whole way: "
            + "; ".join(f"{name} {means[key].mean():.3f}" for key, (name, *_) in PATHS.items()),
            caption="Training loss along the ways from untrained to trained networks; means over "
            f"{len(result.curves['loss_curve'])} experts.",
        )


def reliability(result: Condensation) -> Drawing | None:
    """Predicted against observed share of the last class, before and after the offset."""
    bins = result.metrics["calibration"].get("reliability")
    if not bins:
        return None
    points = {key: np.array([(p["predicted"], p["observed"]) for p in bins[key]]) for key in ("before", "after")}
    far = {key: np.abs(pairs[:, 0] - pairs[:, 1]).max() for key, pairs in points.items()}
    event = result.classes[-1]
    with styled():
        figure, axes = canvas(height=3.6)
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
            caption=f"Predicted and observed share of class {event} among held-out patients, in equal bins.",
        )


def _dot_and_interval(axes, place: int, summary: dict[str, float], colour: str, mark: str) -> None:
    mean, std = summary["mean"], summary["std"]
    axes.plot([mean - std, mean + std], [place, place], color=colour, linewidth=3, solid_capstyle="round")
    axes.plot(mean, place, mark, color=colour, markersize=8)
    axes.text(1.03, place, f"{mean:.3f}", transform=axes.get_yaxis_transform(), va="center")


def _band(axes, at: np.ndarray, mean: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    axes.fill_between(at, low, high, color=OURS, alpha=0.25, linewidth=0)
    axes.plot(at, mean, color=OURS, linewidth=1.8)
    axes.locator_params(axis="x", nbins=5)


def _mark_chosen(axes, iteration: float) -> None:
    """A line at the chosen rows, named on the side with more room."""
    right = iteration < sum(axes.get_xlim()) / 2
    axes.axvline(iteration, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    axes.annotate(
        "chosen rows",
        (iteration, 0.03),
        (5 if right else -5, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="left" if right else "right",
    )


def _stretches(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Position, mean, 10th and 90th percentile of the finite values of consecutive stretches."""
    numbers = np.flatnonzero(np.isfinite(values))
    parts = [values[part] for part in np.array_split(numbers, min(POINTS, len(numbers)))]
    at = [part.mean() + 1 for part in np.array_split(numbers, len(parts))]
    low, high = np.array([np.quantile(part, (0.1, 0.9)) for part in parts]).T
    return np.array(at), np.array([part.mean() for part in parts]), low, high
