"""Ranks and paired tests against values from textbooks and by hand."""

import numpy as np
import pytest

from aliquot.evaluate.ranking import average_ranks, critical_difference, friedman, holm, smallest_p, wilcoxon


def test_ranks_of_ties_are_shared():
    assert average_ranks([[0.5, 0.5, 0.5], [0.1, 0.3, 0.2]]).tolist() == [2.5, 1.5, 2.0]


def test_the_signed_rank_test_of_darwins_maize():
    """Heights of 15 pairs of plants, as in the documentation of SciPy: p = 0.041."""
    differences = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
    test = wilcoxon(differences, np.zeros(15))
    assert test.p_value == pytest.approx(0.041259765625)
    assert test.difference == pytest.approx(np.mean(differences))
    assert wilcoxon(np.zeros(15), differences).p_value == test.p_value


@pytest.mark.parametrize("pairs", [1, 3, 6, 9])
def test_always_ahead_gives_the_smallest_p(pairs):
    ahead = wilcoxon(1 + np.arange(pairs), np.zeros(pairs))
    assert ahead.p_value == pytest.approx(2 / 2**pairs if pairs > 1 else 1)
    assert ahead.p_value == pytest.approx(smallest_p(pairs))
    assert smallest_p(pairs, tests=7) == pytest.approx(min(1, 7 * ahead.p_value))


def test_equal_scores_are_no_evidence():
    assert wilcoxon([0.3, 0.4], [0.3, 0.4]).p_value == 1
    some = wilcoxon([0.3, 0.4, 0.5, 0.7], [0.3, 0.4, 0.4, 0.5])
    assert (some.pairs, some.p_value) == (4, 0.5)  # two pairs that differ, both in one direction


def test_equal_differences_are_tested_too():
    assert 0 < wilcoxon([0.5, 0.5, 0.25, 0.75], [0.25, 0.25, 0.5, 0.5]).p_value <= 1


def test_holm_by_hand():
    """Sorted: .01 × 4 = .04, .02 × 3 = .06, .03 × 2 = .06, .5 × 1 = .5; in the order that was asked."""
    assert holm([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []


def test_friedman_and_nemenyi():
    """Demšar (2006), section 3.2.2: four classifiers on 14 data sets, critical difference 1.25."""
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 56) == pytest.approx(critical_difference(4, 14) / 2)
    rng = np.random.default_rng(0)
    assert friedman(rng.normal(size=(30, 4))) > 0.05
    assert friedman(rng.normal(size=(30, 4)) + np.arange(4)) < 1e-6
    assert friedman(np.ones((5, 3))) == 1
