"""Training many networks at once: experts, evaluation networks and full-data baselines all come from here.

One compiled program trains all networks of a call: ``vmap`` over networks, ``scan`` over epochs and batches. Of large
networks one alone keeps a processor busy: they are trained one after the other, each batch in pieces.
"""

import gc
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.networks.gsam import GsamSettings, gsam_gradient
from aliquot.networks.network import Network

MAPS = Path("/proc/self/maps")  # Linux: a process may have 65,530, and a compiled program takes dozens


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """Minibatch SGD with heavy-ball momentum, dropout on; the paper's numbers for most datasets."""

    epochs: int = 100
    learning_rate: float = 0.02
    momentum: float = 0.9
    weight_decay: float = 0.0  # of all parameters, added to the gradient
    batch_size: int = 256
    balance: bool = False  # batches hold as many rows of each class, and an epoch the rarest once: see sort_by_class
    schedule: Literal["constant", "linear", "cosine"] = "constant"  # of the learning rate; the others end at 0
    gsam: GsamSettings | None = None  # None: plain SGD


class Trained(NamedTuple):
    """Networks before and after training; K networks, E epochs, P parameters."""

    start: Array  # (K, P)
    end: Array  # (K, P)
    watched: Array | None  # (K, E, rows[, C]) logits on the watched rows after every epoch
    path: Array | None  # (K, E + 1, P) parameters before training and after every epoch


def train_networks(
    network: Network,
    settings: TrainSettings,
    x: Array,
    targets: Array,
    keys: Array,
    *,
    watch: Array | None = None,
    keep_path: bool = False,
) -> Trained:
    """Train one network per key on the rows ``x`` with hard or soft ``targets``.

    A key alone decides a network's start, batches and dropout, whatever other networks are trained beside it,
    and with a constant learning rate the first epochs do not depend on how many follow.
    """
    start, epoch_keys = _start(network, keys)
    classes = sort_by_class(targets, settings.batch_size) if settings.balance else None
    return _train(network, settings, _Data(x, targets, classes), start, epoch_keys, watch, keep_path)


@partial(jax.jit, static_argnames="network")
def _start(network, keys):
    """Fresh parameters and a key for the epochs of each network; a program of its own, compiled once per network."""
    start_keys, epoch_keys = jax.vmap(jax.random.split, out_axes=1)(keys)
    return jax.vmap(network.init)(start_keys), epoch_keys


class _Data(NamedTuple):
    """What networks are trained on."""

    x: Array
    targets: Array
    classes: "Classes | None"  # where batches are balanced


@partial(jax.jit, static_argnames=("network", "settings", "keep_path"))
def _train(network, settings, data, starts, epoch_keys, watch, keep_path):
    def train_one(start, key):
        def epoch(state, number):
            state = _epoch(network, settings, data, state, number, jax.random.fold_in(key, number))
            theta = state[0]
            watched = None if watch is None else network.predict(theta, watch)
            return state, (watched, theta if keep_path else None)

        (end, _), (watched, path) = jax.lax.scan(epoch, (start, jnp.zeros_like(start)), jnp.arange(settings.epochs))
        return Trained(start, end, watched, None if path is None else jnp.concatenate([start[None], path]))

    if network.at_once is None:
        return jax.vmap(train_one)(starts, epoch_keys)
    return jax.lax.map(lambda inputs: train_one(*inputs), (starts, epoch_keys))  # large: one after the other


