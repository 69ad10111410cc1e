import jax
import jax.numpy as jnp
import numpy as np

from aliquot.curves import straight
from aliquot.matching import SegmentSettings, draw_segment
from aliquot.matching.segments import draw_times


def many(settings, n=2000):
    keys = jax.random.split(jax.random.key(0), n)
    return np.asarray(jax.vmap(lambda key: jnp.stack(draw_times(settings, key)))(keys))


def test_fixed_segments_have_their_length_and_cover_the_curve():
    times = many(SegmentSettings())
    np.testing.assert_allclose(times[:, 1] - times[:, 0], 0.2, atol=1e-6)
    assert times.min() >= 0
    assert times.max() <= 1
    assert abs(times[:, 0].mean() - 0.4) < 0.02


def test_pairs_are_ordered_and_keep_their_distance():
    times = many(SegmentSettings(kind="pair", minimum_gap=0.05))
    gaps = times[:, 1] - times[:, 0]
    assert gaps.min() >= 0.05 - 1e-6
    assert times.min() >= 0
    assert times.max() <= 1
    assert gaps.max() > 0.8


def test_segments_to_the_end_start_anywhere_but_near_it():
    times = many(SegmentSettings(kind="end", minimum_gap=0.3))
    assert (times[:, 1] == 1).all()
    assert times[:, 0].min() >= 0
    assert 0.69 < times[:, 0].max() <= 0.7
    assert abs(times[:, 0].mean() - 0.35) < 0.02


def test_a_segment_to_the_end_has_the_expert_as_its_target():
    curves = straight(jnp.zeros((3, 2)), jnp.arange(1.0, 4.0)[:, None] * jnp.ones((3, 2)))
    keys = jax.random.split(jax.random.key(1), 300)
    start, target = jax.vmap(lambda key: draw_segment(curves, SegmentSettings(kind="end"), key))(keys)
    assert set(np.asarray(target)[:, 0].tolist()) == {1.0, 2.0, 3.0}
    assert (start[:, 0] < target[:, 0]).all()


def test_every_curve_is_drawn_and_a_line_gives_equal_displacements():
    curves = straight(jnp.arange(3.0)[:, None] * jnp.ones((3, 2)), 10 + jnp.arange(3.0)[:, None] * jnp.ones((3, 2)))
    keys = jax.random.split(jax.random.key(1), 300)
    start, target = jax.vmap(lambda key: draw_segment(curves, SegmentSettings(), key))(keys)
    np.testing.assert_allclose(target - start, 2.0, atol=1e-5)
