"""The one loop of all trajectory matching: draw a segment, let the student walk, move the rows."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from aliquot.cohort import ValidRows
from aliquot.context import Context
from aliquot.errors import DegenerateSegmentError
from aliquot.identity import identity
from aliquot.matching.history import Candidate, Condensed
from aliquot.matching.labels import first_labels, labelled
from aliquot.matching.metagradient import Batch, Student, meta_gradient, segment_gradient, walk
from aliquot.matching.predictions import Drawn, Questions, draw_questions, prediction_loss
from aliquot.matching.projection import project
from aliquot.matching.rows import Rows, soft_targets
from aliquot.matching.search import search
from aliquot.matching.segments import Segments, SegmentSettings
from aliquot.matching.slots import Slots
from aliquot.matching.student import student_batches, student_loss, student_split
from aliquot.networks import Network

LOWEST_LR, HIGHEST_LR = 1e-6, 1.0  # the learned student learning rate is projected to this range
OFTEN = 0.9  # a gate that stops more than this share of the iterations is worth a note


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """One outer iteration and how many there are; defaults are the paper's."""

    iterations: int = 40_000
    student_steps: int = 30
    window: int = 0  # the gradient goes back through so many last steps, all that a student on the path takes; 0: all
    student_lr: float = 0.01
    student_momentum: float = 0.0
    student_batch: int = 0  # rows per student step; 0: all rows
    student_dropout: bool = False  # as networks that are trained on the rows have it
    optimiser: Literal["sgd", "adam"] = "sgd"  # of the rows; "sgd" is heavy ball
    data_lr: float = 100.0
    data_momentum: float = 0.9  # of "sgd"
    decay: float = 1.0  # learning rates of rows, labels and scale end at this share, along a cosine
    normalise: bool = False  # every iteration counts as much: gradients are divided by the length of the rows'
    learn_student_lr: bool = True
    lr_lr: float = 1e-4  # learning rate of the student's learning rate
    lr_momentum: float = 0.5
    lr_scale: Literal["raw", "log"] = "raw"  # "log": learn the logarithm
    label_lr: float = 2.0  # of learned labels
    label_start: Literal["hard", "experts", "ensemble", "balanced"] = "hard"  # of learned labels: see first_labels
    scale_lr: float = 0.0  # of the logarithm of the scale of predictions
    questions: int = 2048  # patients on whom predictions are compared at each iteration
    judge_every: int = 100  # iterations between two evaluations on the tuning part
    segment: SegmentSettings = field(default_factory=SegmentSettings)


class State(NamedTuple):
    """All that changes from one iteration to the next."""

    rows: Rows
    average: Rows  # of the rows over the iterations
    student_lr: Array  # or its logarithm
    log_scale: Array  # of predictions
    row_memory: Any  # the optimisers' states
    label_memory: Any
    lr_memory: Any
    scale_memory: Any


class Material(NamedTuple):
    """All that stays the same: the experts' ends, what students are asked, what a valid record is."""

    ends: Array  # (K, P)
    questions: Questions | None = None
    valid: ValidRows | None = None


class Draw(NamedTuple):
    """What one iteration is about or, with one more axis, several."""

    start: Array  # (P,)
    target: Array  # (P,)
    fresh: Array  # whether the student begins as a fresh network does
    drawn: Drawn | None
    key: Array  # of the student's batches and dropout


class Figures(NamedTuple):
    """What one iteration reports."""

    loss: Array
    student_lr: Array
    squared_length: Array
    travelled: Array
    skipped: Array  # not finite
    gated: Array  # loss above the gate


class Judged(NamedTuple):
    """The matching loss of an iteration and its derivatives."""

    loss: Array
    rows: Rows
    student_lr: Array
    log_scale: Array
    squared_length: Array
    travelled: Array


def match(
    network: Network,
    settings: MatchSettings,
    slots: Slots,
    segments: Segments,
    start: Rows,
    *,
    questions: Questions | None = None,
    valid: ValidRows | None = None,
    key: Array,
    context: Context,
) -> Condensed:
    """Learn rows, starting from ``start`` with hard labels, on which a student ends where it should.

    Iterations run in compiled blocks; after each block the judge scores the rows, and their running average where there
    is one; those with the best tuning score are kept, or the last where the slots say so. The starting rows are judged
    too. ``questions`` are what predictions are compared on, ``valid`` what a valid record is; both as slots need them.
    """
    material = Material(jnp.asarray(segments.ends), questions, valid if slots.valid else None)
    offset = 0 if questions is None else questions.offset
    labels = first_labels(network, slots, settings.label_start, material.ends, start, offset)

    def advance(state, first, count):
        draws = draw_iterations(network, settings, slots, material, segments, key, np.arange(first, first + count))
        state, figures = run_block(network, settings, slots, material, state, draws)
        if (np.asarray(figures.squared_length) == 0).any():
            raise DegenerateSegmentError(
                "asked to match trajectory segments, but found one whose start equals its target; "
                "train the experts longer or with a larger learning rate"
            )
        return state, figures._asdict()

    found = search(
        begin(settings, start._replace(labels=labels)),
        advance,
        partial(_candidates, settings, slots, material),
        name=identity("matching", network.description, settings, slots, jax.tree.leaves(material), *start, key),
        iterations=settings.iterations,
        judge_every=settings.judge_every,
        keep=slots.keep,
        context=context,
    )
    return _with_notes(found, segments, slots)


