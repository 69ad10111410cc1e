"""Which columns of a table models may see."""

from collections.abc import Collection

import pandas as pd

from aliquot.cohort.checks import column_problem, is_constant
from aliquot.cohort.schema import Schema, complete_schema
from aliquot.cohort.stays import Stays
from aliquot.cohort.wording import quoted, together
from aliquot.errors import SchemaError


def features_of(
    frame: pd.DataFrame, given: Schema | None, exclude: Collection[str], *, alone: bool, empty_allowed: bool = False
) -> tuple[Schema, tuple[str, ...]]:
    """Schema of the usable features, and notes on columns left out; the user's own omissions need no note.

    A table that stands ``alone``, not beside series, must have at least one. A column without any cell is a problem,
    or is left out too where that is ``empty_allowed``.
    """
    asked = [name for name in frame.columns if name not in exclude]
    empty = [name for name in asked if empty_allowed and frame[name].isna().all()]
    schema, problems = complete_schema(frame, given, exclude={*exclude, *empty})
    found = [column_problem(column, frame[column.name]) for column in schema]
    problems += [problem for problem in found if problem is not None]
    if problems:
        raise SchemaError(together(problems))
    identifiers = [column.name for column in schema if column.kind == "identifier"]
    features = [column for column in schema if column.is_feature]
    constant = [column.name for column in features if is_constant(frame[column.name])]
    features = [column for column in features if column.name not in constant]
    if alone and not features:
        raise SchemaError(
            "the table has no column left as a feature; pass one with at least one varying feature column"
        )
    notes = (
        (identifiers, "identifiers, not features"),
        (empty, "no value in any row"),
        (constant, "the same value in every row"),
    )
    return Schema(tuple(features)), tuple(f"left out {quoted(names)}: {why}" for names, why in notes if names)


def static_entries(schema: Schema, stays: Stays, known: Collection[str]) -> Schema:
    """The entries of a schema for columns that do not change in time; ``known`` are other names in the files.

    Channels are numbers; an entry that asks for more of one is an error, as it would be without effect.
    """
    scaled = [c.name for c in schema if c.name in stays.channels and (c.log or c.low is not None or c.high is not None)]
    if scaled:
        raise SchemaError(
            f"the schema has log, low or high for {quoted(scaled)}, which change in time; these are only for columns "
            "that do not; remove them there"
        )
    elsewhere = {*known, *stays.channels} - {*stays.frame.columns}
    return Schema(tuple(column for column in schema if column.name not in elsewhere))
