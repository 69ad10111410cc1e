"""The outcome column as class codes."""

import numpy as np
import pandas as pd

from aliquot.cohort.values import is_numeric, levels_of
from aliquot.cohort.wording import counted
from aliquot.errors import TargetError

Label = bool | int | float | str

MAX_CLASSES = 50
MIN_ROWS_PER_CLASS = 10  # on average; fewer look like a measurement or an identifier


def read_target(cells: pd.Series, positive: object = None) -> tuple[np.ndarray, tuple[Label, ...]]:
    """Class code of each row (int32), and the classes in code order as plain Python values.

    Numbers and truth values ascend; of two texts the rarer comes last, so that the last code is the event;
    more texts are sorted. ``positive`` names the last of two classes.

    >>> codes, classes = read_target(pd.Series(["died"] * 10 + ["lived"] * 30))
    >>> classes, np.bincount(codes).tolist()
    (('lived', 'died'), [30, 10])
    """
    name = repr(str(cells.name))
    missing = int(cells.isna().sum())
    if missing:
        raise TargetError(
            f"the target {name} is missing in {counted(missing, 'row')}; remove them or fill in the outcome"
        )
    codes, classes = _classes(cells)
    _check_classes(name, len(codes), classes)
    order = _order(np.bincount(codes), classes)
    if positive is not None:
        order = _positive_last(name, order, classes, positive)
    rank = np.argsort(order)
    return rank[codes].astype(np.int32), tuple(classes[code] for code in order)


def _classes(cells: pd.Series) -> tuple[np.ndarray, list[Label]]:
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = cells.astype(cells.cat.categories.dtype)
    cells = cells.infer_objects()
    if not is_numeric(cells):
        codes, levels = levels_of(cells)
        return codes, list(levels)
    codes, distinct = pd.factorize(cells)
    return codes, [value.item() if hasattr(value, "item") else value for value in distinct]


def _check_classes(name: str, rows: int, classes: list[Label]) -> None:
    if len(classes) < 2:
        raise TargetError(f"the target {name} has only one class; pass a column with two or more classes")
    if any(isinstance(label, float) and np.isinf(label) for label in classes):
        raise TargetError(f"the target {name} has infinite cells; pass a column of classes")
    if len(classes) > MAX_CLASSES or rows < MIN_ROWS_PER_CLASS * len(classes):
        raise TargetError(
            f"the target {name} has {len(classes)} classes in {rows} rows and looks continuous or like an "
            f"identifier; pass a column with at most {MAX_CLASSES} classes and {MIN_ROWS_PER_CLASS} rows per "
            "class on average"
        )


def _order(rows_per_class: np.ndarray, classes: list[Label]) -> list[int]:
    if len(classes) == 2 and all(isinstance(label, str) for label in classes):
        return sorted(range(2), key=lambda code: (-rows_per_class[code], classes[code]))
    return sorted(range(len(classes)), key=lambda code: classes[code])


def _positive_last(name: str, order: list[int], classes: list[Label], positive: object) -> list[int]:
    if len(classes) != 2:
        raise TargetError(f"a positive class was named, but the target {name} has {len(classes)} classes; leave it out")
    wanted = [code for code in order if _spelling(classes[code]) == _spelling(positive)]
    if not wanted:
        raise TargetError(f"the positive class that was named is not one of the classes of the target {name}; check it")
    return [code for code in order if code not in wanted] + wanted


def _spelling(label: object) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
