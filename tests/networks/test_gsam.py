"""GSAM: SGD at ρ = 0, SAM at α = 0, perpendicular part, schedules (methods.md §14: 5)."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aliquot.networks import GsamSettings, TrainSettings, as_targets, train_networks
from aliquot.networks.gsam import gsam_gradient, perpendicular
from aliquot.networks.training import scheduled

PLAIN = TrainSettings(epochs=3, learning_rate=0.05, batch_size=64)


def gradient(w):
    """Of a loss with unequal curvatures and a cubic term."""
    return jnp.array([1.0, 4.0, 0.5]) * w + 0.3 * w**2


W = jnp.array([1.0, -0.5, 2.0])


@pytest.mark.parametrize("adaptive", [True, False])
def test_without_radius_it_is_the_gradient(adaptive):
    got = gsam_gradient(gradient, W, 0.0, GsamSettings(adaptive=adaptive, alpha=0.7))
    np.testing.assert_allclose(got, gradient(W), rtol=1e-6)


@pytest.mark.parametrize("adaptive", [True, False])
def test_without_alpha_it_is_sam(adaptive):
    g = gradient(W)
    away = W**2 * g / jnp.linalg.norm(jnp.abs(W) * g) if adaptive else g / jnp.linalg.norm(g)
    got = gsam_gradient(gradient, W, 0.1, GsamSettings(adaptive=adaptive, alpha=0.0))
    np.testing.assert_allclose(got, gradient(W + 0.1 * away), rtol=1e-5)


def test_the_removed_part_is_perpendicular_and_alpha_is_its_share():
    g, g_p = gradient(W), gradient(W + 0.2)
    rest = perpendicular(g, g_p)
    assert abs(float(rest @ g_p)) < 1e-5
    one, half, none = (gsam_gradient(gradient, W, 0.3, GsamSettings(alpha=alpha)) for alpha in (1.0, 0.5, 0.0))
    np.testing.assert_allclose(none - half, (none - one) / 2, atol=1e-6)
    assert abs(float((none - one) @ none)) < 1e-5


@pytest.fixture(scope="module")
def train(blobs, small_network):
    (x, labels), _ = blobs
    keys = jax.random.split(jax.random.key(0), 2)
    return lambda settings: train_networks(small_network, settings, jnp.asarray(x), as_targets(labels, 2), keys).end


def test_training_with_radius_0_is_plain_training(train):
    flat = replace(PLAIN, gsam=GsamSettings(rho=0.0))
    np.testing.assert_allclose(train(flat), train(PLAIN), rtol=1e-4, atol=1e-6)


def test_training_with_a_radius_differs_and_stays_finite(train):
    flat = train(replace(PLAIN, gsam=GsamSettings(rho=0.5), schedule="linear"))
    assert np.isfinite(flat).all()
    assert np.abs(flat - train(replace(PLAIN, schedule="linear"))).max() > 1e-3


def test_schedules_fall_from_1_towards_0():
    done = jnp.linspace(0, 1, 11)
    assert (scheduled("constant", done) == 1).all()
    for name in ("linear", "cosine"):
        shares = np.asarray(scheduled(name, done))
        assert shares[0] == 1
        assert shares[-1] == pytest.approx(0, abs=1e-6)
        assert (np.diff(shares) < 0).all()


def test_a_falling_learning_rate_ends_with_small_steps(blobs, small_network):
    (x, labels), _ = blobs
    settings = replace(PLAIN, epochs=8, schedule="linear", momentum=0.0)
    keys = jax.random.split(jax.random.key(0), 1)
    path = train_networks(small_network, settings, jnp.asarray(x), as_targets(labels, 2), keys, keep_path=True).path
    steps = np.linalg.norm(np.diff(path[0], axis=0), axis=1)
    assert steps[-1] < 0.3 * steps[0]
