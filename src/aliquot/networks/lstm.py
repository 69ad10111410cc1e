"""The LSTM networks to which the paper transfers: one layer, dropout, one linear layer on the last state."""

from functools import cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.networks.architecture import Architecture
from aliquot.networks.mlp import drop, random_bytes
from aliquot.networks.network import Network


class LSTM(eqx.Module):
    """Input, forget and output gates and candidate from one product each with input and state."""

    from_input: Array  # (inputs, 4 h)
    from_state: Array  # (h, 4 h)
    bias: Array  # (4 h,)
    last: eqx.nn.Linear
    dropout: float = eqx.field(static=True)

    def __init__(self, inputs: int, units: int, outputs: int, dropout: float, *, key: Array):
        keys = jax.random.split(key, 4)
        bound = 1 / np.sqrt(units)

        def uniform(key, shape):
            return jax.random.uniform(key, shape, minval=-bound, maxval=bound)

        self.from_input = uniform(keys[0], (inputs, 4 * units))
        self.from_state = uniform(keys[1], (units, 4 * units))
        self.bias = uniform(keys[2], (4 * units,))
        self.last = eqx.nn.Linear(units, outputs, key=keys[3])
        self.dropout = dropout

    def __call__(self, x: Array, *, key: Array | None = None) -> Array:
        """Logits (rows, outputs) of a batch (rows, steps, channels)."""
        return self.leave(self.enter(x), key=key)

    def enter(self, x: Array) -> Array:
        """What the input gives to the gates at every step: linear in ``x`` and in the parameters."""
        return x @ self.from_input + self.bias

    def leave(self, a: Array, *, key: Array | None = None) -> Array:
        """Logits from what the input gives to the gates."""
        state = self._last_state(a)
        if key is not None and self.dropout > 0:
            state = drop(state, self.dropout, random_bytes(key, state.shape))
        return state @ self.last.weight.T + jnp.asarray(self.last.bias)

    def features(self, x: Array) -> Array:
        """What the last layer sees: the state after the last step."""
        return self._last_state(self.enter(x))

    def _last_state(self, a: Array) -> Array:
        def step(carry, given):
            state, cell = carry
            enter, keep, candidate, show = jnp.split(given + state @ self.from_state, 4, axis=1)
            cell = jax.nn.sigmoid(keep) * cell + jax.nn.sigmoid(enter) * jnp.tanh(candidate)
            return (jax.nn.sigmoid(show) * jnp.tanh(cell), cell), None

        still = jnp.zeros((len(a), self.from_state.shape[0]), a.dtype)
        (state, _), _ = jax.lax.scan(step, (still, still), jnp.swapaxes(a, 0, 1))
        return state


@cache
def lstm(inputs: int, n_classes: int, units: int = 128, dropout: float = 0.25) -> Network:
    """The family of LSTMs of this shape.

    >>> lstm(60, n_classes=2).n_parameters == 4 * 128 * (60 + 128 + 1) + 129
    True
    """
    outputs = 1 if n_classes == 2 else n_classes
    return Network(
        lambda key: LSTM(inputs, units, outputs, dropout, key=key),
        n_classes,
        with_outputs=lambda n: lstm(inputs, n, units, dropout),
    )


def _shaped(units: int, inputs: int, n_classes: int, hidden: tuple[int, ...], dropout: float) -> Network:
    """An LSTM of a fixed shape: the settings of the base MLP do not concern it."""
    return lstm(inputs, n_classes, units=units)


UNITS_128 = Architecture("lstm-1", series=True, build=partial(_shaped, 128))
UNITS_256 = Architecture("lstm-2", series=True, build=partial(_shaped, 256))
