"""How fast matching and expert training are beside plain PyTorch, on this machine and in this run.

    python benchmarks/speed.py [--quick]

Every line times both sides alternately and compares their fastest repeats, compilation excluded. Before timing a
shape, both sides must agree on the matching loss and on both gradients of one iteration.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch_reference as reference

from aliquot.curves import Curve, straight
from aliquot.matching import MetaGradient, Rows, draw_segment, meta_gradient
from aliquot.matching.loop import begin, run_block, student_loss
from aliquot.networks import Network, TrainSettings, mlp, train_networks
from aliquot.runs.settings import load_settings

SETTINGS = load_settings("paper").match
AGREEMENT = 1e-3  # relative, in float32


@dataclass(frozen=True)
class Shape:
    """One size of matching problem, and how many times faster than PyTorch it should be."""

    name: str
    inputs: int
    hidden: int
    rows: int
    target: float | None

    @property
    def network(self) -> Network:
        """The network of this shape."""
        return mlp(self.inputs, 2, (self.hidden,))

    def problem(self) -> tuple[Curve, Rows]:
        """Five straight curves between random parameters, and random rows, half of each class."""
        starts, noise, x = jax.random.split(jax.random.key(0), 3)
        start = jax.vmap(self.network.init)(jax.random.split(starts, 5))
        end = start + 0.1 * jax.random.normal(noise, start.shape)
        labels = (jnp.arange(self.rows) >= self.rows // 2).astype(float)
        return straight(start, end), Rows(jax.random.normal(x, (self.rows, self.inputs)), labels)


SHAPES = (
    Shape("CURIAL 27→64→1, 100 rows", 27, 64, 100, 10.0),
    Shape("CURIAL 27→64→1, 1 000 rows", 27, 64, 1000, 8.0),
    Shape("eICU 402→256→1, 100 rows", 402, 256, 100, None),
    Shape("eICU 402→256→1, 1 000 rows", 402, 256, 1000, 2.5),
)
LARGEST = SHAPES[-1]


def fastest(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Seconds of the fastest repeat of each piece of work, all taken in turns after one unmeasured round."""
    seconds = {name: float("inf") for name in works}
    for work in works.values():
        work()
    for _ in range(repeats):
        for name, work in works.items():
            before = time.perf_counter()
            work()
            seconds[name] = min(seconds[name], time.perf_counter() - before)
    return seconds


def ours(shape: Shape, gradient: str, iterations: int) -> Callable[[], object]:
    """A compiled block of our iterations."""
    settings = replace(SETTINGS, meta_gradient=gradient)
    curves, rows = shape.problem()
    state, key = begin(settings, rows), jax.random.key(1)
    return lambda: jax.block_until_ready(run_block(shape.network, settings, curves, state, key, iterations))


def theirs(shape: Shape, full: bool, iterations: int) -> Callable[[], object]:
    """A block of PyTorch iterations."""
    curves, rows = shape.problem()
    tensors = [_tensor(part) for part in curves]
    options = {"hidden": shape.hidden, "steps": SETTINGS.student_steps, "full": full, "iterations": iterations}
    return partial(reference.run_block, tensors, _tensor(rows.x), _tensor(rows.labels), **options)


def check_agreement(shape: Shape, full: bool) -> float:
    """The largest relative difference between both sides' loss and gradients; an error if it is not small."""
    curves, rows = shape.problem()
    segment = draw_segment(curves, SETTINGS.segment, jax.random.key(2))
    mine = _our_gradient(shape, rows, *segment, full=full)
    x = _tensor(rows.x).requires_grad_()
    lr = torch.tensor(SETTINGS.student_lr, requires_grad=True)
    options = {"hidden": shape.hidden, "steps": SETTINGS.student_steps, "full": full}
    there = reference.Segment(*map(_tensor, segment))
    loss = reference.matching_loss(there, x, _tensor(rows.labels), lr, **options)
    loss.backward()
    pairs = (mine.loss, loss.detach()), (mine.rows.x, x.grad), (mine.student_lr, lr.grad)
    worst = max(_relative_difference(np.asarray(a), b.numpy()) for a, b in pairs)
    if not worst < AGREEMENT:
        raise RuntimeError(f"{shape.name}: the two sides differ by {worst:.1e}, more than {AGREEMENT}")
    return worst


@partial(jax.jit, static_argnames=("shape", "full"))
def _our_gradient(shape: Shape, rows: Rows, start, target, *, full: bool) -> MetaGradient:
    loss, lr = student_loss(shape.network, SETTINGS), jnp.float32(SETTINGS.student_lr)
    return meta_gradient(loss, rows, lr, start, target, steps=SETTINGS.student_steps, full=full)


def _relative_difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def _tensor(array) -> torch.Tensor:
    return torch.from_numpy(np.array(array))


