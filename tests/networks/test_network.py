import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.metrics import log_loss

from aliquot.networks import MLP, Network, as_targets, cross_entropy, get_network, mlp
from aliquot.networks.mlp import drop, random_bytes


@pytest.mark.parametrize(("inputs", "hidden", "size"), [(27, (64,), 1857), (402, (256,), 103_425)])
def test_sizes_of_the_papers_networks(inputs, hidden, size):
    assert mlp(inputs, 2, hidden).n_parameters == size


def test_variants_of_the_paper():
    widths = {"mlp": (64,), "mlp-1": (128,), "mlp-2": (256,), "mlp-3": (64, 128), "mlp-4": (64, 128, 256)}
    for name, hidden in widths.items():
        assert get_network(name, (27,), 2) is mlp(27, 2, hidden, 0.25)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_start_is_uniform_within_one_over_root_fan_in(n_classes):
    module = mlp(100, n_classes, (50,)).module(mlp(100, n_classes, (50,)).init(jax.random.key(0)))
    for layer, fan_in in zip(module.layers, (100, 50), strict=True):
        for part in (layer.weight, layer.bias):
            assert np.abs(part).max() <= fan_in**-0.5
    assert np.std(module.layers[0].weight) == pytest.approx(0.1 / 3**0.5, rel=0.03)


def test_logits_have_one_column_less_for_two_classes():
    x = jnp.ones((7, 4))
    assert mlp(4, 2).logits(mlp(4, 2).init(jax.random.key(0)), x).shape == (7,)
    assert mlp(4, 3).logits(mlp(4, 3).init(jax.random.key(0)), x).shape == (7, 3)


def test_dropout_only_with_a_key_and_with_the_right_mean():
    network = mlp(4, 2, (32,), 0.5)
    theta, x = network.init(jax.random.key(0)), jnp.ones((5, 4))
    assert (network.logits(theta, x) == network.logits(theta, x)).all()
    assert (network.logits(theta, x) != network.logits(theta, x, jax.random.key(1))).any()
    dropped = drop(jnp.ones(40_000), 0.25, random_bytes(jax.random.key(2), (40_000,)))
    assert float((dropped == 0).mean()) == pytest.approx(0.25, abs=0.01)
    assert float(dropped.mean()) == pytest.approx(1, abs=0.01)


def test_two_class_loss_equals_two_column_loss(x64):
    z = jax.random.normal(jax.random.key(0), (50,))
    q = jax.random.uniform(jax.random.key(1), (50,))
    two = cross_entropy(jnp.stack([jnp.zeros(50), z], axis=1), jnp.stack([1 - q, q], axis=1))
    np.testing.assert_allclose(cross_entropy(z, q), two, rtol=1e-12)


def test_loss_agrees_with_scikit_learn(x64):
    labels = np.array([0, 2, 1, 1])
    z = np.random.default_rng(0).normal(size=(4, 3))
    expected = log_loss(labels, np.exp(z) / np.exp(z).sum(axis=1, keepdims=True), labels=[0, 1, 2])
    np.testing.assert_allclose(cross_entropy(jnp.asarray(z), as_targets(labels, 3)), expected, rtol=1e-12)


def test_rows_with_weight_zero_count_nothing():
    z, q = jnp.array([0.3, -1.0, 9.0]), jnp.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(cross_entropy(z, q, jnp.array([1.0, 1.0, 0.0])), cross_entropy(z[:2], q[:2]), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rows", [3, 8, 13])
def test_pieces_of_a_batch_give_the_gradient_and_the_logits_of_the_whole(n_classes, rows):
    rng = np.random.default_rng(rows)
    whole = Network(lambda key: MLP(5, (4,), 1 if n_classes == 2 else 3, 0.0, key=key), n_classes)
    pieces = Network(lambda key: MLP(5, (4,), 1 if n_classes == 2 else 3, 0.0, key=key), n_classes, at_once=4)
    with jax.enable_x64(True):
        theta = jnp.asarray(rng.normal(size=whole.n_parameters))
        x = jnp.asarray(rng.normal(size=(rows, 5)))
        targets = as_targets(rng.integers(0, n_classes, rows), n_classes).astype(float)
        weights = jnp.asarray(np.arange(rows) < rows - 1, float)  # the last row is padding
        np.testing.assert_allclose(
            pieces.gradient(theta, x, targets, weights), jax.grad(whole.loss)(theta, x, targets, weights), rtol=1e-9
        )
        np.testing.assert_allclose(pieces.predict(theta, x), whole.logits(theta, x), rtol=1e-12)


def test_pieces_drop_other_units():
    network = Network(lambda key: MLP(2, (64,), 1, 0.5, key=key), 2, at_once=1)
    theta = network.init(jax.random.key(0))
    same, targets, weights = jnp.ones((2, 2)), jnp.ones(2), jnp.ones(2)
    dropped = network.gradient(theta, same, targets, weights, jax.random.key(1))
    alone = [
        network.gradient(theta, same[:1], targets[:1], weights[:1], key) for key in jax.random.split(jax.random.key(1))
    ]
    np.testing.assert_allclose(dropped, np.mean(alone, axis=0), rtol=1e-5, atol=1e-7)
    assert np.abs(alone[0] - alone[1]).max() > 0.01
