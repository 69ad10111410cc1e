"""Labels as every library takes them: a class for each line and, where labels are soft, a weight beside it.

A row with a soft label takes several lines, one for each class that is at all likely, with the probability of the class
as the line's weight. Training on the lines with their weights minimises the same loss as training on the probabilities.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

LEAST_WEIGHT = 0.001  # classes as likely as this, or less, take no line
WEIGHT = "weight"


class LabelLines(NamedTuple):
    """One entry per line: the place of its row, the code of its class, and its weight."""

    row: np.ndarray
    code: np.ndarray
    weight: np.ndarray  # float32


def probabilities_of(targets: np.ndarray) -> np.ndarray:
    """Targets (n,) of two classes or (n, C) as probabilities (n, C), float32."""
    targets = np.asarray(targets, np.float32)
    return np.column_stack([1 - targets, targets]) if targets.ndim == 1 else targets


def lines_of(targets: np.ndarray) -> LabelLines:
    """The lines of rows with these targets: row by row, classes ascending; hard targets take one line of weight 1.

    >>> lines = lines_of(np.array([0.25, 0.9999]))
    >>> lines.row.tolist(), lines.code.tolist(), lines.weight.round(2).tolist()
    ([0, 0, 1], [0, 1, 1], [0.75, 0.25, 1.0])
    """
    p = probabilities_of(targets)
    row, code = np.nonzero(p > LEAST_WEIGHT)
    return LabelLines(row, code, p[row, code])


def with_labels(
    features: pd.DataFrame, targets: np.ndarray, target: str, classes: Sequence[Any], *, weight: str | None
) -> pd.DataFrame:
    """The lines of rows as a table: their features, then the class under the name of the target.

    Where a column is named for the ``weight``, one probability per class (``target=class``) stands before the class,
    and the weight after it.
    """
    lines, p = lines_of(targets), probabilities_of(targets)
    table = features.iloc[lines.row].reset_index(drop=True)
    named = {} if weight is None else {f"{target}={name}": p[lines.row, c] for c, name in enumerate(classes)}
    weights = {} if weight is None else {weight: lines.weight}
    return table.assign(**named, **{target: np.asarray(classes)[lines.code]}, **weights)


def begins_row(values: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Which lines begin another row: those whose class does not follow, or whose features or probabilities differ.

    ``values`` (lines, …) are features and probabilities. Equal neighbours are found too, as their classes begin again.

    >>> begins_row(np.zeros((4, 2)), np.array([0, 1, 0, 1]))
    array([ True, False,  True, False])
    """
    goes_on = (values[1:] == values[:-1]).all(axis=1) & (code[1:] > code[:-1])
    return np.append(True, ~goes_on)[: len(code)]


def weight_column(taken: Collection[str]) -> str:
    """A name for the column of weights that no other column has.

    >>> weight_column(["age"]), weight_column(["weight", "height"])
    ('weight', 'weight_')
    """
    name = WEIGHT
    while name in taken:
        name += "_"
    return name
