"""Distribution matching: kernels (methods.md §14: 7), determinism, blocks, continuing, guards (10, 12)."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aliquot.context import Context, InMemoryStore
from aliquot.errors import SettingsError
from aliquot.matching.classwise import State, class_batches, in_class_order, run_class_block
from aliquot.matching.distribution import (
    DistributionSettings,
    _iterate,
    _optimiser,
    match_distributions,
    mmd,
    squared_distances,
)
from aliquot.matching.rows import Rows
from aliquot.networks import as_targets, mlp

KERNELS = ("gaussian", "linear", "polynomial", "laplace")
SETTINGS = DistributionSettings(iterations=40, width=6, real_batch=16, data_lr=0.1, judge_every=20)
DM = replace(SETTINGS, kernel="linear", features="penultimate", network_every=1, step="sum", scale_lr=False)

discrepancy = jax.jit(mmd, static_argnums=2)
slope = jax.jit(jax.grad(mmd), static_argnums=2)


def features(seed, n, shift=0.0):
    return np.random.default_rng(seed).normal(shift, 1.0, size=(n, 3))


def bandwidth(s, r):
    z = np.concatenate([s, r])
    return ((z[:, None] - z[None]) ** 2).sum() / (len(z) ** 2 - len(z))


def by_hand(s, r, kernel, b):
    """The discrepancy as the paper writes it: three means over pairs."""

    def pairs(a, c):
        distance, product = ((a[:, None] - c[None]) ** 2).sum(axis=-1), a @ c.T
        return {
            "gaussian": sum(np.exp(-distance / (m * b)) for m in (0.25, 0.5, 1, 2, 4)),
            "linear": product,
            "polynomial": (product + 1) ** 2,
            "laplace": sum(np.exp(-g * distance) for g in (0.1, 1, 5)),
        }[kernel].mean()

    return pairs(s, s) - 2 * pairs(s, r) + pairs(r, r)


def differences(function, x, step=1e-5):
    """Central finite differences of a function of one array."""
    slopes = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        move = np.zeros_like(x)
        move[place] = step
        slopes[place] = (function(x + move) - function(x - move)) / (2 * step)
    return slopes


@pytest.mark.parametrize("kernel", KERNELS)
def test_discrepancy_is_the_formula(x64, kernel):
    s, r = features(0, 4), features(1, 6, 0.5)
    assert discrepancy(jnp.asarray(s), jnp.asarray(r), kernel) == pytest.approx(by_hand(s, r, kernel, bandwidth(s, r)))


def test_linear_kernel_compares_means_and_polynomial_second_moments_too(x64):
    s, r = features(0, 4), features(1, 6, 0.5)
    first = ((s.mean(axis=0) - r.mean(axis=0)) ** 2).sum()
    second = ((s.T @ s / len(s) - r.T @ r / len(r)) ** 2).sum()
    assert discrepancy(jnp.asarray(s), jnp.asarray(r), "linear") == pytest.approx(first)
    assert discrepancy(jnp.asarray(s), jnp.asarray(r), "polynomial") == pytest.approx(2 * first + second)


@pytest.mark.parametrize("kernel", KERNELS)
def test_equal_sets_have_no_discrepancy_and_order_does_not_matter(kernel):
    s, r = (jnp.asarray(features(seed, n), jnp.float32) for seed, n in ((0, 5), (1, 7)))
    assert discrepancy(s, s[::-1], kernel) == pytest.approx(0, abs=1e-5)
    assert discrepancy(s, r, kernel) == pytest.approx(float(discrepancy(r, s, kernel)), rel=1e-5)
    same = jnp.ones((4, 3))
    assert discrepancy(same, same[:2], kernel) == pytest.approx(0, abs=1e-5)
    assert jnp.isfinite(slope(same, same[:2], kernel)).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_against_finite_differences_with_the_bandwidth_held(x64, kernel):
    s, r = features(0, 4), features(1, 6, 0.5)
    b = bandwidth(s, r)
    gradient = slope(jnp.asarray(s), jnp.asarray(r), kernel)
    np.testing.assert_allclose(gradient, differences(lambda s: by_hand(s, r, kernel, b), s), rtol=1e-5, atol=1e-9)


def test_no_gradient_goes_through_the_bandwidth(x64):
    s, r = features(0, 4), features(1, 6, 0.5)
    gradient = slope(jnp.asarray(s), jnp.asarray(r), "gaussian")
    moving = differences(lambda s: by_hand(s, r, "gaussian", bandwidth(s, r)), s)
    assert np.abs(gradient - moving).max() > 1e-3


def test_squared_distances_far_from_the_origin():
    z = 1000 + features(0, 50)
    got = np.asarray(squared_distances(jnp.asarray(z, jnp.float32), jnp.asarray(z[:9], jnp.float32)))
    assert (got >= 0).all()
    np.testing.assert_allclose(got, ((z[:, None] - z[None, :9]) ** 2).sum(axis=-1), rtol=1e-3, atol=1e-3)


def test_batches_are_of_their_class_and_reach_all_of_it():
    labels = np.array([2, 0, 1, 0, 2, 2])
    patients = in_class_order(np.arange(6.0)[:, None], labels, 3)
    batches = np.asarray(class_batches(patients, 40, jax.random.key(0)))[..., 0].astype(int)
    assert [set(batch) for batch in batches] == [{1, 3}, {2}, {0, 4, 5}]


@pytest.fixture
def start():
    x = np.random.default_rng(1).normal(size=(6, 5)).astype(np.float32)
    return x, as_targets(np.array([0, 0, 0, 1, 1, 1]), 2)


def run(network, patients, start, judge, settings=SETTINGS, **stored):
    rows, context = Rows(jnp.asarray(start[0]), start[1]), Context(judge, **stored)
    return match_distributions(network, settings, *patients, rows, key=jax.random.key(5), context=context)


def block(network, patients, state, settings, first=0, count=1):
    """The state after some iterations, and their figures."""
    patients = in_class_order(*patients, network.n_classes)
    return run_class_block(_iterate, network, settings, patients, state, jax.random.key(5), first, count)


def begin(start, settings, n_classes=2):
    rows = jnp.asarray(start[0])
    rows = rows.reshape(n_classes, -1, *rows.shape[1:])
    return State(rows, _optimiser(settings, rows.shape[1]).init(rows))


@pytest.mark.parametrize("settings", [SETTINGS, replace(DM, data_lr=1.0)], ids=["m3d", "dm"])
def test_loss_falls_and_every_row_moves(small_network, blobs, start, last, settings):
    got = run(small_network, blobs[0], start, last(), settings)
    loss = got.history["loss"]
    assert loss[-10:].mean() < 0.7 * loss[:5].mean()
    assert (got.x != start[0]).any(axis=1).all()
    assert (got.targets == np.asarray(start[1])).all()
    assert got.skipped == 0


@pytest.mark.parametrize("settings", [SETTINGS, DM], ids=["m3d", "dm"])
def test_how_iterations_are_cut_into_blocks_does_not_matter(small_network, blobs, start, settings):
    state = begin(start, settings)
    whole, figures = block(small_network, blobs[0], state, settings, count=6)
    half, first = block(small_network, blobs[0], state, settings, count=3)
    both, second = block(small_network, blobs[0], half, settings, first=3, count=3)
    assert (whole.x == both.x).all()
    assert figures["loss"].tolist() == [*first["loss"].tolist(), *second["loss"].tolist()]


def test_a_stopped_search_continues_to_the_same_rows(small_network, blobs, start, last):
    whole = run(small_network, blobs[0], start, last())
    store = InMemoryStore()
    with pytest.raises(KeyboardInterrupt):
        run(small_network, blobs[0], start, last(stop_after=2), store=store)
    continued = run(small_network, blobs[0], start, last(evaluations_before=2), store=store)
    assert (whole.x == continued.x).all()
    assert whole.best_iteration == continued.best_iteration == 40
    for name, figures in whole.history.items():
        assert (figures == continued.history[name]).all(), name


def test_steps_are_heavy_ball_and_grow_with_the_rows_per_class(small_network, blobs, start):
    """While class 1 takes its step class 0 goes on by μ, so that it ends at (1 + μ) times its own step."""
    state = begin(start, SETTINGS)

    def move(**changes):
        after, _ = block(small_network, blobs[0], state, replace(SETTINGS, **changes))
        return np.asarray(after.x - state.x)

    scaled_by_class, summed = move(), move(step="sum", scale_lr=False)
    np.testing.assert_allclose(scaled_by_class[0], 3 * 1.5 * summed[0], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(scaled_by_class[1], 3 * summed[1], rtol=1e-3, atol=1e-6)


def test_networks_last_for_some_iterations(small_network, blobs, start):
    """At the same place and on the same patients only the network can make a difference."""
    (x, labels), _ = blobs
    alike = np.where(labels[:, None] == 1, x[labels == 1][:1], x[labels == 0][:1])
    still = replace(SETTINGS, data_lr=0.0)
    _, figures = block(small_network, (alike, labels), begin(start, still), still, count=10)
    loss = np.asarray(figures["loss"]).reshape(2, 5)
    assert (loss == loss[:, :1]).all()
    assert loss[0, 0] != loss[1, 0]


def test_three_classes(blobs):
    (x, labels), _ = blobs
    three = labels + (x[:, 2] > 1)
    state = begin((np.zeros((6, 5), np.float32),), DM, 3)
    after, figures = block(mlp(5, 3, (8,)), (x, three), state, DM)
    assert not figures["skipped"].any()
    assert (after.x != 0).any(axis=-1).all()


def test_time_series_and_networks_without_an_embedding(smooth, last):
    x = np.random.default_rng(0).normal(size=(20, 3, 2)).astype(np.float32)
    patients = x, np.arange(20) % 2
    start = x[:4], as_targets(np.array([0, 0, 1, 1]), 2)
    network = smooth(6)
    with pytest.raises(SettingsError, match="features to penultimate"):
        run(network, patients, start, last())
    assert run(network, patients, start, last(), replace(DM, iterations=2)).x.shape == (4, 3, 2)


def test_an_iteration_that_is_not_finite_moves_nothing_and_is_counted(small_network, blobs, start, last):
    (x, labels), _ = blobs
    broken = np.where(labels[:, None] == 1, np.nan, x)

    class Kept(InMemoryStore):
        def put(self, name, arrays):
            self.last = arrays

    store = Kept()
    got = run(small_network, (broken, labels), start, last(), store=store)
    assert got.skipped == 40
    assert got.history["skipped"].all()
    assert (got.x == start[0]).all()
    assert (store.last["state.1"] == 0).all()  # the velocity
