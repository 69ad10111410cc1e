"""Which columns of a table models may see."""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from aliquot.cohort.checks import column_problem, left_out
from aliquot.cohort.declared import as_declared
from aliquot.cohort.schema import Schema, complete_schema
from aliquot.cohort.stays import Stays
from aliquot.cohort.wording import quoted, together
from aliquot.errors import SchemaError


def features_of(
    frame: pd.DataFrame, given: Schema | None, exclude: Collection[str], *, alone: bool
) -> tuple[pd.DataFrame, Schema, tuple[str, ...]]:
    """The usable features as the schema says to read them, their schema, and notes on columns left out.

    Those that are dropped need no note.

    A table that stands ``alone``, not beside series, must have at least one.
    """
    table, schema = as_declared(frame, complete_schema(frame, given, exclude=exclude))
    reasons = {column.name: left_out(column, table[column.name]) for column in schema}
    features = Schema(tuple(column for column in schema if reasons[column.name] is None))
    problems = [column_problem(column, table[column.name]) for column in schema]
    if any(problems):
        raise SchemaError(together([problem for problem in problems if problem is not None]))
    if alone and not len(features):
        raise SchemaError(
            "the table has no column left as a feature; pass one with at least one varying feature column"
        )
    return table.loc[:, list(features.names)].reset_index(drop=True), features, _notes(reasons)


def notes_on(schema: Schema, tables: Sequence[pd.DataFrame]) -> tuple[str, ...]:
    """Notes on columns of some tables that are no features by their kinds."""
    found = ((column, table[column.name]) for column in schema for table in tables if column.name in table)
    return _notes({column.name: left_out(column, cells) for column, cells in found})


def _notes(reasons: Mapping[str, str | None]) -> tuple[str, ...]:
    """One note for each reason, with the columns that are left out for it."""
    found = dict.fromkeys(why for why in reasons.values() if why is not None)
    return tuple(f"left out {quoted(name for name, one in reasons.items() if one == why)}: {why}" for why in found)


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
