"""The student's way, and how the rows should change so that it ends better.

The student starts at s, takes N steps on the synthetic rows and ends at θ_N, where a goal says what that is worth: the
matching loss L(θ_N). For a segment with the target t and D = ‖s - t‖² it is L = ‖θ_N - t‖² / D; other goals are in
``predictions.py``. One step is ``v ← μ v + g, θ ← θ - η v`` with g = ∇_θ ℓ(θ; rows).

The gradient runs backwards over the stored θ_i (memory N·P) with λ, the derivative of L by θ_{i+1}, and ν, the
derivative by v_{i+1}:

    λ = ∂L/∂θ_N,  ν = 0                              at the end
    ∂L/∂η    -= ⟨v_{i+1}, λ⟩
    ν         = ν - η λ
    ∂L/∂rows += ∇_rows ⟨∇_θ ℓ(θ_i; rows), ν⟩
    λ         = λ + ∇²_θ ℓ(θ_i; rows) ν              only in the full gradient
    ν         = μ ν

The first-order gradient (TESLA, BTM) leaves out the line with the Hessian: every θ_i is a constant. Then λ stays what
it is at the end and ν = -η c_i λ with c_i = 1 + μ c_{i+1}, so that every step sees the same direction λ and what
depends on it alone is computed once:

    ∂L/∂rows  = -η ∇_rows Σ_i c_i ⟨∇_θ ℓ(θ_i; rows), λ⟩

For plain steps (μ = 0, c_i = 1) that is the paper's formula.

A long way need not be gone back to its start: whoever walks the first steps with :func:`walk` and passes on the state
reached takes it as a constant, and the gradient goes back through the last steps only.

Where a network's first layer gives a = E(θ, x), linear in x and in θ, and the loss is M(θ, a), half of the products can
be saved: a_i is kept from the way forwards, its derivative along λ is E(λ, x) at every step, and with
s_i(a, b) = ⟨∇M(θ_i, a), (λ, b)⟩ only the first term below needs a product per step:

    ∂L/∂x  = -η Σ_i c_i E(θ_i, ·)ᵀ ∂s_i/∂a  -  η E(λ, ·)ᵀ Σ_i c_i ∂s_i/∂b        at a = a_i, b = E(λ, x)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from aliquot.matching.rows import Rows


class Batch(NamedTuple):
    """What one step of the student sees: rows by number with their weights (None: all), and dropout's key (None: off).

    The batches of several steps have one more axis in front.
    """

    numbers: Array | None = None
    weights: Array | None = None
    key: Array | None = None


StudentLoss = Callable[[Array, Rows, Batch | None], Array]  # ℓ(θ, rows, batch)
Goal = Callable[[Array], tuple[Array, Array, Any]]  # of θ_N: the matching loss, ∂L/∂θ_N, and whatever else it says


class Student(NamedTuple):
    """A student on its way."""

    theta: Array
    velocity: Array

    @classmethod
    def at(cls, theta: Array) -> "Student":
        """A student that has not moved yet."""
        return cls(theta, jnp.zeros_like(theta))


class Split(NamedTuple):
    """The student's loss in two parts, M(θ, E(θ, x), rows); E is linear in x and in θ."""

    enter: Callable[[Array, Array], Array]
    leave: Callable[[Array, Array, Rows], Array]


class MetaGradient(NamedTuple):
    """The matching loss and its derivatives."""

    loss: Array
    rows: Rows
    student_lr: Array
    end: Array  # θ_N
    further: Any = None  # what else the goal said


class SegmentGradient(NamedTuple):
    """The matching loss of a segment and its derivatives."""

    loss: Array
    rows: Rows
    student_lr: Array
    squared_length: Array  # D; 0 if no more than rounding error: then the loss is not finite
    travelled: Array  # ‖θ_N - s‖ / ‖t - s‖


def segment_gradient(
    student_loss: StudentLoss, rows: Rows, student_lr: Array, start: Array, target: Array, **how
) -> SegmentGradient:
    """Matching loss of one segment, and its derivatives by rows, labels and student learning rate.

    ``how`` goes to :func:`meta_gradient`.
    """
    squared_length = jnp.sum((start - target) ** 2)
    rounding = (8 * jnp.finfo(start.dtype).eps) ** 2 * jnp.sum(start**2)
    squared_length = jnp.where(squared_length > rounding, squared_length, 0)

    def distance(end):
        return jnp.sum((end - target) ** 2) / squared_length, 2 * (end - target) / squared_length, None

    found = meta_gradient(student_loss, rows, student_lr, Student.at(start), distance, **how)
    travelled = jnp.linalg.norm(found.end - start) / jnp.sqrt(squared_length)
    return SegmentGradient(found.loss, found.rows, found.student_lr, squared_length, travelled)


def walk(
    student_loss: StudentLoss,
    rows: Rows,
    student_lr: Array,
    student: Student,
    *,
    steps: int,
    momentum: float = 0.0,
    batches: Batch | None = None,
) -> Student:
    """The student after ``steps`` steps on the rows."""

    def step(student, batch):
        velocity = momentum * student.velocity + jax.grad(student_loss)(student.theta, rows, batch)
        return Student(student.theta - student_lr * velocity, velocity), None

    return jax.lax.scan(step, student, batches, length=steps)[0]


