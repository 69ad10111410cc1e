from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from aliquot.cohort.values import levels_of, numbers, truths, unreadable

NUMBERS = [
    pd.Series([1, 0, 1]),
    pd.Series([1.0, np.nan, 0.5]),
    pd.Series([1, None, 0], dtype="Int64"),
    pd.Series([True, None, False], dtype="boolean"),
    pd.Series([1, None, 0], dtype="int64[pyarrow]"),
    pd.Series(["1", None, " 2.5 "]),
    pd.Series(["1", None, "2"], dtype="category"),
    pd.Series([Decimal("1.50"), None, 2], dtype=object),
]


@pytest.mark.parametrize("cells", NUMBERS, ids=lambda cells: str(cells.dtype))
def test_numbers_of_any_type_are_read_and_gaps_kept(cells):
    values = numbers(cells)
    assert values.dtype == np.float64
    assert np.array_equal(np.isnan(values), cells.isna())
    assert unreadable(cells, values) == 0


def test_levels_read_the_same_with_and_without_gaps():
    assert levels_of(pd.Series([1, 2]))[1] == levels_of(pd.Series([1.0, 2.0, np.nan]))[1] == ["1", "2"]


def test_equal_spellings_are_one_level():
    codes, levels = levels_of(pd.Series([1, "1", None, "x"], dtype=object))
    assert (codes.tolist(), levels) == ([0, 0, -1, 1], ["1", "x"])


def test_nested_cells_are_levels_too():
    assert levels_of(pd.Series([[1], [1], None, [2]]))[0].tolist() == [0, 0, -1, 1]


def test_truths_of_objects_with_gaps():
    assert np.array_equal(truths(pd.Series([True, None, False], dtype=object)), [1, np.nan, 0], equal_nan=True)
