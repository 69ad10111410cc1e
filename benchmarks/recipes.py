"""Which recipe suits a cohort? Presets and changes of them, by the AUPRC of networks trained on the rows.

    python benchmarks/recipes.py --cohort simulated:eicu --presets default,default-eicu [--set network.hidden=[256]]
    python benchmarks/recipes.py --cohort physionet2012-table --path DIR --splits 6 --try "start=real match.data_lr=0.1"

``--set`` changes all recipes, every ``--try`` makes one more of the first preset. The cohort's own held_out stays
closed. ``start`` is the tuning score of the rows before matching, ``last`` after all iterations, ``best`` that of the
rows which a run would release; the best of several evaluations by the same few networks flatters, and one tuning part
cannot tell small differences from chance. Hence ``--splits``: the patients who are not held out are split afresh so
often, and networks on the rows and on all patients (these trained as the preset says, whatever ``evaluation`` a recipe
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
from aliquot.context import Context
from aliquot.evaluate.calibration import score_logits
from aliquot.evaluate.held_out import score_full_data, score_rows
from aliquot.run.request import Request, RequestOptions
from aliquot.run.source import Source
from aliquot.run.stage import Run, run_stages
from aliquot.run.stages.condense import CONDENSE
from aliquot.run.stages.prepare import PREPARE
from aliquot.run.store import FolderStore

ROWS = 50


@dataclass(frozen=True)
class Recipe:
    """A preset with changes: those of all recipes, and its own."""

    preset: str
    common: tuple[str, ...]
    own: tuple[str, ...] = ()
    method: str | None = None  # None: the preset's

    def request(self, cohort: Cohort, seed: int, *, changed: bool = True) -> Request:
        """What is asked for a cohort, with or without the recipe's own changes."""
        changes = self.common + (self.own if changed else ())
        options = RequestOptions(
            preset=self.preset, method=self.method, rows_per_class=ROWS, seed=seed, changes=changes
        )
        return options.request(series=cohort.series is not None)

    def __str__(self) -> str:
        return " ".join((self.preset, *([self.method] if self.method else []), *self.own))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohort", required=True)
    parser.add_argument("--path", type=Path)
    parser.add_argument("--presets", default="default")
    parser.add_argument("--method", help="by default the preset's")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--try", action="append", default=[], dest="tries", metavar="NAME=VALUE …")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--splits", type=int, default=0)
    parser.add_argument("--store", type=Path)
    asked = parser.parse_args()
    cohort = Source(file=str(asked.path or asked.cohort), cohort=asked.cohort).read()
    first, *others = (Recipe(preset, tuple(asked.set), method=asked.method) for preset in asked.presets.split(","))
    recipes = [first, *others, *(replace(first, own=tuple(one.split())) for one in asked.tries)]
    print(f"{asked.cohort}, {cohort.n:,} patients, {ROWS} rows per class, seed {asked.seed} {' '.join(asked.set)}")
    scored = f"{'split':>5} {'rows':>6} {'full':>6} {'share':>7} " if asked.splits else ""
    print(f"{scored}{'start':>6} {'last':>6} {'best':>15} {'at':>5} {'minutes':>7}  recipe")
    seeds = range(asked.seed + 1, asked.seed + 1 + asked.splits) if asked.splits else (asked.seed,)
    part = outside_held_out(cohort, asked.seed) if asked.splits else cohort
    shares = {recipe: [] for recipe in recipes}
    with tempfile.TemporaryDirectory() as scratch:
        shared = FolderStore(asked.store or Path(scratch))
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


def tried(cohort: Cohort, recipe: Recipe, seed: int, shared: FolderStore, *, scored: bool) -> tuple[str, float | None]:
    """How a recipe fares on tuning, as figures of a line, and where ``scored``, on held_out: its share of full data."""
    since, share = time.perf_counter(), None
    asked = Run(cohort=cohort, request=recipe.request(cohort, seed), context=Context(shared=shared), keep_paths=True)
    run = run_stages(asked, (PREPARE, CONDENSE))
    found, parts, keys = run.condensed, run.parts, run.keys
    scores, spread = (np.asarray(found.history[name]) for name in ("tuning", "tuning_std"))
    best = f"{scores.max():.4f} ± {spread[scores.argmax()]:.4f}"
    line = f"{scores[0]:>6.4f} {scores[-1]:>6.4f} {best:>15} {found.best_iteration:>5}"
    if scored:
        network, how = run.networks.trained, run.request.settings.evaluation
        correction, logits = score_rows(network, how, parts, [(found.x, found.targets)], keys)
        rows = score_logits(parts.held_out.labels, logits, correction).auprc.mean
        as_preset = recipe.request(cohort, seed, changed=False).settings.evaluation
        all_patients, _ = score_full_data(network, as_preset, parts, keys, run.context)
        full = all_patients["full_best_epoch"].auprc.mean
        share = rows / full
        line = f"{seed:>5} {rows:>6.4f} {full:>6.4f} {share:>7.2%} {line}"
    return f"{line} {(time.perf_counter() - since) / 60:>7.1f}", share


if __name__ == "__main__":
    main()
