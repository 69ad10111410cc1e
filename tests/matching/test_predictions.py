"""What students are asked, and what their answers are worth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot.matching.predictions import (
    Questions,
    draw_questions,
    prediction_loss,
    prior_logit,
    questions_of,
)
from aliquot.networks import mlp


def asked(network, n=40, seed=0):
    rng = np.random.default_rng(seed)
    x = jnp.asarray(rng.normal(size=(n, 4)))
    ends = jnp.stack([network.init(jax.random.key(k)) for k in range(3)])
    return questions_of(network, ends, x, rng.integers(network.n_classes, size=n)), ends


@pytest.mark.parametrize("n_classes", [2, 3])
def test_loss_is_zero_for_who_answers_as_the_experts_and_positive_for_others(x64, n_classes):
    network = mlp(4, n_classes, (5,), 0.17)
    theta = network.init(jax.random.key(0))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(30, 4)))
    questions = questions_of(network, theta[None], x, np.arange(30) % n_classes)._replace(offset=jnp.zeros(()))
    drawn = draw_questions(questions, jax.random.split(jax.random.key(1), 1), 100)
    drawn = jax.tree.map(lambda part: part[0], drawn)
    at = jnp.zeros(())
    assert abs(float(prediction_loss(network, questions, drawn, theta, at))) < 1e-12
    assert prediction_loss(network, questions, drawn, theta, at + 1) > 1e-4
    assert prediction_loss(network, questions, drawn, network.init(jax.random.key(7)), at) > 1e-4


@pytest.mark.parametrize("n_classes", [2, 3])
def test_slopes_equal_central_differences(x64, n_classes):
    network = mlp(4, n_classes, (5,), 0.17)
    questions, _ = asked(network)
    drawn = jax.tree.map(lambda part: part[0], draw_questions(questions, jax.random.key(3)[None], 16))
    theta, scale = network.init(jax.random.key(5)), jnp.asarray(0.3)
    by_theta, by_scale = jax.grad(prediction_loss, argnums=(3, 4))(network, questions, drawn, theta, scale)
    loss = jax.jit(lambda theta, scale: prediction_loss(network, questions, drawn, theta, scale))
    step = 1e-6
    for place in range(0, theta.size, 5):
        there = jnp.zeros_like(theta).at[place].set(step)
        slope = (loss(theta + there, scale) - loss(theta - there, scale)) / (2 * step)
        np.testing.assert_allclose(by_theta[place], slope, rtol=1e-5, atol=1e-8)
    slope = (loss(theta, scale + step) - loss(theta, scale - step)) / (2 * step)
    np.testing.assert_allclose(by_scale, slope, rtol=1e-5, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(50, 300), st.integers(5, 40))
def test_weighted_draws_are_fair(seed, n, count):
    """Whoever is drawn more often weighs less: the weighted mean of any figure is the mean over all patients."""
    rng = np.random.default_rng(seed)
    chances = rng.random(n) + 0.05
    questions = Questions(jnp.zeros((n, 1)), jnp.zeros(n), jnp.asarray(chances / chances.sum()), jnp.zeros(()))
    drawn = draw_questions(questions, jax.random.split(jax.random.key(seed), 400), count)
    figure = rng.random(n)
    means = (np.asarray(drawn.weights) * figure[np.asarray(drawn.numbers)]).mean(axis=1)
    assert abs(means.mean() - figure.mean()) < 6 * means.std() / np.sqrt(len(means)) + 1e-6
    assert np.asarray(drawn.numbers).max() < n


def test_all_patients_are_asked_where_they_are_few():
    network = mlp(4, 2, (5,), 0.17)
    questions, _ = asked(network, n=12)
    drawn = draw_questions(questions, jax.random.split(jax.random.key(0), 2), 64)
    assert drawn.numbers.tolist() == [list(range(12))] * 2
    assert (np.asarray(drawn.weights) == 1).all()


def test_doubtful_patients_are_asked_more_often():
    network = mlp(4, 2, (5,), 0.17)
    questions, _ = asked(network)
    doubt = np.abs(np.asarray(questions.answers) - 0.5)
    assert questions.chances[doubt.argmin()] > questions.chances[doubt.argmax()]
    assert float(questions.chances.sum()) == pytest.approx(1, rel=1e-5)
    assert float(questions.chances.min()) >= 0.5 / 40


def test_the_prior_of_classes():
    assert float(prior_logit(np.array([0, 0, 0, 1]), 2)) == pytest.approx(np.log(1 / 3))
    three = np.asarray(prior_logit(np.array([0, 0, 1, 2]), 3))
    np.testing.assert_allclose(np.exp(three) / np.exp(three).sum(), [0.5, 0.25, 0.25], rtol=1e-5)