def meta_gradient(
    student_loss: StudentLoss,
    rows: Rows,
    student_lr: Array,
    student: Student,
    goal: Goal,
    *,
    steps: int,
    momentum: float = 0.0,
    full: bool = False,
    batches: Batch | None = None,
    split: Split | None = None,
) -> MetaGradient:
    """What the goal says after ``steps`` steps, and its derivatives by rows, labels and student learning rate.

    ``batches`` holds what each step sees, from :func:`student_batches`; None takes all rows at every step. ``full``
    takes the exact gradient, otherwise the first-order one; with ``split``, the same loss in two parts, that needs
    fewer products.
    """
    split = None if full or batches is not None else split

    def loss_of(theta, batch):
        if split is None:
            return student_loss(theta, rows, batch), None
        entered = split.enter(theta, rows.x)
        return split.leave(theta, entered, rows), entered

    def forwards(state, batch):
        theta, velocity, total = state
        gradient, entered = jax.grad(loss_of, has_aux=True)(theta, batch)
        velocity = momentum * velocity + gradient
        kept = theta, velocity if full else None, entered
        return (theta - student_lr * velocity, velocity, total + velocity), kept

    begin = (*student, jnp.zeros_like(student.theta))
    (end, _, total), (path, velocities, entered) = jax.lax.scan(forwards, begin, batches, length=steps)
    loss, pull, further = goal(end)
    if full:
        d_rows, d_lr = _full(student_loss, rows, student_lr, momentum, pull, (path, velocities, batches))
    elif split is not None:
        d_rows, d_lr = _first_order_split(split, rows, student_lr, momentum, pull, path, entered), -(total @ pull)
    else:
        d_rows, d_lr = _first_order(student_loss, rows, student_lr, momentum, pull, path, batches), -(total @ pull)
    return MetaGradient(loss, d_rows, d_lr, end, further)


def _slope(student_loss, theta, rows, batch, direction):
    """⟨∇_θ ℓ, direction⟩, the slope of the student's loss along a direction in parameter space."""
    return jax.jvp(lambda theta: student_loss(theta, rows, batch), (theta,), (direction,))[1]


def _first_order(student_loss, rows, student_lr, momentum, pull, path, batches) -> Rows:
    """One step after the other all the same: stacking them makes arrays that leave the cache (decision 2)."""
    weights = _step_weights(momentum, path)

    def add(d_rows, step):
        theta, weight, batch = step
        d_step = jax.grad(_slope, argnums=2)(student_loss, theta, rows, batch, pull)
        return jax.tree.map(lambda total, part: total - student_lr * weight * part, d_rows, d_step), None

    d_rows, _ = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, rows), (path, weights, batches), length=len(path))
    return d_rows


def _first_order_split(split: Split, rows, student_lr, momentum, pull, path, entered) -> Rows:
    along = split.enter(pull, rows.x)  # how what the first layer gives moves with θ along the pull

    def add(state, step):
        theta, a, weight = step

        def slope(a, b, labels):
            def leave(theta, a):
                return split.leave(theta, a, rows._replace(labels=labels))

            return weight * jax.jvp(leave, (theta, a), (pull, b))[1]

        d_a, d_b, d_labels = jax.grad(slope, argnums=(0, 1, 2))(a, along, rows.labels)
        parts = _into(split, theta, rows.x, d_a), d_b, d_labels
        return jax.tree.map(jnp.add, state, parts), None

    nothing = jax.tree.map(jnp.zeros_like, (rows.x, along, rows.labels))
    (d_x, d_b, d_labels), _ = jax.lax.scan(add, nothing, (path, entered, _step_weights(momentum, path)))
    return Rows(-student_lr * (d_x + _into(split, pull, rows.x, d_b)), -student_lr * d_labels)


def _into(split: Split, theta: Array, x: Array, d_a: Array) -> Array:
    """E(θ, ·)ᵀ d_a: a derivative by what the first layer gives as one by its input."""
    return jax.vjp(lambda x: split.enter(theta, x), x)[1](d_a)[0]


def _step_weights(momentum: float, path: Array) -> Array:
    """c_i = 1 + μ c_{i+1}: how often the gradient of step i has been added by the end."""
    return jnp.cumsum(momentum ** jnp.arange(len(path), dtype=path.dtype))[::-1]


def _full(student_loss, rows, student_lr, momentum, pull, way):
    """``way`` holds θ_i, v_{i+1} and the batch of every step."""

    def back(state, step):
        lam, nu, d_rows, d_lr = state
        theta, velocity, batch = step
        d_lr = d_lr - velocity @ lam
        nu = nu - student_lr * lam
        curved, d_step = jax.grad(_slope, argnums=(1, 2))(student_loss, theta, rows, batch, nu)
        return (lam + curved, momentum * nu, jax.tree.map(jnp.add, d_rows, d_step), d_lr), None

    still = (jnp.zeros_like(pull), jax.tree.map(jnp.zeros_like, rows), jnp.zeros_like(student_lr))
    (_, _, d_rows, d_lr), _ = jax.lax.scan(back, (pull, *still), way, reverse=True)
    return d_rows, d_lr
