"""A first schema of a table as a file for its editor: what each column holds, what becomes of it, what to decide."""

from dataclasses import replace

import numpy as np
import pandas as pd

from aliquot.cohort.checks import column_problem
from aliquot.cohort.profile import ColumnProfile, profile
from aliquot.cohort.schema import Column, Schema, infer_schema

_HEADER = """\
# What each column of the table holds. Delete what is right; keep and edit what is not:
# columns that are not mentioned here are inferred again.
#
#   kind       numeric, integer, boolean, categorical, code (ICD, ATC, wards) or ordinal (features);
#              identifier, date, text or ignore (no features)
#   unit       for people, for example "mmHg"
#   log        true: a numeric column is encoded on a logarithmic scale
#   low        smallest plausible value of a numeric column; smaller ones are moved up to it
#   high       largest plausible value; larger ones are moved down to it
#   missing    cells that mean missing, for example [-999]
#   levels     of an ordinal column, in order: ["mild", "moderate", "severe"]
#   codes      of a code column, "icd9", "icd10" or "prefix"; without it, as the codes look
#   days_from  of a date, the column of dates from which its days count; the date is then a feature
#   day_first  false where 03/04/2024 is in March
"""


def schema_file(frame: pd.DataFrame, schema: Schema | None = None, patients: np.ndarray | None = None) -> str:
    r"""Text of a schema file for ``frame``, with a comment for each column, and no cell of fewer than ten patients.

    ``schema`` has the kinds where they are known; ``patients`` a code for the patient of each row.

    >>> print(*schema_file(pd.DataFrame({"age": range(20, 80)})).splitlines()[-3:], sep="\n")
    # feature; none missing; 30 to 70
    [columns.age]
    kind = "integer"
    """
    schema = infer_schema(frame) if schema is None else schema
    found = zip(schema, profile(frame, schema, patients), strict=True)
    return "\n".join((_HEADER, *(f"{_comment(one)}\n{_entry(column, frame)}" for column, one in found)))


def _entry(column: Column, frame: pd.DataFrame) -> str:
    """The column's entry; one whose cells are not what its kind says is ignored until somebody decides."""
    unusable = column_problem(column, frame[column.name]) is not None
    return Schema((replace(column, kind="ignore") if unusable else column,)).to_toml()


def _comment(one: ColumnProfile) -> str:
    said = "; ".join(filter(None, (one.verdict, one.why, f"{one.gaps} missing", one.content)))
    return f"# {' '.join(said.split())}"
