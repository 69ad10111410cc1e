"""Which recipe suits a cohort? Presets and changes of them, by the AUPRC of networks trained on the rows.

    python benchmarks/recipes.py --cohort simulated:eicu --presets default,default-eicu [--set network.hidden=[256]]
    python benchmarks/recipes.py --cohort physionet2012-table --path DIR --splits 6 --try "start=real match.data_lr=0.1"

``--set`` changes all recipes, every ``--try`` makes one more of the first preset. The cohort's own held_out stays
closed. ``start`` is the tuning score of the rows before matching, ``last`` after all iterations, ``best`` that of the
rows which a run would release; the best of several looks at the same few networks flatters, and one tuning part cannot
tell small differences from chance. Hence ``--splits``: the patients who are not held out are split afresh that many
times, and networks on the rows and on all patients (these trained as the preset says, whatever ``evaluation`` a recipe
changes) are scored on the part that then is held out. Splits share patients, so the error of a mean is a lower bound.
``--store`` keeps what is trained on all patients: recipes that share experts and curves train them once.
"""

import argparse
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aliquot.cohort import HELD_OUT, Cohort, split_patients
from aliquot.evaluate.calibration import summarised
from aliquot.evaluate.held_out import score_full_data, score_rows
from aliquot.methods import method_named
from aliquot.runs.pipeline import Request, prepare, task_of
from aliquot.runs.settings import load_settings
from aliquot.runs.source import Source
from aliquot.runs.store import Notebook, Store
from aliquot.seeds import streams

ROWS = 50


@dataclass(frozen=True)
class Recipe:
    """A preset with changes: those of all recipes, and its own."""

    preset: str
    common: tuple[str, ...]
    own: tuple[str, ...] = ()

    def settings(self, cohort: Cohort, *, changed: bool = True):
        """The settings for a cohort, with or without the recipe's own changes."""
        overrides = self.common + (self.own if changed else ())
        return load_settings(self.preset, series=cohort.series is not None, rows_per_class=ROWS, overrides=overrides)

    def __str__(self) -> str:
        return " ".join((self.preset, *self.own))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohort", required=True)
    parser.add_argument("--path", type=Path)
    parser.add_argument("--presets", default="default")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--try", action="append", default=[], dest="tries", metavar="NAME=VALUE …")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--splits", type=int, default=0)
    parser.add_argument("--store", type=Path)
    asked = parser.parse_args()
    cohort, _ = Source(file=str(asked.path or asked.cohort), cohort=asked.cohort).read()
    first, *others = (Recipe(preset, tuple(asked.set)) for preset in asked.presets.split(","))
    recipes = [first, *others, *(replace(first, own=tuple(one.split())) for one in asked.tries)]
    print(f"{asked.cohort}, {cohort.n:,} patients, {ROWS} rows per class, seed {asked.seed} {' '.join(asked.set)}")
    scored = f"{'split':>5} {'rows':>6} {'full':>6} {'share':>7} " if asked.splits else ""
    print(f"{scored}{'start':>6} {'last':>6} {'best':>15} {'at':>5} {'minutes':>7}  recipe")
    seeds = range(asked.seed + 1, asked.seed + 1 + asked.splits) if asked.splits else (asked.seed,)
    part = outside_held_out(cohort, asked.seed) if asked.splits else cohort
    shares = {recipe: [] for recipe in recipes}
    with tempfile.TemporaryDirectory() as scratch:
        shared = Store(asked.store or Path(scratch))
        for seed in seeds:
            for recipe in recipes:
                figures, share = tried(part, recipe, seed, shared, scored=asked.splits > 0)
                print(f"{figures}  {recipe}", flush=True)
                shares[recipe].append(share)
    for recipe, found in shares.items() if asked.splits > 1 else ():
        error = np.std(found, ddof=1) / len(found) ** 0.5
        print(f"mean share {np.mean(found):6.2%} ± {error:.2%}, worst {min(found):6.2%}  {recipe}")


def outside_held_out(cohort: Cohort, seed: int) -> Cohort:
    """The patients who are not held out at ``seed``, to be split afresh."""
    return replace(cohort.take(split_patients(cohort, seed=seed) != HELD_OUT), split=None)


def tried(cohort: Cohort, recipe: Recipe, seed: int, shared: Store, *, scored: bool) -> tuple[str, float | None]:
    """How a recipe fares on tuning, as figures of a line, and where ``scored``, on held_out: its share of full data."""
    since, share = time.perf_counter(), None
    settings, keys = recipe.settings(cohort), streams(seed)
    request = Request(settings=settings, rows_per_class=ROWS, seed=seed, preset=recipe.preset)
    parts = prepare(cohort, request)
    task = task_of(cohort, request, parts, Notebook(), shared)
    found = method_named("btm").condense(task, settings, key=keys["condense"])
    scores, spread = (np.asarray(found.history[name]) for name in ("tuning", "tuning_std"))
    best = f"{scores.max():.4f} ± {spread[scores.argmax()]:.4f}"
    line = f"{scores[0]:>6.4f} {scores[-1]:>6.4f} {best:>15} {found.best_iteration:>5}"
    if scored:
        network = settings.network.network(parts.train.x.shape[1:], cohort.n_classes)
        offset, logits = score_rows(network, settings.evaluation, parts, [(found.x, found.targets)], keys=keys)
        rows = summarised(parts.held_out.labels, logits, offset)["auprc"]["mean"]
        as_preset = recipe.settings(cohort, changed=False).evaluation
        all_patients, _ = score_full_data(network, as_preset, parts, keys=keys, judge=task.judge, memory=shared)
        full = all_patients["full_best_epoch"]["auprc"]["mean"]
        share = rows / full
        line = f"{seed:>5} {rows:>6.4f} {full:>6.4f} {share:>7.2%} {line}"
    return f"{line} {(time.perf_counter() - since) / 60:>7.1f}", share


if __name__ == "__main__":
    main()
