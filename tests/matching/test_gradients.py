"""Gradient matching: the distance, its gradient, the two nested loops (methods.md §10)."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aliquot.context import Context, InMemoryStore
from aliquot.matching.classwise import State, in_class_order, run_class_block
from aliquot.matching.gradients import (
    GradientSettings,
    _iterate,
    _loss,
    _optimiser,
    _train,
    gradient_distance,
    loops,
    match_gradients,
    unit_rows,
)
from aliquot.matching.rows import Rows
from aliquot.networks import as_targets, mlp

SETTINGS = GradientSettings(iterations=40, outer_steps=3, inner_epochs=2, real_batch=16, data_lr=1.0, judge_every=20)

distance = jax.jit(gradient_distance, static_argnums=0)
train = jax.jit(_train, static_argnums=(0, 1))


@pytest.fixture
def start():
    x = np.random.default_rng(1).normal(size=(6, 5)).astype(np.float32)
    return x, as_targets(np.array([0, 0, 0, 1, 1, 1]), 2)


def run(network, patients, start, judge, settings=SETTINGS, **stored):
    rows, context = Rows(jnp.asarray(start[0]), start[1]), Context(judge, **stored)
    return match_gradients(network, settings, *patients, rows, key=jax.random.key(5), context=context)


def test_distance_of_gradients_is_about_directions_of_units(smooth):
    network = smooth(3)
    g = network.init(jax.random.key(0))
    assert [rows.shape for rows in unit_rows(network, g)] == [(4, 3), (1, 4)]
    assert distance(network, g, g) == pytest.approx(0, abs=1e-4)
    assert distance(network, 3 * g, g) == pytest.approx(0, abs=1e-4)
    assert distance(network, -g, g) == pytest.approx(2 * 5, abs=1e-4)


def test_biases_do_not_count(smooth):
    network = smooth(3)
    g = network.init(jax.random.key(0))
    bias = np.concatenate([np.zeros(12), np.ones(4), np.zeros(4), np.ones(1)])
    tree = network.parameters(jnp.asarray(bias))
    assert tree.first.bias.tolist() == [1] * 4
    assert tree.second.bias.tolist() == [1]
    assert distance(network, g + 5 * bias, g) == distance(network, g, g)


def test_a_unit_without_gradient_counts_one_and_has_no_slope(smooth):
    network = smooth(3)
    g = network.init(jax.random.key(0))
    dead = g.at[:3].set(0)  # incoming weights of the first unit
    assert distance(network, dead, g) == pytest.approx(1, abs=1e-4)
    slope = jax.jit(jax.grad(gradient_distance, argnums=1), static_argnums=0)(network, dead, g)
    assert jnp.isfinite(slope).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradient_against_finite_differences(x64, smooth, n_classes):
    network = smooth(3, n_classes)
    rng = np.random.default_rng(0)
    theta = jnp.asarray(rng.normal(size=network.n_parameters))
    real = jnp.asarray(rng.normal(size=(n_classes, 5, 3)))
    loss = jax.jit(jax.value_and_grad(lambda x: _loss(network, theta, x, real)))
    x, direction = rng.normal(size=(2, n_classes, 2, 3))
    ahead, behind = (loss(x + step * direction)[0] for step in (1e-5, -1e-5))
    assert np.sum(loss(x)[1] * direction) == pytest.approx(float((ahead - behind) / 2e-5), rel=1e-5)


def test_table_of_loops():
    asked = {1: (1, 1), 2: (1, 1), 10: (10, 50), 25: (20, 25), 30: (30, 20), 49: (40, 15), 50: (50, 10), 500: (50, 10)}
    assert {rows: loops(GradientSettings(), rows) for rows in asked} == asked
    assert loops(SETTINGS, 50) == (3, 2)


def test_network_is_trained_by_plain_gradient_descent(small_network, start):
    x, targets = start
    theta = jnp.asarray(np.random.default_rng(0).normal(size=small_network.n_parameters), jnp.float32)
    gradient = jax.jit(jax.grad(small_network.loss))
    by_hand = theta
    for _ in range(3):
        by_hand = by_hand - 0.01 * gradient(by_hand, x, targets)
    blocks = jnp.asarray(x).reshape(2, 3, 5)
    np.testing.assert_allclose(train(small_network, SETTINGS, theta, blocks, 3, jax.random.key(0)), by_hand, rtol=1e-5)
    in_batches = replace(SETTINGS, network_batch=4)
    batched = train(small_network, in_batches, theta, blocks, 3, jax.random.key(0))
    assert not np.allclose(batched, by_hand, rtol=1e-5)
    assert np.isfinite(batched).all()


def test_the_network_is_as_drawn_at_the_first_step_and_trained_before_the_second(small_network, blobs, start):
    (x, labels), _ = blobs
    alike = np.where(labels[:, None] == 1, x[labels == 1][:1], x[labels == 0][:1])  # so that batches do not matter
    patients = in_class_order(alike, labels, 2)
    rows = jnp.asarray(start[0]).reshape(2, 3, 5)
    still = replace(SETTINGS, outer_steps=2, data_lr=0.0)
    state = State(rows, _optimiser(still).init(rows))
    _, figures = run_class_block(_iterate, small_network, still, patients, state, jax.random.key(0), 0, 1)

    network_key, _ = jax.random.split(jax.random.fold_in(jax.random.key(0), 0))
    drawn = jax.jit(small_network.init)(network_key)
    trained = train(small_network, SETTINGS, drawn, rows, 2, network_key)
    real = patients.x[patients.first][:, None]
    loss = [jax.jit(_loss, static_argnums=0)(small_network, theta, rows, real) for theta in (drawn, trained)]
    assert loss[0] != loss[1]
    assert figures["loss"][0] == pytest.approx(np.mean(loss), rel=1e-5)


def test_loss_falls_and_a_stopped_search_continues_to_the_same_rows(smooth, blobs, start, last):
    network = smooth(5)
    whole = run(network, blobs[0], start, last())
    loss = whole.history["loss"]
    assert loss[-10:].mean() < 0.8 * loss[:5].mean()
    assert (whole.x != start[0]).any(axis=1).all()
    assert whole.skipped == 0
    store = InMemoryStore()
    with pytest.raises(KeyboardInterrupt):
        run(network, blobs[0], start, last(stop_after=2), store=store)
    continued = run(network, blobs[0], start, last(evaluations_before=2), store=store)
    assert (whole.x == continued.x).all()
    assert (loss == continued.history["loss"]).all()


def test_three_classes_and_a_step_that_is_not_finite(blobs, last):
    (x, labels), _ = blobs
    three = labels + (x[:, 2] > 1)
    network = mlp(5, 3, (8,))
    start = np.ones((6, 5), np.float32), as_targets(np.repeat(np.arange(3), 2), 3)
    got = run(network, (x, three), start, last())
    assert np.isfinite(got.history["loss"]).all()
    assert (got.x != start[0]).any(axis=1).all()
    broken = run(network, (np.full_like(x, np.nan), three), start, last())
    assert broken.skipped == 40
    assert (broken.x == start[0]).all()
