"""The one loop of all trajectory matching: draw a segment, let the student walk, move the rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.typing import ArrayLike

from aliquot.curves import Curve
from aliquot.hooks import Forgetting, Judge, Memory, Progress, Silence
from aliquot.matching.history import Condensed, Figures, History
from aliquot.matching.metagradient import meta_gradient, student_batches
from aliquot.matching.rows import Rows, label_logits, soft_targets
from aliquot.matching.segments import SegmentSettings, draw_segment
from aliquot.networks import Network

LOWEST_LR, HIGHEST_LR = 1e-6, 1.0  # the learned student learning rate is projected to this range


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """One outer iteration and how many there are; defaults are the paper's."""

    iterations: int = 40_000
    student_steps: int = 30
    student_lr: float = 0.01
    student_momentum: float = 0.0
    student_batch: int = 0  # rows per student step; 0: all rows
    meta_gradient: Literal["first_order", "full"] = "first_order"
    optimiser: Literal["sgd", "adam"] = "sgd"  # of the rows; "sgd" is heavy ball
    data_lr: float = 100.0
    data_momentum: float = 0.9  # of "sgd"
    learn_student_lr: bool = True
    lr_lr: float = 1e-4  # learning rate of the student's learning rate
    lr_momentum: float = 0.5
    lr_scale: Literal["raw", "log"] = "raw"  # "log": learn the logarithm
    labels: Literal["hard", "learned"] = "hard"  # "learned": logits, learned beside the rows
    label_lr: float = 2.0
    judge_every: int = 100  # iterations between two looks at the tuning part
    segment: SegmentSettings = field(default_factory=SegmentSettings)


class State(NamedTuple):
    """All that changes from one iteration to the next."""

    rows: Rows
    student_lr: Array  # or its logarithm
    row_memory: Any  # the optimisers' states
    label_memory: Any
    lr_memory: Any
    iteration: Array
    skipped: Array


def match(
    network: Network,
    settings: MatchSettings,
    curves: Curve,
    x: ArrayLike,
    targets: Array,
    *,
    key: Array,
    judge: Judge,
    memory: Memory = Forgetting(),
    progress: Progress = Silence(),
) -> Condensed:
    """Learn rows, starting from ``x`` with hard ``targets``, on which a student follows the curves.

    Iterations run in compiled blocks; after each block the judge looks at the rows, and the block with the best
    tuning score is kept. The starting rows are judged too.
    """
    labels = targets if settings.labels == "hard" else label_logits(targets)
    state = begin(settings, Rows(jnp.asarray(x), jnp.asarray(labels)))
    history = History()
    kept = memory.recall("matching")
    if kept is not None:
        state = _restore(state, kept)
        history = History.restore(kept)
    progress.stage("matching", settings.iterations)
    progress.advance(int(state.iteration))
    if not history.looks:
        history.look(*_shown(settings, state), judge)
    while (done := int(state.iteration)) < settings.iterations:
        block = min(settings.judge_every, settings.iterations - done)
        state, figures = run_block(network, settings, curves, state, key, block)
        history.extend(figures)
        history.look(*_shown(settings, state), judge)
        memory.keep("matching", {**_flatten(state), **history.arrays()})
        progress.advance(block, loss=history.recent_loss(), tuning=history.looks[-1][1])
    return history.condensed(int(state.skipped))


def begin(settings: MatchSettings, rows: Rows) -> State:
    """The state before the first iteration."""
    lr = jnp.asarray(settings.student_lr, rows.x.dtype)
    lr = jnp.log(lr) if settings.lr_scale == "log" else lr
    row_step, label_step, lr_step = _optimisers(settings)
    zero = jnp.asarray(0, jnp.int32)
    return State(rows, lr, row_step.init(rows.x), label_step.init(rows.labels), lr_step.init(lr), zero, zero)


@partial(jax.jit, static_argnames=("network", "settings", "iterations"))
def run_block(network: Network, settings: MatchSettings, curves: Curve, state: State, key: Array, iterations: int):
    """The state after ``iterations`` more iterations, and the figures of each."""

    def one(state, _):
        return iterate(network, settings, curves, state, jax.random.fold_in(key, state.iteration))

    return jax.lax.scan(one, state, length=iterations)


