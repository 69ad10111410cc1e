import numpy as np
import pandas as pd
import pytest

from aliquot.cohort.target import read_target
from aliquot.errors import TargetError

N = 40


def target(values, dtype=None) -> pd.Series:
    return pd.Series(np.resize(np.array(values, dtype=object), N), name="died").infer_objects().astype(dtype or object)


@pytest.mark.parametrize(
    ("values", "dtype", "classes"),
    [
        ([1, 0, 0], "int64", (0, 1)),
        ([1, 0, 0], "Int64", (0, 1)),
        ([1.0, 0.0, 0.5], "float64", (0.0, 0.5, 1.0)),
        ([True, False], "bool", (False, True)),
        ([True, False], "object", (False, True)),
        (["no", "no", "yes"], "str", ("no", "yes")),
        (["yes", "yes", "no"], "category", ("yes", "no")),
        (["b", "a", "c"], "str", ("a", "b", "c")),
    ],
)
def test_classes_in_order(values, dtype, classes):
    cells = target(values, dtype)
    codes, found = read_target(cells)
    assert found == classes
    assert [type(label) for label in found] == [type(label) for label in classes]
    assert codes.dtype == np.int32
    assert [found[code] for code in codes] == list(cells)


@pytest.mark.parametrize(("values", "positive"), [([0, 1, 1], 0), ([0, 1, 1], "0"), ([0.0, 1.0, 1.0], 0)])
def test_positive_is_last(values, positive):
    assert read_target(target(values), positive)[1][-1] == 0


def test_targets_that_cannot_be_learned(raises, sentinel):
    with raises(TargetError, "'died'", "missing in 20 rows"):
        read_target(target([sentinel, None]))
    with raises(TargetError, "only one class"):
        read_target(target([sentinel]))
    with raises(TargetError, "40 classes in 40 rows", "continuous"):
        read_target(target([f"{sentinel}{row}" for row in range(N)]))
    with raises(TargetError, "51 classes"):
        read_target(pd.Series(np.resize(np.arange(51), 1000), name="died"))
    with raises(TargetError, "infinite"):
        read_target(target([0.0, np.inf], "float64"))


def test_positive_must_fit(raises, sentinel):
    with raises(TargetError, "not one of the classes"):
        read_target(target([sentinel, "other"]), "third")
    with raises(TargetError, "3 classes"):
        read_target(target([sentinel, "b", "c"]), "b")
