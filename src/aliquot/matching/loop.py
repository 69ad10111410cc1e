"""The one loop of all trajectory matching: draw a segment, let the student walk, move the rows."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from aliquot.context import Context
from aliquot.errors import DegenerateSegmentError
from aliquot.identity import identity
from aliquot.matching.history import Candidate, Condensed
from aliquot.matching.metagradient import MetaGradient, Split, meta_gradient, student_batches
from aliquot.matching.rows import Rows, ensemble_targets, label_logits, soft_targets
from aliquot.matching.search import search
from aliquot.matching.segments import Segments, SegmentSettings
from aliquot.matching.slots import Slots
from aliquot.networks import Network, cross_entropy

LOWEST_LR, HIGHEST_LR = 1e-6, 1.0  # the learned student learning rate is projected to this range
SURE = 0.999  # what experts are sure of must have a finite logit
OFTEN = 0.9  # a gate that stops more than this share of the iterations is worth a note


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """One outer iteration and how many there are; defaults are the paper's."""

    iterations: int = 40_000
    student_steps: int = 30
    student_lr: float = 0.01
    student_momentum: float = 0.0
    student_batch: int = 0  # rows per student step; 0: all rows
    optimiser: Literal["sgd", "adam"] = "sgd"  # of the rows; "sgd" is heavy ball
    data_lr: float = 100.0
    data_momentum: float = 0.9  # of "sgd"
    learn_student_lr: bool = True
    lr_lr: float = 1e-4  # learning rate of the student's learning rate
    lr_momentum: float = 0.5
    lr_scale: Literal["raw", "log"] = "raw"  # "log": learn the logarithm
    label_lr: float = 2.0  # of learned labels
    label_start: Literal["hard", "experts", "ensemble"] = "hard"  # of learned labels: see first_labels
    judge_every: int = 100  # iterations between two evaluations on the tuning part
    segment: SegmentSettings = field(default_factory=SegmentSettings)


class State(NamedTuple):
    """All that changes from one iteration to the next."""

    rows: Rows
    average: Array  # of the rows' inputs over the iterations
    student_lr: Array  # or its logarithm
    row_memory: Any  # the optimisers' states
    label_memory: Any
    lr_memory: Any


class Figures(NamedTuple):
    """What one iteration reports."""

    loss: Array
    student_lr: Array
    squared_length: Array
    travelled: Array
    skipped: Array  # not finite
    gated: Array  # loss above the gate


def match(
    network: Network,
    settings: MatchSettings,
    slots: Slots,
    segments: Segments,
    start: Rows,
    *,
    key: Array,
    context: Context,
) -> Condensed:
    """Learn rows, starting from ``start`` with hard labels, on which a student follows the segments.

    Iterations run in compiled blocks; after each block the judge scores the rows, and their running average where there
    is one, and the rows with the best tuning score are kept. The starting rows are judged too.
    """
    ends = jnp.asarray(segments.ends)
    labels = first_labels(network, settings, slots, ends, start)

    def advance(state, first, count):
        numbers = jnp.arange(first, first + count)
        segment_keys, batch_keys = _iteration_keys(key, numbers)
        drawn = segments.draw(segment_keys, np.asarray(numbers) / settings.iterations)
        state, figures = run_block(network, settings, slots, ends, state, drawn, batch_keys)
        if (np.asarray(figures.squared_length) == 0).any():
            raise DegenerateSegmentError(
                "asked to match trajectory segments, but found one whose start equals its target; "
                "train the experts longer or with a larger learning rate"
            )
        return state, figures._asdict()

    found = search(
        begin(settings, start._replace(labels=labels)),
        advance,
        partial(_candidates, settings, slots),
        name=identity("matching", network.description, settings, slots, ends, *start, key),
        iterations=settings.iterations,
        judge_every=settings.judge_every,
        context=context,
    )
    return _with_notes(found, segments)


@jax.jit
def _iteration_keys(key, numbers):
    return jax.vmap(lambda number: jax.random.split(jax.random.fold_in(key, number)), out_axes=1)(numbers)


def begin(settings: MatchSettings, rows: Rows) -> State:
    """The state before the first iteration."""
    lr = jnp.asarray(settings.student_lr, rows.x.dtype)
    lr = jnp.log(lr) if settings.lr_scale == "log" else lr
    row_step, label_step, lr_step = _optimisers(settings)
    return State(rows, rows.x, lr, row_step.init(rows.x), label_step.init(rows.labels), lr_step.init(lr))


def first_labels(network: Network, settings: MatchSettings, slots: Slots, ends: Array, rows: Rows) -> Array:
    """The classes of the rows; where labels are learned, the logits from which that starts.

    ``hard``: the classes, softened. ``experts``: the mean logits of the experts that classify the row correctly.
    ``ensemble``: what all experts think of the row, whatever its class.
    """
    if slots.labels != "learned":
        return rows.labels
    if settings.label_start == "experts":
        return expert_logits(network, ends, *rows)
    if settings.label_start == "ensemble":
        return label_logits(ensemble_targets(network, ends, rows.x), confidence=SURE)
    return label_logits(rows.labels)


def expert_logits(network: Network, ends: Array, x: Array, targets: Array) -> Array:
    """Logits of each row, averaged over the experts that classify it correctly; over all where none does."""
    logits = jax.lax.map(lambda theta: network.logits(theta, x), ends)  # (K, n[, C])
    if logits.ndim == 2:
        right = (logits > 0) == (targets > 0.5)
    else:
        right = (logits.argmax(axis=-1) == targets.argmax(axis=-1))[..., None]
    right = jnp.where(right.any(axis=0), right, True)
    return jnp.sum(logits * right, axis=0) / right.sum(axis=0)


