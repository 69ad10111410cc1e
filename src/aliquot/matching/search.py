"""The search that all learning methods share: a block of iterations, a look on tuning, a checkpoint; the best stays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.hooks import Forgetting, Judge, Memory, Progress, Silence
from aliquot.matching.history import Candidate, Condensed, History

Advance = Callable[[Any, int, int], tuple[Any, Mapping[str, Any]]]


def search(
    state: Any,
    advance: Advance,
    show: Callable[[Any], Sequence[Candidate]],
    *,
    iterations: int,
    judge_every: int,
    judge: Judge,
    memory: Memory = Forgetting(),
    progress: Progress = Silence(),
) -> Condensed:
    """The best rows on the way from ``state`` through ``iterations``; a stopped search continues from its memory.

    ``advance(state, first, count)`` does iterations ``first … first + count - 1`` and returns the new state, a tree of
    arrays, and figures of each iteration, ``loss`` among them; what it does may depend on the iteration's number but
    not on how iterations are cut into blocks. ``show(state)`` returns the candidates among which the judge chooses.
    The starting rows are judged too.
    """
    history = History()
    kept = memory.recall("matching")
    if kept is not None:
        state, history = _restore(state, kept), History.restore(kept)
    candidates = show(state)
    progress.stage("starting rows", len(candidates))
    if not history.looks:
        history.look(candidates, judge, progress)
    progress.stage("matching", iterations)
    progress.advance(history.iterations)
    while (done := history.iterations) < iterations:
        block = min(judge_every, iterations - done)
        state, figures = advance(state, done, block)
        history.extend(figures)
        history.look(show(state), judge)
        memory.keep("matching", {**_flatten(state), **history.arrays()})
        progress.advance(block, loss=history.recent_loss(), tuning=history.looks[-1][1])
    return history.condensed()


def _flatten(state: Any) -> dict[str, np.ndarray]:
    return {f"state.{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(state))}


def _restore(like: Any, kept: Mapping[str, np.ndarray]) -> Any:
    leaves, shape = jax.tree.flatten(like)
    return jax.tree.unflatten(shape, [jnp.asarray(kept[f"state.{i}"]) for i in range(len(leaves))])