def compare_matching(shape: Shape, quick: bool) -> float:
    """Print the lines of one shape; seconds of our first-order iteration."""
    worst = max(check_agreement(shape, full) for full in (False, True))
    small = shape.rows * shape.inputs * shape.hidden < 10_000_000
    our_block, their_block = (200, 20) if small else (10, 3)
    works = {
        "first-order, ours": ours(shape, "first_order", our_block),
        "full, ours": ours(shape, "full", our_block),
        "full, PyTorch": theirs(shape, True, their_block),
        "first-order, PyTorch": theirs(shape, False, their_block),
    }
    blocks = {name: our_block if "ours" in name else their_block for name in works}
    seconds = {name: total / blocks[name] for name, total in fastest(works, 3 if quick else 10).items()}
    print(f"{shape.name}   (one iteration; loss and gradients agree to {worst:.0e})")
    for mine, other, target in (
        ("first-order, ours", "full, PyTorch", shape.target),
        ("first-order, ours", "first-order, PyTorch", None),
        ("full, ours", "full, PyTorch", None),
    ):
        print_line(mine, seconds[mine], other, seconds[other], target)
    return seconds["first-order, ours"]


def compare_experts(quick: bool) -> None:
    """Print the line of expert training: 50 MLP-64 on 10 000 rows of 27 features for five epochs."""
    count, hidden, dropout, settings = 50, 64, 0.25, TrainSettings(epochs=5)
    x = jax.random.normal(jax.random.key(0), (10_000, 27))
    targets = (x[:, 0] > 0).astype(float)
    keys = jax.random.split(jax.random.key(1), count)
    options = {
        "hidden": hidden,
        "dropout": dropout,
        "epochs": settings.epochs,
        "lr": settings.learning_rate,
        "momentum": settings.momentum,
        "batch_size": settings.batch_size,
    }
    tensors, network = (_tensor(x), _tensor(targets)), mlp(27, 2, (hidden,), dropout)

    def train_theirs():
        for _ in range(count):
            reference.train_expert(*tensors, **options)

    works = {
        "vmapped, ours": lambda: jax.block_until_ready(train_networks(network, settings, x, targets, keys)),
        "one by one, PyTorch": train_theirs,
    }
    seconds = fastest(works, 1 if quick else 4)
    print("50 experts 27→64→1, 10 000 rows, 5 epochs, batches of 256   (all experts)")
    (mine, mine_seconds), (other, other_seconds) = seconds.items()
    print_line(mine, mine_seconds, other, other_seconds, 5.0)


def iteration_flops(shape: Shape) -> int:
    """Multiplications and additions of one first-order iteration, as the textbook counts them.

    A product of the rows (n, d) with first-layer weights (d, h), or its transposed, costs M = 2ndh; the products with
    the h weights of the one output cost 2nh each. Per student step the gradient takes one M forwards and one back to
    the weights; the second pass takes one M for the activations, one for their change along the direction, and one
    back to the rows for each of the two: 6M, and likewise 6 · 2nh, whatever an implementation saves or repeats.
    """
    return SETTINGS.student_steps * 6 * (2 * shape.rows * shape.inputs * shape.hidden + 2 * shape.rows * shape.hidden)


def matmul_rate(rows: int, inner: int, columns: int, quick: bool) -> float:
    """The machine's float32 matrix product in JAX, operations per second."""
    keys = jax.random.split(jax.random.key(0))
    a, b = jax.random.normal(keys[0], (rows, inner)), jax.random.normal(keys[1], (inner, columns))
    product = jax.jit(jnp.matmul)
    seconds = fastest({"product": lambda: product(a, b).block_until_ready()}, 10 if quick else 50)
    return 2 * rows * inner * columns / seconds["product"]


def compare_with_matmul(shape: Shape, seconds: float, quick: bool) -> None:
    """Print which share of the machine's matrix-product rate one first-order iteration reaches."""
    flops = iteration_flops(shape)
    print(f"{shape.name}   ({flops / 1e9:.1f} GFLOP an iteration, {flops / seconds / 1e9:.1f} GFLOP/s)")
    for rows, inner, columns in ((2048, 2048, 2048), (shape.rows, shape.inputs, shape.hidden)):
        rate = matmul_rate(rows, inner, columns, quick)
        share = flops / seconds / rate
        print(f"  product {rows}×{inner}×{columns}: {rate / 1e9:.1f} GFLOP/s; the iteration reaches {share:.0%} of it")


def print_line(mine: str, mine_seconds: float, other: str, other_seconds: float, target: float | None) -> None:
    """One comparison: seconds of both sides, their ratio, and the target if there is one."""
    ratio = other_seconds / mine_seconds
    verdict = "" if target is None else f"target {target:g} ×: {'reached' if ratio >= target else 'NOT reached'}"
    print(f"  {mine:<18}{mine_seconds:>10.5f} s   {other:<21}{other_seconds:>10.5f} s   {ratio:>6.1f} ×   {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    quick = parser.parse_args().quick
    print(
        f"jax {jax.__version__}, torch {torch.__version__} with {torch.get_num_threads()} threads, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}\n"
    )
    seconds = {shape: compare_matching(shape, quick) for shape in SHAPES}
    compare_experts(quick)
    compare_with_matmul(LARGEST, seconds[LARGEST], quick)


if __name__ == "__main__":
    main()
