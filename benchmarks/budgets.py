"""What a budget asks for, cohort by cohort, and how many minutes that should take on this machine.

    python benchmarks/budgets.py [--preset default]

Minutes are the costs of a run's stages (rows
through the network) at the pace of training one network of that shape here. For small networks the pace differs between
stages; compare with what runs really took.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.cohort import Part, Parts
from aliquot.networks import Network, TrainSettings, train_networks
from aliquot.presets import BUDGETS
from aliquot.run.pipeline import PIPELINE
from aliquot.run.request import RequestOptions
from aliquot.run.stage import Run

COHORTS = {  # patients, shape of one row
    "SUPPORT2": (9_105, (70,)),
    "OUH": (161_955, (34,)),
    "PUH": (38_717, (34,)),
    "UHB": (98_750, (34,)),
    "eICU": (49_305, (402,)),
    "PhysioNet 2012, table": (12_000, (228,)),
    "PhysioNet 2012, series": (12_000, (48, 86)),
    "MIMIC-III": (21_139, (48, 60)),
}
ROWS_PER_CLASS = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="default")
    asked = parser.parse_args()
    head = f"{'experts':>8} {'epochs':>6} {'iterations':>10} {'evals':>5} {'networks':>8} {'minutes':>8}"
    print(f"{'cohort':<24} {'budget':<6} {head}")
    for cohort, (n, shape) in COHORTS.items():
        series, pace = len(shape) == 2, None
        for budget in BUDGETS:
            options = RequestOptions(preset=asked.preset, budget=budget, rows_per_class=ROWS_PER_CLASS)
            request = options.request(series=series)
            settings = request.settings
            run = Run(request=request, parts=parts(n, shape), networks=settings.network.build(shape, 2))
            pace = pace or seconds_per_row(run.networks.trained, shape)
            costs = [cost for stage in PIPELINE for cost in (stage.cost(run) or {}).values()]
            seconds = sum(sum(cost.passes) * pace + cost.seconds for cost in costs)
            match, expert = settings.match, settings.expert
            figures = f"{expert.count:>8} {expert.epochs:>6} {match.iterations:>10}"
            figures += f" {match.iterations // match.judge_every:>5} {settings.evaluation.final_networks:>8}"
            print(f"{cohort:<24} {budget:<6} {figures} {seconds / 60:>8.1f}", flush=True)


def seconds_per_row(network: Network, shape: tuple[int, ...], rows: int = 1024) -> float:
    """Seconds to pass one row forwards and backwards while training."""
    x = jnp.asarray(np.random.default_rng(0).standard_normal((rows, *shape)), jnp.float32)
    targets, keys = jnp.arange(rows) % 2.0, jax.random.split(jax.random.key(0), 1)
    settings = TrainSettings(epochs=2)
    jax.block_until_ready(train_networks(network, settings, x, targets, keys))
    since = time.perf_counter()
    jax.block_until_ready(train_networks(network, settings, x, targets, keys))
    return (time.perf_counter() - since) / (rows * settings.epochs)


def parts(n: int, shape: tuple[int, ...]) -> Parts:
    """Parts of the usual sizes, in which every value is 0."""
    sizes = (round(0.7 * n), round(0.15 * n), round(0.15 * n))
    zero, roles = np.zeros((), np.float32), np.repeat(np.arange(3, dtype=np.int8), sizes)
    made = [Part(np.broadcast_to(zero, (size, *shape)), np.zeros(size, np.int32)) for size in sizes]
    return Parts(*made, None, roles, (0.5, 0.5))  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    main()
