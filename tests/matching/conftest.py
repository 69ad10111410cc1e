"""What the tests of matching share."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from aliquot.context import Verdict
from aliquot.networks import Network


class LikesTheLast:
    """Scores every evaluation higher than the one before, so that the last rows are returned; may stop a search."""

    def __init__(self, evaluations_before=0, stop_after=None):
        self.evaluations, self.stop_after = evaluations_before, stop_after

    def rows(self, x, targets):
        if self.evaluations == self.stop_after:
            raise KeyboardInterrupt
        self.evaluations += 1
        return Verdict(float(self.evaluations), 0.0)


@pytest.fixture
def last():
    """Makes judges that choose the last rows."""
    return LikesTheLast


class Smooth(eqx.Module):
    """Flatten, Linear, tanh, Linear: for finite differences, and for inputs of any shape."""

    first: eqx.nn.Linear
    second: eqx.nn.Linear

    def __init__(self, inputs, hidden, outputs, *, key):
        keys = jax.random.split(key)
        self.first = eqx.nn.Linear(inputs, hidden, key=keys[0])
        self.second = eqx.nn.Linear(hidden, outputs, key=keys[1])

    def __call__(self, x, *, key=None):
        return jax.vmap(self.second)(self.features(x))

    def features(self, x):
        return jnp.tanh(jax.vmap(self.first)(x.reshape(len(x), -1)))


@pytest.fixture
def smooth():
    """Makes smooth networks, in the precision of the moment."""

    def make(inputs, n_classes=2):
        outputs = 1 if n_classes == 2 else n_classes
        return Network(lambda key: Smooth(inputs, 4, outputs, key=key), n_classes)

    return make
