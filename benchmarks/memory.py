"""How much memory a run of eICU's shape takes, and how much disk its curves take beside dense trajectories.

    python benchmarks/memory.py [--epochs 2] [--rows 49305] [--block 10]

Random patients, but the real sizes: 402 inputs, MLP-256, 50 experts of which only the ends are kept, the
paper's 300 steps per curve, 20 matching iterations at 50 rows per class. Neither figure depends on the number
of epochs, which is why there are only a few.
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.context import Context, Verdict
from aliquot.curves import CurveSettings, fit_curves, straight
from aliquot.curves.fit import curves_name
from aliquot.experts import ExpertSettings, train_experts
from aliquot.matching import Curves, MatchSettings, Rows, SegmentSettings, Slots, match
from aliquot.networks import Network, mlp
from aliquot.run.store import FolderStore

INPUTS, HIDDEN, COUNT = 402, 256, 50
DENSE_EPOCHS = 100  # of the paper's experts
ROWS_PER_CLASS = 50
EXPECTED_RATIO = (DENSE_EPOCHS + 1) / 3  # snapshots of a dense trajectory over start, control and end


class Indifferent:
    """A judge to whom all rows are equal: judging is no part of what is measured."""

    x = np.zeros((1, INPUTS), np.float32)

    def score(self, logits: np.ndarray) -> float:
        """Nothing is better than anything else."""
        return 0.0

    def rows(self, x: np.ndarray, targets: np.ndarray) -> Verdict:
        """Nothing is better than anything else."""
        return Verdict(0.0, 0.0)


def random_patients(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A random table and labels from a noisy linear rule, about one in ten positive."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal((rows, INPUTS), dtype=np.float32)
    score = x @ generator.standard_normal(INPUTS, dtype=np.float32) / np.sqrt(INPUTS)
    score += generator.standard_normal(rows, dtype=np.float32)
    return x, (score > np.quantile(score, 0.9)).astype(np.float32)


def peak_bytes() -> int:
    """The largest resident size of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def report(stage: str, began: float) -> None:
    """Print seconds and peak at the end of a stage."""
    seconds = time.perf_counter() - began
    print(f"  {stage:<12}{seconds:>8.1f} s   peak so far {peak_bytes() / 1e9:.2f} GB", flush=True)


def run(settings: argparse.Namespace, network: Network, store: FolderStore) -> int:
    """Experts, curves and matching on random patients, the peak printed after each; bytes of the curves on disk."""
    began = time.perf_counter()
    x, targets = (jnp.asarray(part) for part in random_patients(settings.rows))
    keys = jax.random.split(jax.random.key(0), 3)
    report("patients", began)
    expert_settings = ExpertSettings(count=COUNT, epochs=settings.epochs, block=settings.block)
    context = Context(judge=Indifferent(), store=store)
    experts = train_experts(network, expert_settings, x, targets, key=keys[0], context=context)
    report("experts", began)
    curve_settings = CurveSettings(steps=settings.curve_steps)
    lines = straight(jnp.asarray(experts.start), jnp.asarray(experts.end))
    curves = fit_curves(network, curve_settings, lines, x, targets, key=keys[1], context=context)
    report("curves", began)
    numbers = np.concatenate([np.flatnonzero(targets == label)[:ROWS_PER_CLASS] for label in (0, 1)])
    match(
        network,
        MatchSettings(iterations=20, judge_every=10),
        Slots(),
        Curves(curves, SegmentSettings()),
        Rows(x[numbers], targets[numbers]),
        key=keys[2],
        context=context,
    )
    report("matching", began)
    return store.size(*experts.names["experts"], curves_name(curve_settings, curves, keys[1]))


def compare_disk(network: Network, store: FolderStore, curves: int) -> None:
    """Print the bytes of the curves, and of dense trajectories as the same store would keep them."""
    generator = np.random.default_rng(1)
    path = generator.standard_normal((1, DENSE_EPOCHS + 1, network.n_parameters), dtype=np.float32)
    store.put("dense", {"path": path})
    dense = COUNT * store.size("dense")
    print(f"  curves, {COUNT} experts: {curves / 1e6:.1f} MB (start, end and control point)")
    print(
        f"  dense, {COUNT} experts of {DENSE_EPOCHS} epochs: {dense / 1e6:.1f} MB "
        f"({COUNT} times the file of one path of {DENSE_EPOCHS + 1} snapshots, stored the same way)"
    )
    print(f"  ratio: {dense / curves:.1f} × (expected about {EXPECTED_RATIO:.0f} ×)")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=2, help="epochs per expert")
    parser.add_argument("--rows", type=int, default=49_305, help="patients")
    parser.add_argument("--curve-steps", type=int, default=300, help="steps per curve")
    parser.add_argument("--block", type=int, default=10, help="experts per compiled call")
    return parser.parse_args()


def main() -> None:
    settings, network = options(), mlp(INPUTS, 2, (HIDDEN,))
    print(f"memory: {COUNT} experts of {network.n_parameters} parameters, {vars(settings)}")
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(Path(folder) / "private")
        curves = run(settings, network, store)
        print("disk:")
        compare_disk(network, store, curves)


if __name__ == "__main__":
    main()
