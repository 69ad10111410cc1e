"""What stands in the way of using a table, each as a phrase without cell values, to be shown together."""

from collections.abc import Sequence

import pandas as pd

from aliquot.cohort.kinds import NUMBER_KINDS, kind_of
from aliquot.cohort.schema import Column
from aliquot.cohort.values import infinite, is_numeric, levels_of, numbers, truths, unreadable
from aliquot.cohort.wording import counted, quoted
from aliquot.errors import SchemaError

MIXED = "numbers and text mixed; clean them, or name a kind in the schema file"
_NO_FEATURES = {  # kinds of columns that models never see, and why
    "identifier": "identifiers, not features",
    "date": "dates; with days_from in the schema file they become days",
    "text": "free text",
    "ignore": "set to ignore",
}


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
        raise SchemaError(
            f"the table has column names that occur more than once ({quoted(repeated)}); rename the columns"
        )


def check_rows(frame: pd.DataFrame) -> None:
    """Raise a SchemaError unless there are at least two rows to learn from."""
    if len(frame) < 2:
        found = "no rows" if len(frame) == 0 else "only one row"
        raise SchemaError(f"the table has {found}; pass a table with one row for each patient or stay")


def column_problem(column: Column, cells: pd.Series) -> str | None:
    """Why the cells of a feature are not what its kind says, so that somebody must look; None where they are.

    >>> column_problem(Column(name="crp", kind="numeric"), pd.Series([1.5, float("inf")]))
    "'crp' has 1 infinite cell"
    """
    if column.kind not in (*NUMBER_KINDS, "boolean"):
        return None
    name, values = repr(column.name), truths(cells) if column.kind == "boolean" else numbers(cells)
    failed = unreadable(cells, values)
    if failed:
        meaning = "a yes or no" if column.kind == "boolean" else "a number"
        return f"{name} should be {column.kind} but has {counted(failed, 'cell')} without {meaning}"
    unbounded = infinite(values)
    return f"{name} has {counted(unbounded, 'infinite cell')}" if unbounded else None


def left_out(column: Column, cells: pd.Series) -> str | None:
    """Why a column is no feature, as a phrase that fits several columns; None where it is one.

    >>> left_out(Column(name="unit", kind="categorical"), pd.Series(["icu", "icu"]))
    'the same value in every row'
    """
    if column.kind == "ignore" and kind_of(column.name, cells) is None:
        return MIXED
    if not column.is_feature:
        return _NO_FEATURES[column.kind]
    if cells.isna().all():
        return "no value in any row"
    return "the same value in every row" if is_constant(cells) else None


def is_constant(cells: pd.Series) -> bool:
    """Whether all non-missing cells are equal.

    >>> is_constant(pd.Series(["a", None, "a"]))
    True
    """
    if is_numeric(cells):
        present = numbers(cells.dropna())
        return present.size == 0 or bool((present == present[0]).all())
    return len(levels_of(cells)[1]) <= 1