def _epoch(network, settings, data, state, number, key):
    """Parameters and velocity after one pass over the rows in a new order."""
    x, targets, classes = data
    count = -(-len(x) // min(settings.batch_size, len(x))) if classes is None else len(classes.turns)
    keys = jax.random.split(key, count + 1)  # of the order, and of each batch's dropout
    if classes is None:
        batches = shuffled_batches(keys[0], len(x), settings.batch_size)  # (batches, rows), entries ≥ n are padding
    else:
        batches = balanced_batches(keys[0], classes)
    shares = scheduled(settings.schedule, (number * count + jnp.arange(count)) / (settings.epochs * count))

    def step(state, batch):
        theta, velocity = state
        rows, key, share = batch
        weights = (rows < len(x)).astype(x.dtype)

        def gradient(theta):
            return network.gradient(theta, x[rows], targets[rows], weights, key)

        direction = _direction(settings.gsam, gradient, theta, share)
        if settings.weight_decay:
            direction += settings.weight_decay * theta
        velocity = settings.momentum * velocity + direction
        return (theta - settings.learning_rate * share * velocity, velocity), None

    return jax.lax.scan(step, state, (batches, keys[1:], shares.astype(x.dtype)))[0]


def _direction(gsam: GsamSettings | None, gradient, theta, share):
    if gsam is None:
        return gradient(theta)
    return gsam_gradient(gradient, theta, gsam.rho_min + (gsam.rho - gsam.rho_min) * share, gsam)


def scheduled(schedule: str, done: Array) -> Array:
    """The share of the first learning rate that is left when a part ``done`` in [0, 1) of the training is over.

    >>> scheduled("linear", jnp.array([0.0, 0.25, 0.75]))
    Array([1.  , 0.75, 0.25], dtype=float32)
    """
    if schedule == "linear":
        return 1 - done
    if schedule == "cosine":
        return (1 + jnp.cos(jnp.pi * done)) / 2
    return jnp.ones_like(done)


def shuffled_batches(key: Array, n: int, batch_size: int, rounds: int = 4) -> Array:
    """Row numbers 0…n-1 in random order, cut into batches; entries ≥ n pad the batches evenly.

    The order is a Feistel network over (batch, place in batch) whose round functions are random tables: a
    permutation by construction, and on a CPU much faster than XLA's sort (docs/decisions/0002-training.md).

    >>> batches = shuffled_batches(jax.random.key(0), n=10, batch_size=4)
    >>> batches.shape, sorted(batches.ravel().tolist())
    ((3, 4), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    """
    size = min(batch_size, n)
    count = -(-n // size)
    if count == 1:
        return jnp.arange(n)[None]
    numbers = jnp.arange(count * size)
    batch, place = numbers // size, numbers % size
    tables = jax.random.bits(key, (rounds // 2, size + count))
    for table in tables:
        batch = (batch + (table[:size] % count).astype(batch.dtype)[place]) % count
        place = (place + (table[size:] % size).astype(place.dtype)[batch]) % size
    return (batch * size + place).reshape(count, size)


class Classes(NamedTuple):
    """Row numbers in the order of their classes, and which class each place of an epoch's batches is for."""

    order: Array  # (rows,)
    bounds: Array  # (classes + 1,) where each class begins in that order, and the number of rows
    turns: Array  # (batches, size)


def sort_by_class(targets: Array, batch_size: int) -> Classes:
    """The rows of hard targets (n,) or (n, C) by their classes, for epochs that see each of the rarest class once.

    >>> sort_by_class(jnp.array([0.0, 0, 1, 0, 0, 1, 0]), batch_size=2).turns
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    labels = np.asarray(targets)
    n_classes = 2 if labels.ndim == 1 else labels.shape[1]
    labels = labels.astype(int) if labels.ndim == 1 else labels.argmax(axis=1)
    counts = np.bincount(labels, minlength=n_classes)
    seen = n_classes * int(counts[counts > 0].min())
    size = min(batch_size, len(labels))
    turns = np.tile(np.arange(size, dtype=np.int32) % n_classes, (-(-seen // size), 1))
    order = np.argsort(labels, kind="stable")
    return Classes(jnp.asarray(order), jnp.asarray(np.append(0, np.cumsum(counts))), jnp.asarray(turns))


def balanced_batches(key: Array, classes: Classes) -> Array:
    """Row numbers (batches, size) of an epoch, drawn with replacement; the classes take turns within a batch.

    >>> (balanced_batches(jax.random.key(0), sort_by_class(jnp.array([0.0, 0, 1, 0, 0]), 2)) == 2).sum(axis=1)
    Array([1], dtype=int32)
    """
    first, last = classes.bounds[classes.turns], classes.bounds[classes.turns + 1]
    place = first + jax.random.uniform(key, classes.turns.shape) * (last - first)
    return classes.order[jnp.minimum(place.astype(int), last - 1)]


def forget_programs(limit: int = 30_000) -> bool:
    """Forget all compiled programs if they hold more memory maps than ``limit``; whether that was done.

    JAX keeps every program that it compiles. After some thousand the system refuses more maps, and XLA ends the
    process.
    """
    if not MAPS.exists() or MAPS.read_bytes().count(b"\n") <= limit:
        return False
    jax.clear_caches()
    gc.collect()
    return True
