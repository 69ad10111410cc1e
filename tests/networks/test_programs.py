"""Compiled programs are forgotten when there are too many, and compiled again when they are needed."""

import jax
import jax.numpy as jnp
import pytest

from aliquot.networks.training import MAPS, forget_programs


@pytest.mark.skipif(not MAPS.exists(), reason="only Linux counts maps")
def test_programs_are_forgotten_only_beyond_the_limit():
    compiled = []

    @jax.jit
    def double(x):
        compiled.append(x.shape)
        return 2 * x

    double(jnp.ones(3))
    assert not forget_programs(limit=10**9)
    double(jnp.ones(3))
    assert len(compiled) == 1
    assert forget_programs(limit=1)
    assert double(jnp.ones(3)).tolist() == [2, 2, 2]
    assert len(compiled) == 2