def draw_iterations(
    network: Network,
    settings: MatchSettings,
    slots: Slots,
    material: Material,
    segments: Segments,
    key: Array,
    numbers: np.ndarray,
) -> Draw:
    """What the iterations of these numbers are about."""
    segment_keys, batch_keys = _iteration_keys(key, jnp.asarray(numbers))
    starts, targets = segments.draw(segment_keys, numbers / settings.iterations)
    fresh = np.full(len(numbers), slots.begin == "fresh") | ((slots.begin == "both") & (numbers % 2 == 0))
    if fresh.any():
        starts = jnp.where(fresh[:, None], _fresh(network, segment_keys), starts)
    drawn = None
    if material.questions is not None:
        drawn = draw_questions(material.questions, segment_keys, settings.questions)
    return Draw(starts, targets, jnp.asarray(fresh), drawn, batch_keys)


@jax.jit
def _iteration_keys(key, numbers):
    return jax.vmap(lambda number: jax.random.split(jax.random.fold_in(key, number)), out_axes=1)(numbers)


@partial(jax.jit, static_argnames="network")
def _fresh(network, keys):
    return jax.vmap(network.init)(keys)


def begin(settings: MatchSettings, rows: Rows) -> State:
    """The state before the first iteration."""
    lr = jnp.asarray(settings.student_lr, rows.x.dtype)
    lr = jnp.log(lr) if settings.lr_scale == "log" else lr
    log_scale = jnp.zeros((), rows.x.dtype)
    row_step, label_step, lr_step, scale_step = _optimisers(settings)
    return State(
        rows,
        rows,
        lr,
        log_scale,
        row_step.init(rows.x),
        label_step.init(rows.labels),
        lr_step.init(lr),
        scale_step.init(log_scale),
    )


@partial(jax.jit, static_argnames=("network", "settings", "slots"))
def run_block(
    network: Network, settings: MatchSettings, slots: Slots, material: Material, state: State, draws: Draw
) -> tuple[State, Figures]:
    """The state after one iteration per draw, and the figures of each."""

    def one(state, draw):
        return iterate(network, settings, slots, material, state, draw)

    return jax.lax.scan(one, state, draws)


def iterate(
    network: Network, settings: MatchSettings, slots: Slots, material: Material, state: State, draw: Draw
) -> tuple[State, Figures]:
    """One outer iteration: student, meta-gradient, update of rows, labels and student learning rate.

    When the loss or any derivative is not finite, or the loss is above the gate, everything stays as it was and the
    iteration is counted.
    """
    rows = labelled(network, slots, material.ends, draw.target, state.rows)
    seen = rows._replace(x=_seen(material, rows.x))
    student_lr = _student_lr(settings, state)
    judged = _by_predictions if slots.goal == "predictions" else _by_parameters
    found = judged(network, settings, slots, material, state._replace(rows=seen), student_lr, draw)
    finite = _finite(found)
    gated = finite & (found.loss > slots.gate) if slots.gate else jnp.asarray(False)
    moved = _step(settings, slots, state._replace(rows=rows), found, student_lr)
    state = jax.tree.map(lambda new, old: jnp.where(finite & ~gated, new, old), moved, state)
    return state, Figures(found.loss, student_lr, found.squared_length, found.travelled, ~finite, gated)


def _by_parameters(network, settings, slots, material, state, student_lr, draw) -> Judged:
    """The student is judged by how near it ends to the segment's target."""
    steps = settings.student_steps
    found = segment_gradient(
        student_loss(network, slots),
        state.rows,
        student_lr,
        draw.start,
        draw.target,
        steps=steps,
        momentum=settings.student_momentum,
        full=slots.gradient == "full",
        batches=_batches(settings, state, draw, steps),
        split=student_split(network, slots),
    )
    return Judged(found.loss, found.rows, found.student_lr, jnp.zeros(()), found.squared_length, found.travelled)


def _by_predictions(network, settings, slots, material, state, student_lr, draw) -> Judged:
    """The student is judged by what it predicts; a fresh one first walks up to the window."""
    steps = settings.student_steps
    window = min(settings.window or steps, steps)
    before = steps - window
    how = {"momentum": settings.student_momentum}
    loss = student_loss(network, slots)
    batches = _batches(settings, state, draw, steps)
    early, late = (jax.tree.map(lambda part, at=at: part[at], batches) for at in (slice(before), slice(before, None)))

    def walked(student):
        return walk(loss, state.rows, student_lr, student, steps=before, batches=early, **how)

    def goal(end):
        judged = partial(prediction_loss, network, material.questions, draw.drawn)
        value, (pull, d_scale) = jax.value_and_grad(judged, argnums=(0, 1))(end, state.log_scale)
        return value, pull, d_scale

    student = Student.at(draw.start)
    if before:
        student = jax.lax.cond(draw.fresh, walked, lambda student: student, student)
    full = slots.gradient == "full"
    found = meta_gradient(loss, state.rows, student_lr, student, goal, steps=window, full=full, batches=late, **how)
    travelled = jnp.linalg.norm(found.end - draw.start)
    return Judged(found.loss, found.rows, found.student_lr, found.further, jnp.ones(()), travelled)


