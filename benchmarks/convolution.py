"""Three ways to convolve over time on a CPU: XLA's convolution, unfolded windows, and one product per step back.

And training on batches that pass as a whole, or in pieces that stay in the cache.

    python benchmarks/convolution.py [--rows 100] [--steps 48] [--channels 60] [--repeats 5]

What Aliquot does with the paper's TCN, each way, measured in turns in one run; ratios are to the fastest.
"""

import argparse
import copy
import time
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.matching import Rows, Slots, meta_gradient
from aliquot.matching.loop import student_loss, student_split
from aliquot.networks import Network, TrainSettings, as_targets, tcn, train_networks
from aliquot.networks.tcn import Branches

EXPERTS, STEPS = 5, 3
STAYS = 1024


def by_xla(branches: Branches, x: jax.Array) -> jax.Array:
    """XLA's convolution, one per kernel size."""
    parts = []
    for weight in branches.weights:
        padded = jnp.pad(x, ((0, 0), ((len(weight) - 1) * branches.dilation, 0), (0, 0)))
        parts.append(
            jax.lax.conv_general_dilated(
                padded,
                weight[::-1],
                (1,),
                "VALID",
                rhs_dilation=(branches.dilation,),
                dimension_numbers=("NWC", "WIO", "NWC"),
            )
        )
    return jnp.concatenate(parts, axis=2) + branches.biases


def by_windows(branches: Branches, x: jax.Array) -> jax.Array:
    """Windows side by side, then one product per kernel size."""
    parts = []
    for weight in branches.weights:
        shifts = [back * branches.dilation for back in range(len(weight))]
        window = [jnp.pad(x[:, : x.shape[1] - shift], ((0, 0), (shift, 0), (0, 0))) for shift in shifts]
        parts.append(jnp.concatenate(window, axis=2) @ weight.reshape(-1, weight.shape[2]))
    return jnp.concatenate(parts, axis=2) + branches.biases


def works_of(way: Callable | None, network: Network, x: jax.Array, targets: jax.Array) -> dict[str, Callable]:
    """What Aliquot does with a network, compiled while branches convolve that way; None is ours."""
    ours = Branches.__call__
    start, other = network.init(jax.random.key(0)), network.init(jax.random.key(1))
    thetas = jnp.stack([network.init(jax.random.key(seed)) for seed in range(EXPERTS)])
    rows = Rows(x, targets)

    def gradient(theta):
        return jax.grad(network.loss)(theta, x, targets)

    def matching(start):
        split = student_split(network, Slots())
        loss = student_loss(network, Slots())
        return meta_gradient(loss, rows, jnp.float32(0.01), start, other, steps=STEPS, split=split).rows.x

    Branches.__call__ = ours if way is None else way  # pyright: ignore[reportAttributeAccessIssue]
    try:
        compiled = {
            "student gradient": (jax.jit(gradient).lower(start).compile(), start),
            f"gradients of {EXPERTS} experts": (jax.jit(jax.vmap(gradient)).lower(thetas).compile(), thetas),
            f"meta-gradient, {STEPS} steps": (jax.jit(matching).lower(start).compile(), start),
        }
    finally:
        Branches.__call__ = ours
    return {name: partial(lambda work, at: jax.block_until_ready(work(at)), *pair) for name, pair in compiled.items()}


def epochs_of(network: Network, x: jax.Array, targets: jax.Array) -> dict[str, Callable]:
    """One epoch of training on all stays, in pieces and with whole batches."""
    whole = copy.copy(network)
    whole.at_once = None
    one, keys = TrainSettings(epochs=1), jax.random.split(jax.random.key(0), 1)
    stays, classes = x[jnp.arange(STAYS) % len(x)], targets[jnp.arange(STAYS) % len(x)]

    def epoch(network):
        return jax.block_until_ready(train_networks(network, one, stays, classes, keys).end)

    ways = {f"pieces of {network.at_once}": network, f"whole batches of {one.batch_size}": whole}
    return {name: partial(epoch, way) for name, way in ways.items()}


def timed(works: dict[str, Callable], repeats: int) -> None:
    """Print the fastest of several turns of each."""
    best = dict.fromkeys(works, np.inf)
    for _ in range(repeats):
        for name, work in works.items():
            since = time.perf_counter()
            work()
            best[name] = min(best[name], time.perf_counter() - since)
    for name, seconds in best.items():
        print(f"  {name:<28} {seconds:8.4f} s   {seconds / min(best.values()):5.2f} ×", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("rows", 100), ("steps", 48), ("channels", 60), ("repeats", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(asked.rows, asked.steps, asked.channels)), jnp.float32)
    targets = as_targets(np.arange(asked.rows) % 2, 2)
    network = tcn(asked.channels, 2)
    ways = {"one product per step back": None, "XLA's convolution": by_xla, "unfolded windows": by_windows}
    works = {name: works_of(way, network, x, targets) for name, way in ways.items()}
    print(f"{asked.rows} × {asked.steps} × {asked.channels}, {network.n_parameters:,} parameters")
    for task in next(iter(works.values())):
        results = [works[name][task]() for name in works]
        worst = max(float(jnp.linalg.norm(one - results[0]) / jnp.linalg.norm(results[0])) for one in results)
        print(f"{task}   (they agree to {worst:.0e})")
        timed({name: work[task] for name, work in works.items()}, asked.repeats)
    epochs = epochs_of(network, x, targets)
    for work in epochs.values():
        work()  # compiled
    print(f"an epoch of training on {STAYS:,} stays")
    timed(epochs, asked.repeats)


if __name__ == "__main__":
    main()
