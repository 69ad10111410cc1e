"""What stands in the way of using a table, each as a phrase without cell values, to be shown together."""

from collections.abc import Sequence

import pandas as pd

from aliquot.cohort.schema import Column
from aliquot.cohort.values import infinite, is_numeric, levels_of, numbers, truths, unreadable
from aliquot.cohort.wording import counted, look_like_cells, quoted
from aliquot.errors import SchemaError

MAX_LEVELS = 200  # more distinct texts than this are free text
FREE_TEXT_ROWS = 50  # shorter tables may have many levels by chance


def check_names(names: Sequence[str]) -> None:
    """Raise a SchemaError unless every column has a name of its own.

    >>> check_names(["age", "sex", "age"])
    Traceback (most recent call last):
    ...
    aliquot.errors.SchemaError: the table has column names that occur more than once ('age'); rename...
    """
    if not names:
        raise SchemaError("the table has no columns; pass a table with at least a target and one feature")
    unnamed = sum(not name.strip() for name in names)
    if unnamed:
        raise SchemaError(f"the table has {counted(unnamed, 'column')} without a name; name or remove what is unnamed")
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        which = "its first line looks like cells" if look_like_cells(names) else quoted(repeated)
        raise SchemaError(f"the table has column names that occur more than once ({which}); rename the columns")


def check_rows(frame: pd.DataFrame) -> None:
    """Raise a SchemaError unless there are at least two rows to learn from."""
    if len(frame) < 2:
        found = "no rows" if len(frame) == 0 else "only one row"
        raise SchemaError(f"the table has {found}; pass a table with one row for each patient or stay")


def column_problem(column: Column, cells: pd.Series) -> str | None:
    """Why a column cannot become a feature, or None.

    >>> column_problem(Column(name="crp", kind="numeric"), pd.Series([1.5, float("inf")]))
    "'crp' has 1 infinite cell"
    """
    name = repr(column.name)
    if column.kind == "date":
        return f"{name} holds dates (replace them by a duration or an age)"
    if not column.is_feature:
        return None
    if cells.isna().all():
        return f"{name} has only missing cells"
    if column.kind == "categorical":
        return _free_text_problem(name, cells)
    values = truths(cells) if column.kind == "boolean" else numbers(cells)
    failed = unreadable(cells, values)
    if failed:
        meaning = "a yes or no" if column.kind == "boolean" else "a number"
        return f"{name} should be {column.kind} but has {counted(failed, 'cell')} without {meaning}"
    unbounded = infinite(values)
    return f"{name} has {counted(unbounded, 'infinite cell')}" if unbounded else None


def is_constant(cells: pd.Series) -> bool:
    """Whether all non-missing cells are equal.

    >>> is_constant(pd.Series(["a", None, "a"]))
    True
    """
    if is_numeric(cells):
        present = numbers(cells.dropna())
        return present.size == 0 or bool((present == present[0]).all())
    return len(levels_of(cells)[1]) <= 1


def _free_text_problem(name: str, cells: pd.Series) -> str | None:
    levels = len(levels_of(cells)[1])
    many_for_its_rows = len(cells) >= FREE_TEXT_ROWS and levels > len(cells) / 2
    if levels > MAX_LEVELS or many_for_its_rows:
        return f"{name} is free text with {levels} levels"
    return None
