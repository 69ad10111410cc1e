"""What kind of column this is, judged from its type, its content and, for identifiers, its name."""

import re
from typing import Literal

import numpy as np
import pandas as pd

from aliquot.cohort.values import YES_NO_PAIRS, is_numeric, level_numbers, levels_of, numbers

Kind = Literal["numeric", "integer", "boolean", "categorical", "identifier", "date", "ignore"]

KINDS = ("numeric", "integer", "boolean", "categorical", "identifier", "date", "ignore")
FEATURE_KINDS = ("numeric", "integer", "boolean", "categorical")

DATE_SHARE = 0.95  # of the non-missing cells, for a text column to count as dates
IDENTIFIER_ROWS = 20  # text columns shorter than this may be all different by chance

_DATE = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"  # 2024-01-31 or 31/01/2024
    r"([T ]\s*\d{1,2}:\d{2}.*)?\s*",
    re.DOTALL,
)
_IDENTIFIER_NAME = re.compile(
    r"(.*_)?(id|key)|pid|mrn|nhs_number|(subject|patient|encounter|hadm|stay|icustay|patientunitstay)(id)?"
)


def kind_of(name: str, cells: pd.Series) -> Kind | None:
    """Kind of one column, or None where numbers and text are mixed and only the user can decide.

    ==========================================================  ===============
    content (missing cells aside)                               kind
    ==========================================================  ===============
    truth values; yes/no, true/false or 0/1, both present       ``boolean``
    whole numbers                                               ``integer``
    whole numbers, all different, name like ``stay_id``         ``identifier``
    other numbers, also when written as text                    ``numeric``
    dates, also when written as text in 95 % of the cells       ``date``
    20 or more texts, all different, none with white space      ``identifier``
    other text; pandas categoricals                             ``categorical``
    numbers in some cells, text in others                       None
    ==========================================================  ===============

    >>> kind_of("sex", pd.Series(["female", "male", "male"]))
    'categorical'
    >>> kind_of("stay_id", pd.Series([30, 10, 20]))
    'identifier'
    >>> kind_of("lactate", pd.Series(["1.5", "2", "haemolysed"])) is None
    True
    """
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return "categorical"
    if pd.api.types.is_bool_dtype(cells.dtype):
        return "boolean"
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        return "date"
    if is_numeric(cells):
        return _kind_of_numbers(name, numbers(cells))
    return _kind_of_text(name, cells)


def _kind_of_numbers(name: str, values: np.ndarray) -> Kind:
    present = values[~np.isnan(values)]
    if present.size == 0 or not np.array_equal(present, np.round(present)) or np.isinf(present).any():
        return "numeric"
    distinct = np.unique(present)
    if np.array_equal(distinct, (0.0, 1.0)):
        return "boolean"
    if _IDENTIFIER_NAME.fullmatch(name.lower()) and distinct.size == present.size:
        return "identifier"
    return "integer"


def _kind_of_text(name: str, cells: pd.Series) -> Kind | None:
    codes, levels = levels_of(cells)
    if not levels:
        return "categorical"
    if {level.strip().lower() for level in levels} in [set(pair) for pair in YES_NO_PAIRS]:
        return "boolean"
    rows_per_level = np.bincount(codes[codes >= 0])
    dated = np.array([_DATE.fullmatch(level) is not None for level in levels])
    if dated @ rows_per_level >= DATE_SHARE * rows_per_level.sum():
        return "date"
    numeric = ~np.isnan(level_numbers(levels))
    if numeric.all():
        return _kind_of_numbers(name, numbers(cells))
    if numeric.any():
        return None
    all_different = len(levels) == rows_per_level.sum() >= IDENTIFIER_ROWS
    if all_different and not any(re.search(r"\s", level) for level in levels):
        return "identifier"
    return "categorical"
