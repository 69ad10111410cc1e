"""How fast matching and expert training are beside plain PyTorch, on this machine and in this run.

    python benchmarks/speed.py [--quick]

Both sides take turns in small pieces of similar length, and their fastest pieces are compared, compilation
excluded: on a machine that others use too, the fastest piece is the one that was disturbed least. PyTorch has
the choice between one thread and one per core, since on small networks its threads cost more than they bring.
Before a shape is timed, both sides must agree on the loss and on the gradients of one iteration.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import torch

import torch_reference as reference
from aliquot.curves import Curve, straight
from aliquot.experts import ExpertSettings
from aliquot.matching import Curves, Rows, Slots, draw_segment, segment_gradient
from aliquot.matching.loop import begin, run_block, student_loss
from aliquot.matching.metagradient import SegmentGradient
from aliquot.networks import Network, TrainSettings, mlp, shuffled_batches, train_networks
from aliquot.networks.mlp import random_bytes
from aliquot.presets.settings import load_settings

SETTINGS = load_settings("paper").match
AGREEMENT = 1e-3  # relative, in float32
CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class Shape:
    """One size of matching problem, and how many times faster than PyTorch it should be."""

    name: str
    inputs: int
    hidden: int
    rows: int
    block: int  # iterations of ours per piece, to last about as long as one of theirs
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
    Shape("CURIAL 27→64→1, 100 rows", 27, 64, 100, 10, 10.0),
    Shape("CURIAL 27→64→1, 1 000 rows", 27, 64, 1000, 4, 8.0),
    Shape("eICU 402→256→1, 100 rows", 402, 256, 100, 1, None),
    Shape("eICU 402→256→1, 1 000 rows", 402, 256, 1000, 1, 2.5),
)
LARGEST = SHAPES[-1]


def fastest(works: dict[str, Callable[[], object]], patience: float) -> dict[str, float]:
    """Seconds of the fastest repeat of each piece of work.

    All take turns for ``patience`` seconds, at least twice, after one unmeasured round.
    """
    seconds = {name: float("inf") for name in works}
    for work in works.values():
        work()
    began, rounds = time.perf_counter(), 0
    while rounds < 2 or time.perf_counter() - began < patience:
        for name, work in works.items():
            before = time.perf_counter()
            work()
            seconds[name] = min(seconds[name], time.perf_counter() - before)
        rounds += 1
    return seconds


def with_threads(works: dict[str, Callable[[], object]]) -> dict[str, Callable[[], object]]:
    """Each piece of PyTorch work with one thread and with one per core."""

    def limited(threads, work):
        torch.set_num_threads(threads)
        return work()

    return {
        f"{name}, {threads} thread{'s' * (threads > 1)}": partial(limited, threads, work)
        for name, work in works.items()
        for threads in sorted({1, CORES})
    }


def best(seconds: dict[str, float], prefix: str) -> tuple[str, float]:
    """Name and seconds of the fastest work whose name starts with ``prefix``."""
    return min((item for item in seconds.items() if item[0].startswith(prefix)), key=lambda item: item[1])


def ours(shape: Shape, gradient: str) -> Callable[[], object]:
    """A compiled block of our iterations."""
    slots = Slots(gradient=gradient)  # pyright: ignore[reportArgumentType]
    curves, rows = shape.problem()
    state, keys = begin(SETTINGS, rows), jax.random.split(jax.random.key(1), shape.block)
    source, done = Curves(curves, SETTINGS.segment), np.zeros(shape.block)

    def block():
        segments = source.draw(keys, done)
        return jax.block_until_ready(run_block(shape.network, SETTINGS, slots, curves.end, state, segments, keys))

    return block


def theirs(shape: Shape, full: bool) -> Callable[[], object]:
    """One PyTorch iteration."""
    curves, rows = shape.problem()
    tensors = [_tensor(part) for part in curves]
    options = {"hidden": shape.hidden, "steps": SETTINGS.student_steps, "full": full, "iterations": 1}
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
def _our_gradient(shape: Shape, rows: Rows, start, target, *, full: bool) -> SegmentGradient:
    loss, lr = student_loss(shape.network, Slots()), jnp.float32(SETTINGS.student_lr)
    return segment_gradient(loss, rows, lr, start, target, steps=SETTINGS.student_steps, full=full)


def _relative_difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def _tensor(array) -> torch.Tensor:
    return torch.from_numpy(np.array(array))


def compare_matching(shape: Shape, patience: float) -> float:
    """Print the lines of one shape; seconds of our first-order iteration."""
    worst = max(check_agreement(shape, full) for full in (False, True))
    mine = {"first-order, ours": ours(shape, "first_order"), "full, ours": ours(shape, "full")}
    other = {"full, PyTorch": theirs(shape, True), "first-order, PyTorch": theirs(shape, False)}
    seconds = fastest(mine | with_threads(other), patience)
    seconds |= {name: seconds[name] / shape.block for name in mine}
    print(f"{shape.name}   (one iteration; loss and gradients agree to {worst:.0e})")
    for left, right, target in (
        ("first-order, ours", "full, PyTorch", shape.target),
        ("first-order, ours", "first-order, PyTorch", None),
        ("full, ours", "full, PyTorch", None),
    ):
        print_line((left, seconds[left]), best(seconds, right), target)
    return seconds["first-order, ours"]


def compare_experts(patience: float) -> None:
    """Print the line of expert training: 50 MLP-64 on 10 000 rows of 27 features for five epochs.

    Ours is timed in the blocks that ``train_experts`` compiles, theirs expert by expert; both scaled to 50.
    """
    count, block, hidden, dropout = 50, ExpertSettings().block, 64, 0.25
    settings = TrainSettings(epochs=5)
    x = jax.random.normal(jax.random.key(0), (10_000, 27))
    targets = (x[:, 0] > 0).astype(float)
    keys = jax.random.split(jax.random.key(1), block)
    options = {"hidden": hidden, "dropout": dropout, "epochs": settings.epochs, "lr": settings.learning_rate}
    options |= {"momentum": settings.momentum, "batch": settings.batch_size}
    network, train_one = mlp(27, 2, (hidden,), dropout), partial(reference.train_expert, **options)

    def train_block():
        return jax.block_until_ready(train_networks(network, settings, x, targets, keys))

    other = with_threads({"one by one, PyTorch": lambda: train_one(_tensor(x), _tensor(targets))})
    seconds = fastest({"vmapped, ours": train_block} | other, patience)
    name, of_one = best(seconds, "one by one, PyTorch")
    print(f"50 experts 27→64→1, 10 000 rows, 5 epochs   (scaled: ours from {block}, PyTorch from one)")
    print_line(("vmapped, ours", count / block * seconds["vmapped, ours"]), (name, count * of_one), 5.0)


def compare_randomness(patience: float) -> None:
    """Our own shuffle and dropout bytes beside JAX's sort and generator (decision 2)."""
    key, n = jax.random.key(0), 100_000
    works = {
        "shuffle": jax.jit(lambda: shuffled_batches(key, n, 256)),
        "by sorting": jax.jit(lambda: jnp.argsort(jax.random.bits(key, (n,)))),
        "bytes": jax.jit(lambda: random_bytes(key, (1000, 64))),
        "by generator": jax.jit(lambda: jax.random.bits(key, (1000, 64), jnp.uint8)),
    }
    seconds = fastest({name: partial(_wait, work) for name, work in works.items()}, patience)
    print("shuffle of 100 000 rows, and 64 000 random bytes")
    for mine, other in (("shuffle", "by sorting"), ("bytes", "by generator")):
        print_line((mine, seconds[mine]), (other, seconds[other]), None)