@partial(jax.jit, static_argnames=("network", "settings", "slots"))
def run_block(
    network: Network,
    settings: MatchSettings,
    slots: Slots,
    ends: Array,
    state: State,
    segments: tuple[Array, Array],
    batch_keys: Array,
) -> tuple[State, Figures]:
    """The state after one iteration per segment, and the figures of each."""

    def one(state, inputs):
        return iterate(network, settings, slots, ends, state, *inputs)

    return jax.lax.scan(one, state, (segments, batch_keys))


def iterate(
    network: Network,
    settings: MatchSettings,
    slots: Slots,
    ends: Array,
    state: State,
    segment: tuple[Array, Array],
    batch_key: Array,
) -> tuple[State, Figures]:
    """One outer iteration: segment, student, meta-gradient, update of rows, labels and student learning rate.

    When the loss or any derivative is not finite, or the loss is above the gate, everything stays as it was and the
    iteration is counted.
    """
    start, target = segment
    rows = _labelled(network, slots, ends, target, state.rows)
    student_lr = _student_lr(settings, state)
    gradient = meta_gradient(
        student_loss(network, slots),
        rows,
        student_lr,
        start,
        target,
        steps=settings.student_steps,
        momentum=settings.student_momentum,
        full=slots.gradient == "full",
        batches=student_batches(batch_key, len(rows.x), settings.student_batch, settings.student_steps),
        split=student_split(network, slots),
    )
    finite = _finite(gradient)
    gated = finite & (gradient.loss > slots.gate) if slots.gate else jnp.asarray(False)
    moved = _step(settings, slots, state._replace(rows=rows), gradient, student_lr)
    state = jax.tree.map(lambda new, old: jnp.where(finite & ~gated, new, old), moved, state)
    return state, Figures(gradient.loss, student_lr, gradient.squared_length, gradient.travelled, ~finite, gated)


def student_loss(network: Network, slots: Slots):
    """ℓ(θ, rows, batch): the student's loss on the batch, or on all rows; dropout is off."""

    def loss(theta, rows, batch):
        targets = soft_targets(rows.labels) if slots.labels == "learned" else rows.labels
        if batch is None:
            return network.loss(theta, rows.x, targets)
        numbers, weights = batch
        return network.loss(theta, rows.x[numbers], targets[numbers], weights)

    return loss


def student_split(network: Network, slots: Slots) -> Split | None:
    """The same loss in two parts, first layer and the rest, where the network has them."""
    if not network.splits:
        return None

    def leave(theta, a, rows):
        targets = soft_targets(rows.labels) if slots.labels == "learned" else rows.labels
        return cross_entropy(network.leave(theta, a), targets)

    return Split(network.enter, leave)


def _labelled(network: Network, slots: Slots, ends: Array, target: Array, rows: Rows) -> Rows:
    """The rows with the labels of this iteration; constants as far as the gradient is concerned."""
    if slots.labels == "teacher":
        return rows._replace(labels=soft_targets(network.logits(target, rows.x)))
    if slots.labels == "ensemble":
        return rows._replace(labels=ensemble_targets(network, ends, rows.x))
    return rows


def _finite(gradient: MetaGradient) -> Array:
    leaves = jax.tree.leaves((gradient.loss, gradient.rows, gradient.student_lr))
    return jnp.stack([jnp.isfinite(leaf).all() for leaf in leaves]).all()


def _step(settings: MatchSettings, slots: Slots, state, gradient, student_lr) -> State:
    """The state after a step of the optimisers along the meta-gradient."""
    row_step, label_step, lr_step = _optimisers(settings)
    moves, row_memory = row_step.update(gradient.rows.x, state.row_memory)
    rows = state.rows._replace(x=state.rows.x + moves)
    label_memory, lr, lr_memory = state.label_memory, state.student_lr, state.lr_memory
    if slots.labels == "learned":
        moves, label_memory = label_step.update(gradient.rows.labels, label_memory)
        rows = rows._replace(labels=rows.labels + moves)
    if settings.learn_student_lr:
        slope = gradient.student_lr * (student_lr if settings.lr_scale == "log" else 1)
        move, lr_memory = lr_step.update(slope, lr_memory)
        bounds = (np.log(LOWEST_LR), np.log(HIGHEST_LR)) if settings.lr_scale == "log" else (LOWEST_LR, HIGHEST_LR)
        lr = jnp.clip(lr + move, *bounds)
    average = slots.average * state.average + (1 - slots.average) * rows.x
    return State(rows, average, lr, row_memory, label_memory, lr_memory)


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


def _candidates(settings: MatchSettings, slots: Slots, state: State) -> list[Candidate]:
    """The rows, and their running average where there is one."""
    labels = soft_targets(state.rows.labels) if slots.labels == "learned" else state.rows.labels
    inputs = [state.rows.x, state.average] if slots.average else [state.rows.x]
    lr = float(_student_lr(settings, state))
    return [Candidate(np.asarray(x), np.asarray(labels), lr) for x in inputs]


def _with_notes(found: Condensed, segments: Segments) -> Condensed:
    notes = list(segments.notes)
    gated = np.asarray(found.history["gated"]) if "gated" in found.history else np.zeros(1)
    if gated.mean() > OFTEN:
        notes.append(f"the loss gate stopped {gated.mean():.0%} of the iterations; raise slots.gate")
    if found.history["candidate"][np.argmax(found.history["tuning"])]:
        notes.append("the running average of the rows scored best on tuning, and is what was kept")
    return replace(found, notes=tuple(notes))
