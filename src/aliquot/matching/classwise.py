"""What distribution and gradient matching share: batches of patients by class, steps on the rows, the search around.

Both move the synthetic rows without experts: a random network looks at the rows of a class and at a batch of its
patients, and the rows are moved so that it sees less of a difference.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.typing import ArrayLike

from aliquot.hooks import Forgetting, Judge, Memory, Progress, Silence
from aliquot.matching.history import Candidate, Condensed
from aliquot.matching.search import search
from aliquot.networks import Network


class ClasswiseSettings(Protocol):
    """What the shared part needs of a method's settings."""

    @property
    def iterations(self) -> int:
        """How often the rows are moved."""
        ...

    @property
    def judge_every(self) -> int:
        """Iterations between two looks at the tuning part."""
        ...


class Patients(NamedTuple):
    """Training patients in class order: those of class c are number ``first[c]`` and the ``count[c]`` from there."""

    x: Array  # (patients, …)
    first: Array  # (C,)
    count: Array  # (C,)


class State(NamedTuple):
    """All that changes from one iteration to the next."""

    x: Array  # (C, rows per class, …)
    memory: Any  # the optimiser's state


Iterate = Callable[[Network, Any, Patients, State, Array, Array], tuple[State, Array]]


def match_classes(
    iterate: Iterate,
    optimiser: optax.GradientTransformation,
    network: Network,
    settings: ClasswiseSettings,
    x: ArrayLike,
    labels: ArrayLike,
    start: ArrayLike,
    start_targets: ArrayLike,
    *,
    key: Array,
    judge: Judge,
    memory: Memory = Forgetting(),
    progress: Progress = Silence(),
) -> Condensed:
    """The best rows that ``iterate`` finds on its way from ``start``, equally many rows of each class in class order.

    ``iterate(network, settings, patients, state, key, number)`` does one iteration and returns the new state and the
    loss; whatever it draws it draws from ``key`` and the iteration's number.
    """
    patients = in_class_order(x, labels, network.n_classes)
    rows = jnp.asarray(start)
    blocks = rows.reshape(network.n_classes, -1, *rows.shape[1:])
    return search(
        State(blocks, optimiser.init(blocks)),
        lambda state, first, count: run_block(iterate, network, settings, patients, state, key, first, count),
        lambda state: [Candidate(np.asarray(state.x).reshape(rows.shape), np.asarray(start_targets))],
        iterations=settings.iterations,
        judge_every=settings.judge_every,
        judge=judge,
        memory=memory,
        progress=progress,
    )


def in_class_order(x: ArrayLike, labels: ArrayLike, n_classes: int) -> Patients:
    """The patients sorted by class.

    >>> in_class_order(np.array([[10.0], [20.0], [11.0]]), np.array([0, 1, 0]), 2).x.ravel().tolist()
    [10.0, 11.0, 20.0]
    """
    order = np.argsort(labels, kind="stable")
    count = np.bincount(np.asarray(labels), minlength=n_classes)
    first = np.cumsum(count) - count
    return Patients(jnp.asarray(np.asarray(x)[order]), jnp.asarray(first), jnp.asarray(count))


def class_batches(patients: Patients, size: int, key: Array) -> Array:
    """For each class ``size`` of its patients, drawn with replacement; shape (C, size, …)."""
    shape = (len(patients.count), size)
    numbers = jax.random.randint(key, shape, 0, patients.count[:, None]) + patients.first[:, None]
    return patients.x[numbers]


def descend(optimiser: optax.GradientTransformation, state: State, gradient: Array) -> State:
    """The state after one step of the optimiser."""
    moves, memory = optimiser.update(gradient, state.memory)
    return State(state.x + jnp.asarray(moves), memory)


@partial(jax.jit, static_argnames=("iterate", "network", "settings", "count"))
def run_block(iterate, network, settings, patients, state, key, first, count):
    """The state after iterations ``first … first + count - 1``, and the loss and skip of each.

    An iteration whose loss or new state is not finite moves nothing: rows and optimiser stay as they were.
    """

    def one(state, number):
        moved, loss = iterate(network, settings, patients, state, key, number)
        finite = jnp.all(jnp.array([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves((moved, loss))]))
        state = jax.tree.map(lambda new, old: jnp.where(finite, new, old), moved, state)
        return state, {"loss": loss, "skipped": ~finite}

    return jax.lax.scan(one, state, first + jnp.arange(count))