def _wait(work: Callable[[], jax.Array]) -> jax.Array:
    return jax.block_until_ready(work())


def iteration_flops(shape: Shape) -> int:
    """Multiplications and additions that one first-order iteration cannot do without.

    A product of the rows (n, d) with first-layer weights (d, h), or its transposed, costs M = 2ndh; the
    products with the h weights of the one output cost 2nh each. Per student step the gradient takes one M
    forwards and one back to the weights, and the way back to the rows one more; how activations change along
    the direction, and its way back, cost one M each for all steps together (matching/metagradient.py). With N
    steps: (3N + 2) (2ndh + 2nh). A textbook that repeats what it could keep counts 6N of them.
    """
    n, d, h = shape.rows, shape.inputs, shape.hidden
    return (3 * SETTINGS.student_steps + 2) * (2 * n * d * h + 2 * n * h)


def matmul_rate(rows: int, inner: int, columns: int, patience: float) -> float:
    """The machine's float32 matrix product in JAX, operations per second."""
    keys = jax.random.split(jax.random.key(0))
    a, b = jax.random.normal(keys[0], (rows, inner)), jax.random.normal(keys[1], (inner, columns))
    product = jax.jit(jnp.matmul)
    seconds = fastest({"product": lambda: product(a, b).block_until_ready()}, patience)
    return 2 * rows * inner * columns / seconds["product"]


def compare_with_matmul(shape: Shape, seconds: float, patience: float) -> None:
    """Print which share of the machine's matrix-product rate one first-order iteration reaches."""
    flops = iteration_flops(shape)
    print(f"{shape.name}   ({flops / 1e9:.1f} GFLOP an iteration, {flops / seconds / 1e9:.1f} GFLOP/s)")
    for size in ((2048, 2048, 2048), (shape.rows, shape.inputs, shape.hidden)):
        rate = matmul_rate(*size, patience)
        name = "product {}×{}×{}".format(*size)
        share = flops / seconds / rate
        print(f"  {name}: {rate / 1e9:.1f} GFLOP/s; the iteration reaches {share:.0%} of it")


def print_line(mine: tuple[str, float], other: tuple[str, float], target: float | None) -> None:
    """One comparison: seconds of both sides, their ratio, and the target if there is one."""
    ratio = other[1] / mine[1]
    sides = f"  {mine[0]:<18}{mine[1]:>9.5f} s   {other[0]:<31}{other[1]:>9.5f} s   {ratio:>5.1f} ×"
    verdict = "" if target is None else f"   target {target:g} ×: {'' if ratio >= target else 'NOT '}reached"
    print(sides + verdict)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    patience = 5.0 if parser.parse_args().quick else 30.0
    versions = f"jax {jax.__version__}, torch {torch.__version__}, Python {platform.python_version()}"
    print(f"{versions}; {CORES} cores; load of the machine before we began: {os.getloadavg()[0]:.1f}\n")
    seconds = {shape: compare_matching(shape, patience) for shape in SHAPES}
    compare_experts(patience)
    compare_randomness(patience / 6)
    compare_with_matmul(LARGEST, seconds[LARGEST], patience / 3)


if __name__ == "__main__":
    main()
