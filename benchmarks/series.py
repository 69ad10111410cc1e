"""PhysioNet 2012 as series: which start and labels? Tuning AUPRC of TCNs trained on rows that were not matched yet.

    python benchmarks/series.py --path DIR [--store DIR] [--networks 2]

held_out stays closed. The experts are those of ``aliquot condense --cohort physionet2012``; give that run's
``private/store`` to find them trained. How to match from there: ``benchmarks/recipes.py``.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from aliquot.cohort import Cohort
from aliquot.cohort.datasets import read_dataset
from aliquot.context import Context, InMemoryStore
from aliquot.evaluate import TuningJudge
from aliquot.evaluate.protocol import hard_targets
from aliquot.matching.rows import ensemble_targets
from aliquot.methods import MethodKeys, Task, starting_rows
from aliquot.methods.trajectory import experts_of
from aliquot.presets.settings import Settings
from aliquot.run.request import RequestOptions
from aliquot.run.stage import Run
from aliquot.run.stages.prepare import prepare
from aliquot.run.store import FolderStore
from aliquot.seeds import generator, streams

ROWS = 50
STARTS = ("real", "gaussian", "kmeans", "spread")
EPOCHS = (50, 250)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--networks", type=int, default=2)
    asked = parser.parse_args()
    options = RequestOptions(rows_per_class=ROWS, changes=(f"evaluation.search_networks={asked.networks}",))
    request = options.request(series=True)
    cohort = Cohort.from_records(read_dataset("physionet2012", asked.path))
    shared = InMemoryStore() if asked.store is None else FolderStore(asked.store)
    run = prepare(Run(cohort=cohort, request=request, context=Context(shared=shared), keep_paths=True))
    chosen, parts, network = request.settings, run.parts, run.networks.trained
    print(f"{ROWS} rows per class, {asked.networks} networks")
    print(f"{'start':<10} {'labels':<9} {'epochs':>6}  {'AUPRC':>15}  {'s':>4}")
    for name, x, targets in starts(run.task, chosen):
        for epochs in EPOCHS:
            how = replace(chosen.evaluation, search_epochs=epochs)
            judge = TuningJudge(network, how, parts.tuning.x, parts.tuning.labels, streams(0)["tuning networks"])
            since = time.perf_counter()
            verdict = judge.rows(x, targets)
            shown = f"{verdict.mean:.4f} ± {verdict.std:.4f}"
            print(f"{name:<20} {epochs:>6}  {shown:>15}  {time.perf_counter() - since:4.0f}", flush=True)


def starts(task: Task, settings: Settings) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Rows from which matching could begin, with classes and with what the experts think of them."""
    keys = MethodKeys.of(streams(0)["condense"])
    ends = jnp.asarray(experts_of(task, settings, key=keys.expert).end)
    for start in STARTS:
        x, labels = starting_rows(task.x, task.labels, ROWS, 2, start, rng=generator(keys.start))
        yield f"{start:<10} classes", x, hard_targets(labels, 2)
        yield f"{start:<10} experts", x, np.asarray(ensemble_targets(task.network, ends, jnp.asarray(x)))


if __name__ == "__main__":
    main()