def iterate(
    network: Network, settings: MatchSettings, curves: Curve, state: State, key: Array
) -> tuple[State, Figures]:
    """One outer iteration: segment, student, meta-gradient, update of rows, labels and student learning rate.

    When the loss or any derivative is not finite, rows, labels, learning rate and optimisers stay as they were
    and the skip is counted.
    """
    segment_key, batch_key = jax.random.split(key)
    start, target = draw_segment(curves, settings.segment, segment_key)
    student_lr = _student_lr(settings, state)
    gradient = meta_gradient(
        student_loss(network, settings),
        state.rows,
        student_lr,
        start,
        target,
        steps=settings.student_steps,
        momentum=settings.student_momentum,
        full=settings.meta_gradient == "full",
        batches=student_batches(batch_key, len(state.rows.x), settings.student_batch, settings.student_steps),
    )
    finite = jnp.isfinite(gradient.loss)
    for leaf in jax.tree.leaves((gradient.rows, gradient.student_lr)):
        finite &= jnp.isfinite(leaf).all()
    moved = _step(settings, state, gradient, student_lr)
    state = jax.tree.map(lambda new, old: jnp.where(finite, new, old), moved, state)
    skipped = ~finite
    state = state._replace(iteration=state.iteration + skipped, skipped=state.skipped + skipped)
    return state, Figures(gradient.loss, student_lr, gradient.squared_length, gradient.travelled, skipped)


def student_loss(network: Network, settings: MatchSettings):
    """ℓ(θ, rows, batch): the student's loss on the batch, or on all rows; dropout is off."""

    def loss(theta, rows, batch):
        targets = rows.labels if settings.labels == "hard" else soft_targets(rows.labels)
        if batch is None:
            return network.loss(theta, rows.x, targets)
        numbers, weights = batch
        return network.loss(theta, rows.x[numbers], targets[numbers], weights)

    return loss


def _step(settings, state, gradient, student_lr) -> State:
    """The state after a step of the optimisers along the meta-gradient."""
    row_step, label_step, lr_step = _optimisers(settings)
    moves, row_memory = row_step.update(gradient.rows.x, state.row_memory)
    rows = state.rows._replace(x=state.rows.x + moves)
    label_memory, lr, lr_memory = state.label_memory, state.student_lr, state.lr_memory
    if settings.labels == "learned":
        moves, label_memory = label_step.update(gradient.rows.labels, label_memory)
        rows = rows._replace(labels=rows.labels + moves)
    if settings.learn_student_lr:
        slope = gradient.student_lr * (student_lr if settings.lr_scale == "log" else 1)
        move, lr_memory = lr_step.update(slope, lr_memory)
        bounds = (np.log(LOWEST_LR), np.log(HIGHEST_LR)) if settings.lr_scale == "log" else (LOWEST_LR, HIGHEST_LR)
        lr = jnp.clip(lr + move, *bounds)
    return State(rows, lr, row_memory, label_memory, lr_memory, state.iteration + 1, state.skipped)


def _optimisers(settings: MatchSettings):
    """Optimisers of rows, labels and student learning rate."""
    if settings.optimiser == "adam":
        rows, labels = optax.adam(settings.data_lr), optax.adam(settings.label_lr)
    else:
        rows = optax.sgd(settings.data_lr, settings.data_momentum)
        labels = optax.sgd(settings.label_lr, settings.data_momentum)
    return rows, labels, optax.sgd(settings.lr_lr, settings.lr_momentum)


def _student_lr(settings: MatchSettings, state: State) -> Array:
    return jnp.exp(state.student_lr) if settings.lr_scale == "log" else state.student_lr


def _shown(settings: MatchSettings, state: State) -> tuple[int, np.ndarray, np.ndarray, float]:
    """Iteration, rows, targets and student learning rate, as the judge and the result see them."""
    labels = state.rows.labels if settings.labels == "hard" else soft_targets(state.rows.labels)
    lr = float(_student_lr(settings, state))
    return int(state.iteration), np.asarray(state.rows.x), np.asarray(labels), lr


def _flatten(state: State) -> dict[str, np.ndarray]:
    return {f"state.{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(state))}


def _restore(like: State, kept: Mapping[str, np.ndarray]) -> State:
    leaves, shape = jax.tree.flatten(like)
    return jax.tree.unflatten(shape, [jnp.asarray(kept[f"state.{i}"]) for i in range(len(leaves))])
