"""Which recipe suits a cohort? Presets and changes of them, by the tuning AUPRC of networks trained on the rows.

    python benchmarks/recipes.py --cohort simulated:eicu --presets default,default-eicu [--set network.hidden=[256]]
    python benchmarks/recipes.py --cohort physionet2012 --path DIR --folds 3 --try "match.data_lr=5 start=kmeans"

``--set`` changes all recipes, every ``--try`` makes one more of the first preset. held_out stays closed. ``--folds``
judges on all other patients, each once: differences that one tuning part cannot tell from chance show there.
``--store`` keeps experts and curves: recipes that share them train them once. ``start`` is the score of the rows before
matching, ``last`` after all iterations, ``best`` that of the rows which a run would release; the best of several looks
at the same few networks flatters.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from aliquot.cohort import HELD_OUT, Cohort, split_patients
from aliquot.cohort.roles import TRAIN, TUNING
from aliquot.methods import method_named
from aliquot.runs.pipeline import Request, prepare, task_of
from aliquot.runs.settings import load_settings
from aliquot.runs.source import Source
from aliquot.runs.store import Notebook, Store
from aliquot.seeds import streams

ROWS = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohort", required=True)
    parser.add_argument("--path", type=Path)
    parser.add_argument("--presets", default="default")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--try", action="append", default=[], dest="tries", metavar="NAME=VALUE …")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--store", type=Path)
    asked = parser.parse_args()
    cohort, _ = Source(file=str(asked.path or asked.cohort), cohort=asked.cohort).read()
    presets = asked.presets.split(",")
    recipes = [(preset, ()) for preset in presets] + [(presets[0], tuple(one.split())) for one in asked.tries]
    print(f"{asked.cohort}, {cohort.n:,} patients, {ROWS} rows per class, seed {asked.seed} {' '.join(asked.set)}")
    print(f"{'start':>6} {'last':>6} {'best':>15} {'at':>5} {'minutes':>7}  recipe")
    with tempfile.TemporaryDirectory() as scratch:
        shared = Store(asked.store or Path(scratch))
        for part in folds(cohort, asked.folds, asked.seed) if asked.folds else [cohort]:
            for preset, changes in recipes:
                print(tried(part, preset, (*asked.set, *changes), asked.seed, shared), *changes, flush=True)


def folds(cohort: Cohort, count: int, seed: int) -> Iterator[Cohort]:
    """The cohort with every patient who is not held out in the tuning part once."""
    roles = split_patients(cohort, seed=seed)
    others = np.flatnonzero(roles != HELD_OUT)
    patient = others if cohort.patient is None else cohort.patient[others]
    parted = StratifiedGroupKFold(count, shuffle=True, random_state=seed).split(others, cohort.labels[others], patient)
    for _, tuning in parted:
        split = np.where(roles == HELD_OUT, HELD_OUT, TRAIN).astype(roles.dtype)
        split[others[tuning]] = TUNING
        yield replace(cohort, split=split)


def tried(cohort: Cohort, preset: str, changes: tuple[str, ...], seed: int, shared: Store) -> str:
    """One line: how a recipe fares on tuning."""
    since = time.perf_counter()
    settings = load_settings(preset, series=cohort.series is not None, rows_per_class=ROWS, overrides=changes)
    request = Request(settings=settings, rows_per_class=ROWS, seed=seed, preset=preset)
    task = task_of(cohort, request, prepare(cohort, request), Notebook(), shared)
    found = method_named("btm").condense(task, settings, key=streams(seed)["condense"])
    scores, spread = (np.asarray(found.history[name]) for name in ("tuning", "tuning_std"))
    best = f"{scores.max():.4f} ± {spread[scores.argmax()]:.4f}"
    minutes = (time.perf_counter() - since) / 60
    return f"{scores[0]:>6.4f} {scores[-1]:>6.4f} {best:>15} {found.best_iteration:>5} {minutes:>7.1f}  {preset}"


if __name__ == "__main__":
    main()
