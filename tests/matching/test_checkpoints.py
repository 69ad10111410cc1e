"""Segments of SGD trajectories: windows, whole trajectory, short segments, equal displacement (methods.md §14: 8)."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aliquot.errors import SettingsError
from aliquot.matching import Checkpoints, EqualDisplacement, SegmentSettings
from aliquot.matching.checkpoints import travelled, upper_bound

KEYS = jax.random.split(jax.random.key(0), 400)


def paths(count=3, epochs=10, speed=None):
    """Trajectories in two dimensions whose first coordinate is the epoch (times a speed) and second the expert."""
    speed = np.ones(epochs) if speed is None else np.asarray(speed, float)
    way = np.concatenate([[0.0], np.cumsum(speed)])
    return [np.stack([way, np.full(len(way), float(number))], axis=1) for number in range(count)]


def drawn(source, done=0.0):
    starts, targets = source.draw(KEYS, np.full(len(KEYS), done))
    return np.asarray(starts), np.asarray(targets)


def test_the_whole_trajectory_of_every_expert_is_used():
    starts, targets = drawn(Checkpoints(paths(), SegmentSettings(epochs=4)))
    assert set(starts[:, 0]) == set(range(7))  # 0 … E - M
    assert set(starts[:, 1]) == {0, 1, 2}
    np.testing.assert_array_equal(targets - starts, np.tile([4, 0], (len(KEYS), 1)))


def test_a_window_grows_with_the_search_and_stays_in_the_trajectory():
    source = Checkpoints(paths(epochs=30), SegmentSettings(epochs=5, first=2, until=6, last=40, expansion=0.5))
    for done, highest in ((0.0, 5), (0.25, 22), (0.5, 25), (1.0, 25)):
        starts, targets = drawn(source, done)
        assert starts[:, 0].min() == 2
        assert starts[:, 0].max() == highest
        assert targets[:, 0].max() <= 30


@given(
    until=st.integers(0, 50),
    last=st.integers(0, 120),
    starts=st.integers(1, 120),
    expansion=st.floats(0, 1),
    done=st.floats(0, 1),
)
def test_the_bound_never_leaves_the_trajectory_and_never_falls(until, last, starts, expansion, done):
    settings = SegmentSettings(until=until, last=last, expansion=expansion)
    bound = upper_bound(settings, starts, done)
    assert 1 <= bound <= starts
    assert bound <= upper_bound(settings, starts, 1.0)
    if until and last and until <= last <= starts and expansion > 0:
        assert upper_bound(settings, starts, 0.0) == until
        assert upper_bound(settings, starts, expansion) == last


def test_segments_without_displacement_are_left_out_and_counted():
    slow = [1.0] * 8 + [0.0] * 4  # the last segments of two epochs go nowhere
    source = Checkpoints(paths(epochs=12, speed=slow), SegmentSettings(epochs=2))
    starts, targets = drawn(source)
    assert (np.linalg.norm(targets - starts, axis=1) > 0).all()
    assert source.notes == ("9 trajectory segments with hardly any displacement were left out",)


def test_a_segment_is_at_most_the_whole_trajectory():
    starts, targets = drawn(Checkpoints(paths(epochs=2), SegmentSettings(epochs=5)))
    assert set(starts[:, 0]) == {0}
    assert set(targets[:, 0]) == {2}


def test_a_window_after_the_end_is_an_error_that_says_so():
    with pytest.raises(SettingsError, match="trajectories have 10 epochs"):
        Checkpoints(paths(), SegmentSettings(epochs=5, first=8))


def test_equal_displacement_whatever_the_speed():
    uneven = [4.0, 2.0, 1.0, 0.5, 0.25, 0.25]
    starts, targets = drawn(EqualDisplacement(paths(epochs=6, speed=uneven), SegmentSettings(length=0.25)))
    np.testing.assert_allclose(targets[:, 0] - starts[:, 0], 2.0, rtol=1e-5)
    assert starts[:, 0].max() > 5.5
    plain = Checkpoints(paths(epochs=6, speed=uneven), SegmentSettings(epochs=2))
    spread = [np.ptp(targets[:, 0] - starts[:, 0]) for starts, targets in [drawn(plain)]]
    assert spread[0] > 5


def test_draws_depend_on_their_own_key_only():
    source = Checkpoints(paths(), SegmentSettings(epochs=4))
    starts, _ = source.draw(KEYS[:10], np.zeros(10))
    again, _ = source.draw(KEYS[5:10], np.zeros(5))
    np.testing.assert_array_equal(starts[5:], again)


def test_paths_kept_in_half_precision_are_drawn_as_numbers():
    half = [np.asarray(path, np.float16) for path in paths()]
    starts, _ = drawn(Checkpoints(half, SegmentSettings(epochs=4)))
    assert starts.dtype == np.float32
    np.testing.assert_allclose(travelled(half[0])[[0, -1]], [0, 1])
