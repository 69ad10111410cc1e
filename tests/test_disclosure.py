import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aliquot.disclosure import FEW, coarse, hidden, patients_in, patients_per, rounded, roundest, score_decimals, to_ten

numbers = st.floats(-1e9, 1e9, allow_nan=False).map(lambda value: float(f"{value:.6g}"))


def test_a_patient_with_twenty_rows_counts_once():
    codes, patients = np.array([0] * 20 + [1, 1, -1]), np.array([5] * 20 + [6, 7, 8])
    assert patients_per(codes, patients).tolist() == [1, 2]
    assert patients_per(codes, None, levels=4).tolist() == [20, 2, 0, 0]
    assert patients_per(codes[:0], patients[:0], levels=2).tolist() == [0, 0]
    assert (patients_in(codes == 0, patients), patients_in(codes == 0)) == (1, 20)


@given(low=numbers, width=st.floats(0, 1e6))
def test_the_roundest_number_is_within(low, width):
    high = low + width
    found = roundest(low, high)
    assert low - 1e-9 * abs(low) <= found <= high + 1e-9 * abs(high)


@given(value=numbers, spread=st.floats(1e-3, 1e6))
def test_coarse_numbers_are_near_and_say_little(value, spread):
    found = coarse(value, spread, 1000)
    assert abs(found - value) <= 0.0501 * spread
    assert abs(coarse(value, spread, 10) - value) <= 0.201 * spread
    step = 10.0 ** np.floor(np.log10(0.1 * spread))  # a power of ten that fits in, at least once
    assert found / step == pytest.approx(round(found / step), abs=1e-3) or abs(found / step) > 1e9


def test_what_is_at_zero_stays_there():
    assert (coarse(0.004, 0.1, 100), coarse(0.0, 1.0, 100), roundest(-1.0, 5.0)) == (0.0, 0.0, 0.0)


@given(counts=st.lists(st.integers(0, 500), min_size=2, max_size=8))
def test_small_counts_follow_from_no_sum(counts):
    away = hidden(np.array(counts))
    assert away[np.array(counts) < 10].all()
    if away.any() and not away.all():
        assert sum(n for n, one in zip(counts, away, strict=True) if one) >= 10
    assert all(n == FEW if count < 10 else n % 10 == 0 for n, count in zip(rounded(counts), counts, strict=True))


@given(events=st.integers(10, 500), others=st.integers(10, 500))
def test_a_share_tells_its_count_to_the_nearest_ten(events, others):
    n = events + others
    share = to_ten(events / n, n)
    assert abs(share * n - events) <= 5.1
    assert share * n / 10 == pytest.approx(round(share * n / 10), abs=0.01)


def test_scores_of_few_patients_have_fewer_decimals():
    assert [score_decimals(n) for n in (0, 9, 10, 1000)] == [2, 2, 3, 3]
