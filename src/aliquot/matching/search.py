"""The search that all learning methods share: iterate, evaluate on tuning, store a checkpoint; the best rows stay."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.context import Context
from aliquot.matching.history import Candidate, Condensed, History

Advance = Callable[[Any, int, int], tuple[Any, Mapping[str, Any]]]


def search(
    state: Any,
    advance: Advance,
    show: Callable[[Any], Sequence[Candidate]],
    *,
    name: str,
    iterations: int,
    judge_every: int,
    keep: str = "best",
    context: Context,
) -> Condensed:
    """The best rows on the way from ``state`` through ``iterations``; a stopped search continues from its store.

    ``advance(state, first, count)`` does iterations ``first … first + count - 1`` and returns the new state, a tree of
    arrays, and figures of each iteration, ``loss`` among them; what it does may depend on the iteration's number but
    not on how iterations are cut into blocks. ``show(state)`` returns the candidates among which the judge chooses.
    The starting rows are judged too. ``keep`` says which rows are the result: the ``"best"`` on tuning, or the
    ``"last"``. ``name`` is made of all that decides the search.
    """
    history = History(keep)
    kept = context.store.get(name)
    if kept is not None:
        state, history = _restore(state, kept), History.restore(kept, keep)
    context.progress.stage("starting rows", 1)
    if not history.evaluations:
        history.evaluate(show(state)[:1], context.judge)  # at the start all candidates are the same
    context.progress.advance()
    context.progress.stage("matching", iterations)
    context.progress.advance(history.iterations)
    while (done := history.iterations) < iterations:
        block = min(judge_every, iterations - done)
        state, figures = advance(state, done, block)
        history.extend(figures)
        history.evaluate(show(state), context.judge)
        context.store.put(name, {**_flatten(state), **history.arrays()})
        context.progress.advance(block, loss=history.recent_loss(), tuning=history.evaluations[-1].score)
    return history.condensed()


def _flatten(state: Any) -> dict[str, np.ndarray]:
    return {f"state.{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(state))}


def _restore(like: Any, kept: Mapping[str, np.ndarray]) -> Any:
    leaves, shape = jax.tree.flatten(like)
    return jax.tree.unflatten(shape, [jnp.asarray(kept[f"state.{i}"]) for i in range(len(leaves))])
