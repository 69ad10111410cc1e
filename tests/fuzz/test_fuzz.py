"""Spoiled files and odd tables: exit 0 or 2, one sentence, nothing planted in it, nothing left behind, no hang."""

import pytest

from .judged import found

QUICK, MANY = range(200), range(2000)
AT_ONCE = 50


@pytest.mark.parametrize("first", QUICK[::AT_ONCE])
def test_what_is_spoiled_is_refused_in_a_sentence(whole, tmp_path, first):
    assert found(whole, tmp_path, range(first, first + AT_ONCE), seed=1) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", MANY[::AT_ONCE])
def test_much_that_is_spoiled_is_refused_in_a_sentence(whole, tmp_path, first):
    assert found(whole, tmp_path, range(first, first + AT_ONCE), seed=2) == []
