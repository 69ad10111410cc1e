"""A small dirty-able table, and one way to say what every error message must be like."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import pandas as pd
import pytest

SENTINEL = "Zq7_secret"


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 60
    return pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "crp": np.round(rng.lognormal(2, 1, n), 1),
            "lactate": np.where(np.arange(n) % 5 == 0, np.nan, np.round(rng.gamma(2, 1, n), 2)),
            "ward": np.resize(["medical", "surgical", "icu"], n),
            "smoker": np.resize(["yes", "no", "no"], n),
            "died": np.resize([0, 0, 0, 1], n),
        }
    )


@contextmanager
def _raises(error: type[Exception], *words: str) -> Iterator[None]:
    with pytest.raises(error) as caught:
        yield
    message = str(caught.value)
    assert "\n" not in message
    assert SENTINEL not in message
    assert caught.value.__cause__ is None
    for word in words:
        assert word in message


@pytest.fixture
def raises() -> Callable[..., AbstractContextManager[None]]:
    """Like pytest.raises, and checks: one line, no planted cell value, no chained error, these words."""
    return _raises


@pytest.fixture
def sentinel() -> str:
    """A cell value that must never appear in a message."""
    return SENTINEL
