"""Starting rows of PhysioNet 2012 as series: which start, which labels, how many epochs? Tuning AUPRC of TCNs.

    python benchmarks/series.py --path DIR [--store DIR] [--networks 1]

Nothing is matched here: the rows are those from which matching begins, and held_out stays closed. The experts are those
of ``aliquot condense --cohort physionet2012``; give that run's ``private/store`` to find them trained.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.cohort import Cohort
from aliquot.cohort.known import read_known
from aliquot.evaluate import TuningJudge
from aliquot.evaluate.protocol import hard_targets
from aliquot.matching.rows import ensemble_targets
from aliquot.methods import starting_rows
from aliquot.methods.trajectory import experts_of
from aliquot.runs.pipeline import Request, prepare, task_of
from aliquot.runs.settings import load_settings
from aliquot.runs.store import Notebook, Store
from aliquot.seeds import generator, streams

ROWS = 50
STARTS = ("real", "gaussian", "kmeans", "spread")
EPOCHS = (50, 250)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--networks", type=int, default=1)
    asked = parser.parse_args()
    request = Request(settings=load_settings(series=True), rows_per_class=ROWS)
    cohort = Cohort.from_records(read_known("physionet2012", asked.path))
    parts = prepare(cohort, request)
    memory = Notebook() if asked.store is None else Store(asked.store)
    task = task_of(cohort, request, parts, memory)
    expert_key, _, start_key, _ = jax.random.split(streams(0)["condense"], 4)
    experts = experts_of(task, request.settings, key=expert_key)
    print(f"{len(experts.end)} experts of {experts.epochs} epochs; {ROWS} rows per class, {asked.networks} networks")
    print(f"{'start':<10} {'labels':<9} {'epochs':>6}  {'AUPRC':>15}  {'s':>4}")
    for start in STARTS:
        x, labels = starting_rows(task.x, task.labels, ROWS, 2, start, rng=generator(start_key))
        kinds = {
            "classes": hard_targets(labels, 2),
            "experts": np.asarray(ensemble_targets(task.network, jnp.asarray(experts.end), jnp.asarray(x))),
        }
        for kind, targets in kinds.items():
            for epochs in EPOCHS:
                how = replace(request.settings.evaluation, search_epochs=epochs, search_networks=asked.networks)
                key = streams(0)["tuning networks"]
                judge = TuningJudge(task.network, how, parts.tuning.x, parts.tuning.labels, key)
                since = time.perf_counter()
                verdict = judge.rows(x, targets)
                took = time.perf_counter() - since
                shown = f"{verdict.mean:.4f} ± {verdict.std:.4f}"
                print(f"{start:<10} {kind:<9} {epochs:>6}  {shown:>15}  {took:4.0f}", flush=True)


if __name__ == "__main__":
    main()
