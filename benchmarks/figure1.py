"""The three pictures of the paper's Figure 1, on the embedded cohort: paths, loss along them, matching loss over time.

    python benchmarks/figure1.py [--iterations 2000] [--seed 0] [--out docs/figures]

(a) SGD path, straight line and Bézier curve of one expert, in the plane of their first two principal components;
(b) the loss on training patients along the three, mean over the experts shown; (c) the matching loss when a student
follows segments of each, everything else equal. Writes figure-1.png, and its numbers as figure-1.csv.
"""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from aliquot.cohort.embedded import support2
from aliquot.curves import Curve, Geometry, bezier_point, fit_curves, measure, straight
from aliquot.hooks import Verdict
from aliquot.methods import Task, method_named
from aliquot.methods.trajectory import experts_of
from aliquot.runs.pipeline import Request, prepare, task_of
from aliquot.runs.settings import Settings, load_settings
from aliquot.runs.store import Notebook
from aliquot.seeds import streams

SHOWN = 5  # experts whose paths are measured
SMOOTH = 50  # iterations of a moving mean
PATHS = {"sgd": ("SGD path", "#7a7a7a"), "linear": ("straight line", "#d08a1f"), "bezier": ("Bézier curve", "#1b6ca8")}


class FirstLook:
    """A judge that chooses the expert length as usual but does not look at rows: only losses are wanted."""

    def __init__(self, judge):
        self.x, self.score = judge.x, judge.score

    def rows(self, x: np.ndarray, targets: np.ndarray) -> Verdict:
        """All rows are equal."""
        return Verdict(0.0, 0.0)


def task(settings: Settings, seed: int) -> Task:
    """The embedded cohort with 50 rows per class."""
    cohort, request = support2(), Request(settings=settings, seed=seed)
    whole = task_of(cohort, request, prepare(cohort, request), Notebook(), Notebook())
    return Task(whole.network, whole.x, whole.labels, 50, FirstLook(whole.judge), shared=whole.shared, dense=True)


def matching_losses(asked: Task, settings: dict[str, Settings], key: jax.Array) -> pd.DataFrame:
    """The matching loss of every iteration, one column per path."""
    losses = {
        path: method_named(f"btm+{path}").condense(asked, settings[path], key=key).history["loss"] for path in PATHS
    }
    return pd.DataFrame(losses)


def ways(asked: Task, settings: Settings, key: jax.Array) -> tuple[Geometry, dict[str, np.ndarray]]:
    """Geometry of the first curves, and the points (T, P) of one expert's three paths."""
    expert_key, curve_key, *_ = jax.random.split(key, 4)
    experts = experts_of(asked, settings, key=expert_key)
    x, targets = jnp.asarray(asked.x), asked.targets
    curves = fit_curves(
        asked.network, settings.curve, experts.start, experts.end, x, targets, key=curve_key, memory=asked.common
    )
    few = Curve(*(part[:SHOWN] for part in curves))
    geometry = measure(asked.network, few, np.stack(experts.paths[:SHOWN]), x[::3], targets[::3])
    curve = Curve(*(part[0] for part in curves))
    times = np.linspace(0, 1, 50)
    points = {
        "sgd": np.asarray(experts.paths[0]),
        "linear": np.stack([bezier_point(straight(curve.start, curve.end), t) for t in times]),
        "bezier": np.stack([bezier_point(curve, t) for t in times]),
    }
    return geometry, points


def plane(points: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The points in the plane of the first two principal components of all of them."""
    everything = np.concatenate(list(points.values()))
    centre = everything.mean(axis=0)
    _, _, axes = np.linalg.svd(everything - centre, full_matrices=False)
    return {name: (part - centre) @ axes[:2].T for name, part in points.items()}


def draw(points: dict[str, np.ndarray], geometry: Geometry, losses: pd.DataFrame, out: Path) -> None:
    """The three pictures side by side."""
    figure, (where, along, over) = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    mean = {"sgd": geometry.loss_sgd, "linear": geometry.loss_line, "bezier": geometry.loss_curve}
    for path, (name, colour) in PATHS.items():
        where.plot(*points[path].T, color=colour, label=name, marker="." if path == "sgd" else None)
        along.plot(geometry.times, mean[path].mean(axis=0), color=colour, label=name)
        over.plot(losses[path].rolling(SMOOTH, min_periods=1).mean(), color=colour, label=name)
    for mark, index in (("start", 0), ("end", -1)):
        where.annotate(mark, points["bezier"][index], textcoords="offset points", xytext=(4, 6))
    where.set(title="(a) one expert in parameter space", xlabel="principal component 1", ylabel="principal component 2")
    along.set(title=f"(b) loss along the path, {SHOWN} experts", xlabel="t", ylabel="cross-entropy, training patients")
    over.set(title="(c) matching loss", xlabel="iteration", ylabel=f"L, moving mean of {SMOOTH}", yscale="log")
    for axes in (where, along, over):
        axes.spines[["top", "right"]].set_visible(False)
    over.legend(frameon=False)
    figure.savefig(out / "figure-1.png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    asked = parser.parse_args()
    overrides = (f"match.iterations={asked.iterations}", f"match.judge_every={asked.iterations}")
    settings = {path: load_settings(method=f"btm+{path}", overrides=overrides) for path in PATHS}
    problem, key = task(settings["bezier"], asked.seed), streams(asked.seed)["condense"]
    losses = matching_losses(problem, settings, key)
    geometry, points = ways(problem, settings["bezier"], key)
    asked.out.mkdir(parents=True, exist_ok=True)
    losses.to_csv(asked.out / "figure-1.csv", index_label="iteration", float_format="%.4f")
    draw(plane(points), geometry, losses, asked.out)
    print("matching loss, mean of the last 200 iterations:")
    print(losses.tail(200).mean().round(4).to_string())
    print("mean loss along the path:")
    for path, loss in (("sgd", geometry.loss_sgd), ("linear", geometry.loss_line), ("bezier", geometry.loss_curve)):
        print(f"  {path:<8}{loss.mean():.4f}")
    print(f"bend of the curves: {geometry.bend.mean():.3f}; {geometry.epochs} epochs")


if __name__ == "__main__":
    main()
