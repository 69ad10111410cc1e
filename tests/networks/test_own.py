"""The user's own equinox module, from the shapes it must have to a condensation through it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import aliquot
from aliquot import Condenser
from aliquot.cohort import Cohort
from aliquot.errors import SettingsError
from aliquot.networks import own_network
from aliquot.networks.architecture import get_architecture

QUICK = {
    "expert": {"count": 2, "epochs": 2, "pilots": 1},
    "curve": {"steps": 10, "check_every": 0},
    "match": {"iterations": 4, "judge_every": 2, "student_steps": 2},
    "evaluation": {"search_epochs": 2, "search_networks": 1, "final_epochs": 2, "final_networks": 2, "full_epochs": 2},
}


class Attention(eqx.Module):
    """One step of attention over time, then a linear layer; dropout where there is a key."""

    score: eqx.nn.Linear
    last: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, channels, outputs, key):
        score, last = jax.random.split(key)
        self.score = eqx.nn.Linear(channels, 1, key=score)
        self.last = eqx.nn.Linear(channels, outputs, key=last)
        self.dropout = eqx.nn.Dropout(0.3)

    def __call__(self, x, *, key=None):
        shares = jax.nn.softmax(jax.vmap(jax.vmap(self.score))(x), axis=1)
        seen = self.dropout((shares * x).sum(axis=1), key=key, inference=key is None)
        return jax.vmap(self.last)(seen)


def attention(shape, outputs, key):
    return Attention(shape[-1], outputs, key)


@pytest.fixture(scope="module")
def stays():
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 160)
    x = rng.normal(size=(160, 5, 3)) + died[:, None, None] * [1.0, 0.0, 0.0]
    x[rng.random(x.shape) < 0.2] = np.nan
    return x, died


def test_all_parameters_are_in_the_vector():
    network = own_network(attention, (5, 3), 2)
    assert network.n_parameters == (3 + 1) + (3 + 1)
    assert network.logits(network.init(jax.random.key(0)), jnp.ones((4, 5, 3))).shape == (4,)
    assert own_network(attention, (5, 3), 3).n_outputs == 3


def test_the_same_builder_gives_the_same_network():
    assert own_network(attention, (5, 3), 2) is own_network(attention, (5, 3), 2)


def test_series_are_condensed_through_it(stays):
    result = aliquot.condense(
        Cohort.from_arrays(*stays), rows_per_class=4, budget="smoke", settings=QUICK, network=attention
    )
    assert result.x.shape == (8, 5, 6)
    assert result.recipe["network"]["kind"] == "own"
    assert np.isfinite(result.x).all()


def test_the_release_says_that_the_network_is_not_known_here():
    with pytest.raises(SettingsError, match="somebody's own"):
        get_architecture("own", (5, 6))


def test_a_sampler_takes_it_too(stays):
    rows, labels = Condenser(
        rows_per_class=3, budget="smoke", settings=QUICK, network=attention, random_state=0
    ).fit_resample(*stays)
    assert rows.shape == (6, 5, 3)
    assert sorted(labels.tolist()) == [0] * 3 + [1] * 3


class OneRow(eqx.Module):
    layer: eqx.nn.Linear

    def __call__(self, x, *, key=None):
        return self.layer(x)


class NoKey(eqx.Module):
    layer: eqx.nn.Linear

    def __call__(self, x):
        return jax.vmap(self.layer)(x)


class Narrow(eqx.Module):
    layer: eqx.nn.Linear

    def __call__(self, x, *, key=None):
        return jax.vmap(self.layer)(x)[:, 0]


@pytest.mark.parametrize("module", [OneRow, NoKey, Narrow])
def test_a_module_of_another_shape_is_refused_before_any_work(module):
    with pytest.raises(SettingsError, match=r"it must return \(3, 1\)"):
        own_network(lambda shape, outputs, key: module(eqx.nn.Linear(shape[0], outputs, key=key)), (4,), 2)