def _batches(settings, state, draw, steps) -> Batch | None:
    size = len(state.rows.x)
    return student_batches(draw.key, size, settings.student_batch, steps, dropout=settings.student_dropout)


def _seen(material: Material, x: Array) -> Array:
    """The rows as the student and the world see them: valid records, where these are asked for."""
    return x if material.valid is None else project(material.valid, x)


def _finite(found: Judged) -> Array:
    leaves = jax.tree.leaves((found.loss, found.rows, found.student_lr, found.log_scale))
    return jnp.stack([jnp.isfinite(leaf).all() for leaf in leaves]).all()


def _step(settings: MatchSettings, slots: Slots, state: State, found: Judged, student_lr: Array) -> State:
    """The state after a step of the optimisers along the meta-gradient."""
    row_step, label_step, lr_step, scale_step = _optimisers(settings)
    d_rows = found.rows
    if settings.normalise:
        d_rows = jax.tree.map(lambda part: part / jnp.linalg.norm(found.rows.x.ravel()), d_rows)
    x, row_memory = _moved(row_step, state.rows.x, d_rows.x, state.row_memory)
    labels, label_memory = state.rows.labels, state.label_memory
    if slots.labels == "learned":
        labels, label_memory = _moved(label_step, labels, d_rows.labels, label_memory)
    rows = Rows(x, labels)
    lr, lr_memory = state.student_lr, state.lr_memory
    if settings.learn_student_lr:
        slope = found.student_lr * (student_lr if settings.lr_scale == "log" else 1)
        lr, lr_memory = _moved(lr_step, lr, slope, lr_memory)
        bounds = (np.log(LOWEST_LR), np.log(HIGHEST_LR)) if settings.lr_scale == "log" else (LOWEST_LR, HIGHEST_LR)
        lr = jnp.clip(lr, *bounds)
    log_scale, scale_memory = state.log_scale, state.scale_memory
    if settings.scale_lr:
        log_scale, scale_memory = _moved(scale_step, log_scale, found.log_scale, scale_memory)
    average = jax.tree.map(lambda old, new: slots.average * old + (1 - slots.average) * new, state.average, rows)
    return State(rows, average, lr, log_scale, row_memory, label_memory, lr_memory, scale_memory)


def _moved(optimiser: optax.GradientTransformation, value: Array, slope: Array, memory: Any) -> tuple[Array, Any]:
    """The value after a step of its optimiser, and what the optimiser remembers."""
    move, memory = optimiser.update(slope, memory)
    return jnp.asarray(optax.apply_updates(value, move)), memory


def _optimisers(settings: MatchSettings):
    """Optimisers of rows, labels, student learning rate and the scale of predictions."""
    if settings.optimiser == "adam":
        rows, labels = (optax.adam(_decayed(settings, lr)) for lr in (settings.data_lr, settings.label_lr))
    else:
        rates = (_decayed(settings, lr) for lr in (settings.data_lr, settings.label_lr))
        rows, labels = (optax.sgd(rate, settings.data_momentum) for rate in rates)
    scale = optax.adam(_decayed(settings, settings.scale_lr))
    return rows, labels, optax.sgd(settings.lr_lr, settings.lr_momentum), scale


def _decayed(settings: MatchSettings, lr: float):
    return lr if settings.decay == 1 else optax.cosine_decay_schedule(lr, settings.iterations, settings.decay)


def _student_lr(settings: MatchSettings, state: State) -> Array:
    return jnp.exp(state.student_lr) if settings.lr_scale == "log" else state.student_lr


def _candidates(settings: MatchSettings, slots: Slots, material: Material, state: State) -> list[Candidate]:
    """The rows, and their running average where there is one; the average alone where the last is kept."""
    shown = [state.rows, state.average] if slots.average else [state.rows]
    shown = shown[-1:] if slots.keep == "last" else shown
    lr = float(_student_lr(settings, state))
    return [
        Candidate(np.asarray(_seen(material, rows.x)), np.asarray(_as_targets(slots, rows.labels)), lr)
        for rows in shown
    ]


def _as_targets(slots: Slots, labels: Array) -> Array:
    return soft_targets(labels) if slots.labels == "learned" else labels


def _with_notes(found: Condensed, segments: Segments, slots: Slots) -> Condensed:
    notes = list(segments.notes)
    gated = np.asarray(found.history["gated"]) if "gated" in found.history else np.zeros(1)
    if gated.mean() > OFTEN:
        notes.append(f"the loss gate stopped {gated.mean():.0%} of the iterations; raise slots.gate")
    if slots.keep == "best" and found.history["candidate"][np.argmax(found.history["tuning"])]:
        notes.append("the running average of the rows scored best on tuning, and is what was kept")
    return replace(found, notes=tuple(notes))
