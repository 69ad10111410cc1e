"""The meta-gradient against finite differences, closed forms and its own limits (methods.md §14: 1-4, 9)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aliquot.matching import Rows, Slots, Student, meta_gradient, segment_gradient, student_batches
from aliquot.matching.metagradient import Batch, walk
from aliquot.matching.rows import label_logits
from aliquot.matching.student import student_loss, student_split
from aliquot.networks import as_targets, mlp

D, H = 3, 4  # inputs and hidden units of a smooth (tanh) network


def loss(theta, rows, batch):
    weight, bias, out = theta[: D * H].reshape(D, H), theta[D * H : D * H + H], theta[D * H + H :]
    x, labels = rows
    if batch is not None:
        numbers, weights, _ = batch
        x, labels = x[numbers], labels[numbers]
    z = jnp.tanh(x @ weight + bias) @ out
    losses = jax.nn.softplus(z) - jax.nn.sigmoid(labels) * z
    return losses.mean() if batch is None else (losses * weights).sum() / weights.sum()


def problem(n=6):
    keys = jax.random.split(jax.random.key(1), 4)
    size = D * H + 2 * H
    rows = Rows(jax.random.normal(keys[0], (n, D)), jax.random.normal(keys[1], (n,)))
    return rows, jax.random.normal(keys[2], (size,)), jax.random.normal(keys[3], (size,))


def final(rows, lr, start, steps, momentum, batches, frozen=None):
    """θ_N by a plain Python loop; with ``frozen`` the gradients are taken at those θ_i instead."""
    theta, velocity, path = start, 0.0, []
    for i in range(steps):
        batch = None if batches is None else Batch(batches.numbers[i], batches.weights[i])
        path.append(theta)
        velocity = momentum * velocity + jax.grad(loss)(theta if frozen is None else frozen[i], rows, batch)
        theta = theta - lr * velocity
    return theta, path


def matching_loss(rows, lr, start, target, steps, momentum, batches=None, frozen=None):
    end, _ = final(rows, lr, start, steps, momentum, batches, frozen)
    return jnp.sum((end - target) ** 2) / jnp.sum((start - target) ** 2)


def central_difference(function, at, epsilon=1e-6):
    function = jax.jit(function)
    at = np.asarray(at, np.float64)
    slopes = np.zeros_like(at)
    for index in np.ndindex(*at.shape):
        step = np.zeros_like(at)
        step[index] = epsilon
        slopes[index] = (function(jnp.asarray(at + step)) - function(jnp.asarray(at - step))) / (2 * epsilon)
    return slopes


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("batch", [0, 4])
def test_full_gradient_equals_central_differences(x64, momentum, batch):
    rows, start, target = problem()
    batches = student_batches(jax.random.key(2), 6, batch, 5)
    lr = jnp.asarray(0.3)
    got = segment_gradient(loss, rows, lr, start, target, steps=5, momentum=momentum, full=True, batches=batches)

    def by_x(x):
        return matching_loss(rows._replace(x=x), lr, start, target, 5, momentum, batches)

    def by_labels(labels):
        return matching_loss(rows._replace(labels=labels), lr, start, target, 5, momentum, batches)

    def by_lr(lr):
        return matching_loss(rows, lr, start, target, 5, momentum, batches)

    np.testing.assert_allclose(got.rows.x, central_difference(by_x, rows.x), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(got.rows.labels, central_difference(by_labels, rows.labels), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(got.student_lr, central_difference(by_lr, lr), rtol=1e-6)
    np.testing.assert_allclose(got.loss, by_x(rows.x), rtol=1e-12)


def test_full_gradient_equals_autodiff(x64):
    rows, start, target = problem()
    got = segment_gradient(loss, rows, jnp.asarray(0.2), start, target, steps=8, momentum=0.5, full=True)
    unrolled = jax.jit(jax.grad(lambda rows: matching_loss(rows, 0.2, start, target, 8, 0.5)))(rows)
    np.testing.assert_allclose(got.rows.x, unrolled.x, rtol=1e-9)
    np.testing.assert_allclose(got.rows.labels, unrolled.labels, rtol=1e-9)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_first_order_gradient_is_the_one_with_frozen_path(x64, momentum):
    rows, start, target = problem()
    lr = jnp.asarray(0.3)
    got = segment_gradient(loss, rows, lr, start, target, steps=5, momentum=momentum)
    _, path = final(rows, lr, start, 5, momentum, None)

    def by_x(x):
        return matching_loss(rows._replace(x=x), lr, start, target, 5, momentum, frozen=path)

    def by_lr(lr):
        return matching_loss(rows, lr, start, target, 5, momentum, frozen=path)

    np.testing.assert_allclose(got.rows.x, central_difference(by_x, rows.x), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(got.student_lr, central_difference(by_lr, lr), rtol=1e-6)


def test_first_order_gradient_is_teslas_two_term_formula(x64):
    rows, start, target = problem()
    lr, steps = 0.3, 5
    got = segment_gradient(loss, rows, jnp.asarray(lr), start, target, steps=steps)
    _, path = final(rows, lr, start, steps, 0.0, None)
    gradients = [jax.grad(loss)(theta, rows, None) for theta in path]
    total, squared = sum(gradients), jnp.sum((start - target) ** 2)
    direction = 2 / squared * (lr * (target - start) + lr**2 * total)
    terms = sum(
        jax.grad(lambda x, th=th: jax.grad(loss)(th, rows._replace(x=x), None) @ direction)(rows.x) for th in path
    )
    np.testing.assert_allclose(got.rows.x, terms, rtol=1e-10)
    np.testing.assert_allclose(got.student_lr, -total @ (2 * (start - lr * total - target) / squared), rtol=1e-10)


def test_first_order_equals_full_for_one_step_and_for_tiny_steps(x64):
    rows, start, target = problem()

    def both(lr, steps):
        return [
            segment_gradient(loss, rows, jnp.asarray(lr), start, target, steps=steps, full=f).rows.x for f in (0, 1)
        ]

    np.testing.assert_allclose(*both(0.5, steps=1), rtol=1e-12)

    def angle(lr):
        a, b = both(lr, steps=8)
        return 1 - jnp.vdot(a, b) / jnp.linalg.norm(a) / jnp.linalg.norm(b)

    assert angle(1e-4) < 1e-6 < angle(0.5)


def test_loss_is_one_without_steps_and_zero_on_the_target(x64):
    rows, start, target = problem()
    assert segment_gradient(loss, rows, jnp.asarray(0.3), start, target, steps=0).loss == 1.0
    end, _ = final(rows, 0.3, start, 4, 0.0, None)
    np.testing.assert_allclose(segment_gradient(loss, rows, jnp.asarray(0.3), start, end, steps=4).loss, 0, atol=1e-25)


def test_a_row_drawn_twice_gathers_both_gradients_and_one_not_drawn_none(x64):
    rows, start, target = problem()
    numbers = jnp.array([[0, 0, 1], [2, 3, 4]])

    def gradient(numbers):
        batches = Batch(numbers, jnp.ones(numbers.shape))
        return segment_gradient(loss, rows, jnp.asarray(0.3), start, target, steps=2, batches=batches).rows.x

    got = gradient(numbers)
    assert (got[5] == 0).all()
    twin = Rows(jnp.concatenate([rows.x, rows.x[:1]]), jnp.concatenate([rows.labels, rows.labels[:1]]))
    split = segment_gradient(
        loss,
        twin,
        jnp.asarray(0.3),
        start,
        target,
        steps=2,
        batches=Batch(jnp.array([[0, 6, 1], [2, 3, 4]]), jnp.ones((2, 3))),
    ).rows.x
    np.testing.assert_allclose(got[0], split[0] + split[6], rtol=1e-12)


def test_student_batches_take_the_short_remainder_first_and_every_row_once_per_round():
    numbers, weights, _ = student_batches(jax.random.key(0), n=10, batch_size=4, steps=6)
    assert weights.sum(axis=1).tolist() == [2, 4, 4, 2, 4, 4]
    for first in (0, 3):
        used = np.asarray(numbers[first : first + 3])[np.asarray(weights[first : first + 3]) == 1]
        assert sorted(used) == list(range(10))


@pytest.mark.parametrize("size", [0, 10, 99])
def test_student_batches_of_all_rows_need_no_numbers(size):
    assert student_batches(jax.random.key(0), n=10, batch_size=size, steps=6) is None


@pytest.mark.parametrize(
    ("momentum", "hidden", "labels", "n_classes"),
    [(0.0, (6,), "hard", 2), (0.9, (6, 4), "learned", 2), (0.9, (6,), "learned", 3)],
)
def test_a_loss_in_two_parts_has_the_same_first_order_gradient(x64, momentum, hidden, labels, n_classes):
    network, slots = mlp(4, n_classes, hidden, 0.19), Slots(labels=labels)
    rng = np.random.default_rng(0)
    targets = as_targets(np.arange(5) % n_classes, n_classes)
    rows = Rows(jnp.asarray(rng.normal(size=(5, 4))), label_logits(targets) if labels == "learned" else targets)
    start, target = network.init(jax.random.key(0)), network.init(jax.random.key(1))
    options = {"steps": 6, "momentum": momentum}
    lr = jnp.asarray(0.3)
    whole = segment_gradient(student_loss(network, slots), rows, lr, start, target, **options)
    parts = student_split(network, slots)
    split = segment_gradient(student_loss(network, slots), rows, lr, start, target, split=parts, **options)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(split), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_the_first_layer_is_linear_in_rows_and_parameters(x64):
    network = mlp(4, 2, (6,), 0.19)
    a, b = (network.init(jax.random.key(seed)) for seed in (0, 1))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(5, 4)))
    assert network.splits
    np.testing.assert_allclose(network.enter(a, x) + 2 * network.enter(b, x), network.enter(a + 2 * b, x), rtol=1e-9)
    np.testing.assert_allclose(network.leave(a, network.enter(a, x)), network.logits(a, x), rtol=1e-12)


def test_a_network_without_parts_is_matched_all_the_same(smooth):
    assert student_split(smooth(4), Slots()) is None


def worth(end):
    """A goal that is neither quadratic nor the same everywhere."""
    value, pull = jax.value_and_grad(lambda theta: jnp.sum(jnp.sin(theta)) + jnp.sum(theta**2) / 3)(end)
    return value, pull, None


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_the_gradient_of_any_goal_goes_back_through_the_window_and_no_further(x64, momentum):
    rows, start, _ = problem()
    lr, before, window = jnp.asarray(0.3), 3, 4
    how = {"momentum": momentum}
    student = walk(loss, rows, lr, Student.at(start), steps=before, **how)
    end, _ = final(rows, lr, start, before, momentum, None)
    np.testing.assert_allclose(student.theta, end, rtol=1e-12)
    got = meta_gradient(loss, rows, lr, student, worth, steps=window, full=True, **how)

    def by_rows(rows):
        return worth(walk(loss, rows, lr, student, steps=window, **how).theta)[0]

    by_x = central_difference(lambda x: by_rows(rows._replace(x=x)), rows.x)
    by_labels = central_difference(lambda labels: by_rows(rows._replace(labels=labels)), rows.labels)
    np.testing.assert_allclose(got.rows.x, by_x, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(got.rows.labels, by_labels, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(got.loss, by_rows(rows), rtol=1e-12)


def test_the_gradient_sees_the_same_dropout_backwards_as_forwards(x64):
    network, slots = mlp(4, 2, (6,), 0.4), Slots(labels="learned")
    rng = np.random.default_rng(3)
    rows = Rows(jnp.asarray(rng.normal(size=(5, 4))), jnp.asarray(rng.normal(size=5)))
    start, lr = Student.at(network.init(jax.random.key(0))), jnp.asarray(0.2)
    batches = student_batches(jax.random.key(4), 5, 0, 6, dropout=True)
    assert batches.numbers is None
    assert len(batches.key) == 6
    how = {"steps": 6, "momentum": 0.9, "batches": batches}
    got = meta_gradient(student_loss(network, slots), rows, lr, start, worth, full=True, **how)

    def by_rows(rows):
        return worth(walk(student_loss(network, slots), rows, lr, start, **how).theta)[0]

    unrolled = jax.grad(by_rows)(rows)
    np.testing.assert_allclose(got.rows.x, unrolled.x, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(got.rows.labels, unrolled.labels, rtol=1e-8, atol=1e-12)
    still = walk(student_loss(network, slots), rows, lr, start, steps=6, momentum=0.9)
    assert not np.allclose(got.end, still.theta)  # dropout was on
