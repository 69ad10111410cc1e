"""Around rows, which points serve other models best?

    python benchmarks/expand.py --cohort support2
    python benchmarks/expand.py --cohort simulated:puh --patients 16000 [--splits 2]

Per split the rows are condensed once. Ten networks trained on them label points that are drawn in each of several ways;
gradient boosting and a random forest are trained on those and scored on tuning (AUPRC). The held-out part stays closed.
Beside them: the same models trained on the rows alone, and on all training patients.
"""

import argparse
from collections.abc import Callable, Iterator

import jax
import numpy as np

from aliquot.cohort import Encoder
from aliquot.cohort.embedded import support2
from aliquot.context import Context, InMemoryStore
from aliquot.evaluate import Training
from aliquot.evaluate.other_models import transfer_metrics
from aliquot.evaluate.protocol import hard_targets
from aliquot.release.expand import OPINIONS, as_records, column_of, opinion
from aliquot.run.request import RequestOptions
from aliquot.run.source import Source
from aliquot.run.stage import Run, run_stages
from aliquot.run.stages.condense import CONDENSE
from aliquot.run.stages.prepare import PREPARE

MODELS = ("gradient boosting", "random forest")
Draw = Callable[[np.ndarray, Encoder, int, np.random.Generator], np.ndarray]


def around(noise: float) -> Draw:
    """A row and noise."""

    def draw(x, encoder, n, rng):
        return x[rng.integers(len(x), size=n)] + noise * x.std(axis=0) * rng.standard_normal((n, x.shape[1]))

    return draw


def between(noise: float) -> Draw:
    """A point between two rows, and noise."""

    def draw(x, encoder, n, rng):
        one, other = x[rng.integers(len(x), size=(2, n))]
        share = rng.random((n, 1))
        return share * one + (1 - share) * other + noise * x.std(axis=0) * rng.standard_normal((n, x.shape[1]))

    return draw


def crossed(noise: float, share: float) -> Draw:
    """A row with some columns of other rows, and noise."""

    def draw(x, encoder, n, rng):
        column = column_of(encoder)
        swapped = rng.random((n, column.max() + 1)) < share
        other = rng.integers(len(x), size=swapped.shape)
        own = rng.integers(len(x), size=(n, 1))
        source = np.where(swapped, other, own)[:, column]
        z = x[source, np.arange(x.shape[1])]
        return z + noise * x.std(axis=0) * rng.standard_normal(z.shape)

    return draw


WAYS = {
    "noise 0.7": (around(0.7), 20_000),
    "crossed 0.3, noise 0.7": (crossed(0.7, 0.3), 20_000),
    "between two, noise 0.5": (between(0.5), 20_000),
    "crossed 0.3, noise 0.5": (crossed(0.5, 0.3), 20_000),
    "noise 1.0": (around(1.0), 20_000),
    "noise 0.5": (around(0.5), 20_000),
    "noise 0.7, n = 5,000": (around(0.7), 5_000),
    "crossed 0.6, noise 0.5": (crossed(0.5, 0.6), 20_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohort", default="support2")
    parser.add_argument("--patients", type=int, help="only the first so many")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--rows", type=int, default=50, help="rows per class")
    asked = parser.parse_args()
    embedded = asked.cohort == "support2"
    cohort = support2() if embedded else Source(file=asked.cohort, cohort=asked.cohort).read()
    cohort = cohort.take(np.arange(min(cohort.n, asked.patients or cohort.n)))
    print(
        f"{asked.cohort}, {cohort.n:,} patients, {asked.rows} rows per class; AUPRC on tuning, share of all patients'"
    )
    print("split  " + "".join(f"{model:>24}" for model in MODELS))
    for seed in range(1, 1 + asked.splits):
        bar: dict[str, float] = {}
        for way, scores in scores_of(cohort, asked.rows, seed):
            bar = bar or scores
            cells = [f"{scores[model]:.3f} ({scores[model] / bar[model]:.1%})" for model in MODELS]
            print(f"{seed:>5}  " + "".join(f"{cell:>24}" for cell in cells) + f"  {way}", flush=True)


def scores_of(cohort, rows: int, seed: int) -> Iterator[tuple[str, dict[str, float]]]:
    """By way of drawing points, the AUPRC of each model."""
    request = RequestOptions(method="bfm", rows_per_class=rows, seed=seed).request()
    run = run_stages(Run(cohort=cohort, request=request, context=Context(store=InMemoryStore())), (PREPARE, CONDENSE))
    parts, x, targets = run.parts, run.condensed.x, run.condensed.targets
    how = request.settings.evaluation
    training = Training(run.networks.trained, how.training(how.final_epochs))
    thetas = training.train(x, targets, networks=OPINIONS, key=jax.random.key(0))

    def scored(x, targets):
        return {
            name: transfer_metrics(name, x, targets, parts.tuning.x, parts.tuning.labels, seed=0).auprc
            for name in MODELS
        }

    yield "all patients", scored(parts.train.x, hard_targets(parts.train.labels, parts.n_classes))
    yield "the rows", scored(x, targets)
    for way, (draw, n) in WAYS.items():
        points = as_records(parts.encoder, draw(x, parts.encoder, n, np.random.default_rng(0)))
        yield way, scored(points, opinion(training.network, thetas, points))


if __name__ == "__main__":
    main()
