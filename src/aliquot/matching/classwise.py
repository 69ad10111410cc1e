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

from aliquot.context import Context
from aliquot.identity import identity
from aliquot.matching.history import Candidate, Condensed
from aliquot.matching.rows import Rows
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
        """Iterations between two evaluations on the tuning part."""
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


class Step(NamedTuple):
    """How rows are moved.

    ``iterate(network, settings, patients, state, key, number)`` does one iteration and returns the new state and the
    loss; whatever it draws it draws from ``key`` and the iteration's number.
    """

    iterate: Callable[[Network, Any, Patients, State, Array, Array], tuple[State, Array]]
    optimiser: optax.GradientTransformation


def match_classes(
    step: Step,
    network: Network,
    settings: ClasswiseSettings,
    patients: Patients,
    start: Rows,
    *,
    key: Array,
    context: Context,
) -> Condensed:
    """The best rows that the steps find on their way from ``start``, equally many of each class in class order."""
    blocks = start.x.reshape(network.n_classes, -1, *start.x.shape[1:])
    return search(
        State(blocks, step.optimiser.init(blocks)),
        lambda state, first, count: run_class_block(
            step.iterate, network, settings, patients, state, key, first, count
        ),
        lambda state: [Candidate(np.asarray(state.x).reshape(start.x.shape), np.asarray(start.labels))],
        name=identity("matching", network.description, settings, patients.x, *start, key),
        iterations=settings.iterations,
        judge_every=settings.judge_every,
        context=context,
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
def run_class_block(iterate, network, settings, patients, state, key, first, count):
    """The state after iterations ``first … first + count - 1``, and the loss and skip of each.

    An iteration whose loss or new state is not finite moves nothing: rows and optimiser stay as they were.
    """

    def one(state, number):
        moved, loss = iterate(network, settings, patients, state, key, number)
        finite = jnp.all(jnp.array([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves((moved, loss))]))
        state = jax.tree.map(lambda new, old: jnp.where(finite, new, old), moved, state)
        return state, {"loss": loss, "skipped": ~finite}

    return jax.lax.scan(one, state, first + jnp.arange(count))
