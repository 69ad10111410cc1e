from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot.networks import TrainSettings, as_targets, shuffled_batches, train_networks
from aliquot.networks.training import balanced_batches, sort_by_class

SHORT = TrainSettings(epochs=3, learning_rate=0.1, batch_size=64)


@pytest.fixture
def trained(blobs, small_network):
    (x, labels), _ = blobs
    keys = jax.random.split(jax.random.key(0), 3)
    return train_networks(small_network, SHORT, jnp.asarray(x), as_targets(labels, 2), keys, keep_path=True)


def test_snapshots_are_copies_that_differ_from_each_other(trained):
    path = np.asarray(trained.path)
    assert path.shape[:2] == (3, 4)
    assert (path[:, 0] == trained.start).all()
    assert (path[:, -1] == trained.end).all()
    for k in range(3):
        for epoch in range(3):
            assert (path[k, epoch] != path[k, epoch + 1]).any()
    before = path.copy()
    trained.end.at[:].set(0)
    assert (path == before).all()


def test_a_key_alone_decides_a_network(blobs, small_network, trained):
    (x, labels), _ = blobs
    keys = jax.random.split(jax.random.key(0), 3)
    alone = train_networks(small_network, SHORT, jnp.asarray(x), as_targets(labels, 2), keys[1:2])
    np.testing.assert_allclose(alone.end[0], trained.end[1], rtol=2e-5, atol=1e-6)
    assert not np.allclose(trained.end[0], trained.end[1])


def test_early_epochs_do_not_depend_on_how_many_follow(blobs, small_network, trained):
    (x, labels), _ = blobs
    keys = jax.random.split(jax.random.key(0), 3)
    shorter = TrainSettings(epochs=2, learning_rate=0.1, batch_size=64)
    end = train_networks(small_network, shorter, jnp.asarray(x), as_targets(labels, 2), keys).end
    np.testing.assert_allclose(end, trained.path[:, 2], rtol=1e-5, atol=1e-6)


def test_weight_decay_adds_the_parameters_to_the_gradient(blobs, small_network):
    (x, labels), _ = blobs
    keys = jax.random.split(jax.random.key(0), 2)
    one_step = TrainSettings(epochs=1, learning_rate=0.1, batch_size=len(x))
    plain, decayed = (
        train_networks(
            small_network, replace(one_step, weight_decay=decay), jnp.asarray(x), as_targets(labels, 2), keys
        )
        for decay in (0.0, 0.5)
    )
    np.testing.assert_allclose(decayed.end, plain.end - 0.1 * 0.5 * plain.start, rtol=1e-5, atol=1e-6)


def test_training_lowers_the_loss_and_watches(blobs, small_network):
    (x, labels), (tuning, _) = blobs
    x, targets = jnp.asarray(x), as_targets(labels, 2)
    many = TrainSettings(epochs=20, learning_rate=0.1, batch_size=64)
    keys = jax.random.split(jax.random.key(0), 2)
    trained = train_networks(small_network, many, x, targets, keys, watch=jnp.asarray(tuning))
    assert small_network.loss(trained.end[0], x, targets) < 0.8 * small_network.loss(trained.start[0], x, targets)
    np.testing.assert_allclose(
        trained.watched[0, -1],
        small_network.logits(trained.end[0], jnp.asarray(tuning)),
        rtol=1e-4,
        atol=1e-5,
    )


@settings(max_examples=6, deadline=None)
@given(n=st.integers(1, 300), size=st.integers(1, 70), seed=st.integers(0, 5))
def test_shuffled_batches_hold_every_row_once(n, size, seed):
    batches = np.asarray(shuffled_batches(jax.random.key(seed), n, size))
    rows = batches[batches < n]
    assert sorted(rows) == list(range(n))
    assert batches.shape[0] == -(-n // min(size, n))


def test_shuffled_batches_mix_well():
    """Two rows share a batch about as often as chance would have it, whether or not they are neighbours."""
    keys = jax.random.split(jax.random.key(0), 2000)
    batch_of = np.stack(
        [np.argsort(np.asarray(b).ravel()) // 16 for b in jax.vmap(lambda k: shuffled_batches(k, 128, 16))(keys)]
    )
    chance = 15 / 127
    for a, b in [(0, 1), (0, 16), (3, 77), (126, 127), (0, 127)]:
        together = (batch_of[:, a] == batch_of[:, b]).mean()
        assert abs(together - chance) < 4 * np.sqrt(chance / 2000)
    assert np.bincount(batch_of[:, 5], minlength=8).min() > 180


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 60), min_size=2, max_size=4), st.integers(2, 40))
def test_balanced_batches_hold_every_class_as_often(seed, counts, size):
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    classes = sort_by_class(as_targets(labels, len(counts)), size)
    batches = np.asarray(balanced_batches(jax.random.key(seed), classes))
    shown = np.bincount(labels[batches].ravel(), minlength=len(counts))
    assert np.ptp(shown) <= len(batches)  # where classes do not divide a batch, the first have one more
    assert len(counts) * min(counts) <= batches.size < len(counts) * min(counts) + batches.shape[1]


def test_networks_on_balanced_batches_see_a_rare_class(small_network):
    rng = np.random.default_rng(0)
    labels = (np.arange(2000) % 100 == 0).astype(np.int32)
    x = jnp.asarray(rng.normal(size=(2000, 5)) + labels[:, None], jnp.float32)
    targets, keys = as_targets(labels, 2), jax.random.split(jax.random.key(0), 2)
    for balance, epochs, low, high in ((False, 3, 0.0, 0.1), (True, 20, 0.2, 0.6)):
        training = replace(SHORT, epochs=epochs, balance=balance)
        end = train_networks(small_network, training, x, targets, keys).end
        p = jax.nn.sigmoid(jax.vmap(lambda theta: small_network.logits(theta, x))(end)).mean()
        assert low < p < high
