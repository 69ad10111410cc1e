"""Bézier curves: ends, straightness, gradient factor, fit and geometry (methods.md §14: 6)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot.context import Context, InMemoryStore
from aliquot.curves import Curve, CurveSettings, bend, bezier_point, curvature, fit_curves, measure, path_loss, straight
from aliquot.curves.fit import control_gradient, curves_name
from aliquot.networks import TrainSettings, as_targets, train_networks

QUICK = CurveSettings(steps=200, learning_rate=0.5, check_every=50, tolerance=1e-6)


@pytest.fixture(scope="module")
def patients(blobs):
    (x, labels), _ = blobs
    return jnp.asarray(x), as_targets(labels, 2)


@pytest.fixture(scope="module")
def trained(small_network, patients):
    keys = jax.random.split(jax.random.key(0), 3)
    training = TrainSettings(epochs=6, learning_rate=0.1, batch_size=64)
    return train_networks(small_network, training, *patients, keys, keep_path=True)


@pytest.fixture(scope="module")
def fitted(small_network, trained, patients):
    return fit_curves(small_network, QUICK, straight(trained.start, trained.end), *patients, key=jax.random.key(1))


@settings(max_examples=30, deadline=None)
@given(points=st.lists(st.floats(-5, 5, width=32), min_size=6, max_size=6), t=st.floats(0, 1, width=32))
def test_point_is_the_formula_and_its_slope_by_the_control_point_2t_1_t(points, t):
    curve = Curve(*(jnp.array(points[i : i + 2]) for i in (0, 2, 4)))
    start, control, end = (np.array(points[i : i + 2]) for i in (0, 2, 4))
    expected = (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end
    np.testing.assert_allclose(bezier_point(curve, t), expected, rtol=1e-4, atol=1e-5)
    slope = jax.jacobian(lambda control: bezier_point(curve._replace(control=control), t))(curve.control)
    np.testing.assert_allclose(slope, 2 * t * (1 - t) * np.eye(2), rtol=1e-5, atol=1e-6)


def test_ends_are_exact_and_a_midpoint_makes_a_line(trained):
    line = straight(trained.start, trained.end)
    assert (bezier_point(line, 0.0) == trained.start).all()
    assert (bezier_point(line, 1.0) == trained.end).all()
    np.testing.assert_allclose(bezier_point(line, 0.3), 0.7 * trained.start + 0.3 * trained.end, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(curvature(line), 0, atol=1e-5)
    np.testing.assert_allclose(bend(line), 0, atol=1e-6)


def test_fit_leaves_the_line_lowers_the_loss_and_keeps_the_ends(small_network, trained, patients, fitted):
    line = straight(trained.start, trained.end)
    assert (fitted.start == trained.start).all()
    assert (fitted.end == trained.end).all()
    assert (path_loss(small_network, fitted, *patients) < path_loss(small_network, line, *patients)).all()
    assert (bend(fitted) > 0.01).all()
    np.testing.assert_allclose(curvature(fitted), 4 * np.linalg.norm(fitted.control - line.control, axis=1), rtol=1e-4)


def test_paper_fit_takes_its_steps(small_network, trained, patients):
    paper = CurveSettings(steps=20)
    moved = fit_curves(small_network, paper, straight(trained.start, trained.end), *patients, key=jax.random.key(1))
    assert 0 < bend(moved).max() < 0.1


def test_control_gradient_is_the_mean_of_2t_1_t_times_the_gradient_there(small_network, trained, patients):
    curve = Curve(*(part[0] for part in straight(trained.start, trained.end)))
    few = CurveSettings(batch_size=16, times=3)
    x, targets = patients
    expected = 0
    for key in jax.random.split(jax.random.key(2), 3):
        time_key, batch_key = jax.random.split(key)
        t = jax.random.uniform(time_key)
        rows = jax.random.randint(batch_key, (16,), 0, len(x))
        expected += 2 * t * (1 - t) * jax.grad(small_network.loss)(bezier_point(curve, t), x[rows], targets[rows]) / 3
    got = control_gradient(small_network, few, curve, x, targets, jax.random.key(2))
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


def test_a_kept_fit_is_not_done_again(small_network, trained, patients):
    store, paper = InMemoryStore(), CurveSettings(steps=5)

    def fit(seed):
        line, context = straight(trained.start, trained.end), Context(store=store)
        return fit_curves(small_network, paper, line, *patients, key=jax.random.key(seed), context=context)

    first = fit(1)
    name = curves_name(paper, first, jax.random.key(1))
    store.put(name, {"control": np.zeros_like(store.get(name)["control"])})
    again, other = fit(1), fit(9)
    assert (again.control == 0).all()
    assert (other.control != first.control).any()  # another key is another fit


def test_geometry_of_the_line_along_itself_is_nil(small_network, trained, patients):
    line = straight(trained.start, trained.end)
    path = jnp.stack([bezier_point(line, t) for t in np.linspace(0, 1, 5)], axis=1)
    got = measure(small_network, line, path, *patients, points=9)
    np.testing.assert_allclose(got.distance, 0, atol=1e-5)
    np.testing.assert_allclose(got.prediction_gap, 0, atol=1e-5)
    np.testing.assert_allclose(got.loss_curve, got.loss_sgd, rtol=1e-4)
    assert got.epochs == 4


def test_geometry_measures_curve_line_and_path(small_network, trained, patients, fitted):
    got = measure(small_network, fitted, trained.path, *patients)
    assert got.loss_curve.shape == (3, 21)
    for ends in (0, -1):
        np.testing.assert_allclose(got.loss_curve[:, ends], got.loss_sgd[:, ends], rtol=1e-4)
        np.testing.assert_allclose(got.distance[:, ends], 0, atol=1e-5)
    assert got.loss_curve.mean() < got.loss_line.mean()
    assert got.prediction_gap[:, 10].min() > 0
