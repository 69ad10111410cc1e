"""TCN and LSTM: causality, parameters, parts, training and matching of all parameters."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aliquot.errors import SettingsError
from aliquot.matching import Rows, Slots, segment_gradient
from aliquot.matching.student import student_loss, student_split
from aliquot.networks import TrainSettings, as_targets, get_network, lstm, tcn, train_networks
from aliquot.networks.architecture import other_networks
from aliquot.networks.tcn import Branches

X = jnp.asarray(np.random.default_rng(0).normal(size=(5, 7, 3)), jnp.float32)
SMALL = {"tcn": lambda: tcn(3, 2, 4, (1, 3), 2), "lstm": lambda: lstm(3, 2, 5)}


def test_the_papers_shapes():
    assert get_network("auto", (48, 60), 2).n_parameters == 254_785
    assert get_network("tcn-1", (48, 60), 2).n_parameters != 254_785
    assert other_networks((48, 60)) == ("tcn-1", "tcn-2", "lstm-1", "lstm-2")


@pytest.mark.parametrize(("name", "shape"), [("tcn", (27,)), ("mlp", (48, 60)), ("mlp-2", (48, 60)), ("lstm-1", (3,))])
def test_a_network_for_other_rows_is_an_error(name, shape):
    with pytest.raises(SettingsError, match=r"network\.kind"):
        get_network(name, shape, 2)


@pytest.mark.parametrize("dilation", [1, 2])
def test_branches_equal_a_convolution_and_are_causal(dilation):
    branches = Branches(3, 4, (1, 3, 5), dilation, key=jax.random.key(0))
    got = branches(X)
    for number, weight in enumerate(branches.weights):
        k = len(weight)
        padded = jnp.pad(X, ((0, 0), ((k - 1) * dilation, 0), (0, 0)))
        expected = jax.lax.conv_general_dilated(
            padded, weight[::-1], (1,), "VALID", rhs_dilation=(dilation,), dimension_numbers=("NWC", "WIO", "NWC")
        )
        part = slice(4 * number, 4 * (number + 1))
        np.testing.assert_allclose(got[:, :, part] - branches.biases[part], expected, atol=1e-5)
    later = branches(X.at[:, 4:].add(1.0))
    np.testing.assert_allclose(later[:, :4], got[:, :4], atol=1e-6)
    assert np.abs(later[:, 4:] - got[:, 4:]).max() > 0.01


@pytest.mark.parametrize("name", SMALL)
def test_parts_make_the_whole_and_every_parameter_counts(name):
    network = SMALL[name]()
    theta = network.init(jax.random.key(0))
    logits = network.logits(theta, X)
    assert logits.shape == (5,)
    np.testing.assert_allclose(network.leave(theta, network.enter(theta, X)), logits, rtol=1e-5)
    np.testing.assert_allclose(
        network.enter(theta, X) * 3, network.enter(3 * theta, X), rtol=1e-4, atol=1e-5
    )  # linear in the parameters
    slope = jax.grad(lambda theta: network.logits(theta, X).sum())(theta)
    assert (np.abs(slope) > 0).mean() > 0.9
    assert network.features(theta, X).shape[0] == 5


@pytest.mark.parametrize("name", SMALL)
def test_dropout_needs_a_key_and_changes_with_it(name):
    network = SMALL[name]()
    theta = network.init(jax.random.key(0))
    one, two = (network.logits(theta, X, jax.random.key(seed)) for seed in (1, 2))
    assert (one != two).any()
    assert (network.logits(theta, X) == network.logits(theta, X)).all()


@pytest.mark.parametrize("name", SMALL)
def test_training_learns_a_pattern_in_time(name):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(120, 7, 3)).astype(np.float32)
    labels = (x[:, 2:5, 1].mean(axis=1) > 0).astype(np.int32)
    network = SMALL[name]()
    settings = TrainSettings(epochs=60, learning_rate=0.1, batch_size=40)
    trained = train_networks(
        network, settings, jnp.asarray(x), as_targets(labels, 2), jax.random.split(jax.random.key(0), 2)
    )
    for theta in trained.end:
        right = (np.asarray(network.logits(theta, jnp.asarray(x))) > 0) == labels
        assert right.mean() > 0.75


@pytest.mark.parametrize("name", SMALL)
def test_the_first_order_gradient_in_parts_is_the_whole_one(name):
    network, slots = SMALL[name](), Slots()
    start, target = (network.init(jax.random.key(seed)) for seed in (0, 1))
    rows = Rows(X, as_targets(np.array([0, 1, 0, 1, 1]), 2))
    options = {"steps": 3, "momentum": 0.5}
    loss, lr = student_loss(network, slots), jnp.float32(0.1)
    whole = segment_gradient(loss, rows, lr, start, target, **options)
    split = segment_gradient(loss, rows, lr, start, target, split=student_split(network, slots), **options)
    np.testing.assert_allclose(split.rows.x, whole.rows.x, rtol=1e-3, atol=1e-6)
