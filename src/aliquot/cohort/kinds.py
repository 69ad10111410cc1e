"""What kind of column this is, judged from its type, its content and, for identifiers, its name."""

import re
from typing import Literal

import numpy as np
import pandas as pd

from aliquot.cohort.values import YES_NO_PAIRS, is_numeric, levels_of, numbers, unsigned, written_numbers

Kind = Literal[
    "numeric", "integer", "boolean", "categorical", "code", "ordinal", "identifier", "date", "text", "ignore"
]

KINDS = ("numeric", "integer", "boolean", "categorical", "code", "ordinal", "identifier", "date", "text", "ignore")
NUMBER_KINDS = ("numeric", "integer")
FEATURE_KINDS = (*NUMBER_KINDS, "boolean", "categorical", "code", "ordinal")

DATE_SHARE = 0.95  # of the non-missing cells, for a text column to count as dates
CODE_SHARE = 0.95  # of the non-missing cells, for a text column to count as codes
CODE_LENGTH = 12  # a code has at most so many characters, and no white space
MANY_LEVELS = 200  # more distinct texts than this are codes or free text
TEXT_ROWS = 50  # shorter tables may have many levels by chance
IDENTIFIER_ROWS = 20  # columns shorter than this may be all different by chance
UNIQUE_NUMBER = 10_000  # whole numbers that are all different, and so large, are identifiers
LARGE_NUMBER = 10_000_000  # whole numbers that are all so large are no measurements

DATE = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"  # 2024-01-31 or 31/01/2024
    r"([T ]\s*\d{1,2}:\d{2}.*)?\s*",
    re.DOTALL,
)
DAY_OR_MONTH_FIRST = re.compile(r"\s*(\d{1,2})[-/.](\d{1,2})[-/.]")
_CODE = re.compile(r"\s*[A-Za-z]{1,3}[-.]?\d[\dA-Za-z.*+/-]{0,8}\s*")  # V45, E888, I21.4
_CODE_OF_WHOLE = re.compile(rf"{_CODE.pattern}|\s*\d{{1,6}}[A-Za-z]\s*")  # also 3a beside 3
_THOUSANDS = re.compile(r"\s*\d{1,3}([,.]\d{3})+([,.]\d+)?\s*")
_IDENTIFIER_NAME = re.compile(
    r"(.*_)?(id|key|account)|pid|(subject|patient|encounter|hadm|stay|icustay|patientunitstay)id"
)
_PERSON_NAME = re.compile(  # of identifiers, even where a patient has several rows
    r"mrn|ssn|nhs(_?(number|num|no|id))?|account_?(number|num|no)|(hospital|medical_?record)_?(number|num|no|nr)"
    r"|(patient|subject|person|case)_?(id|key|number|num|no|nr|nbr)"
)


def kind_of(name: str, cells: pd.Series) -> Kind | None:
    """Kind of one column, or None where numbers and text are mixed and only the user can decide.

    ============================================================  ===============
    content (missing cells aside)                                 kind
    ============================================================  ===============
    truth values; yes/no, true/false or 0/1, both present         ``boolean``
    whole numbers                                                 ``integer``
    whole numbers, all different, large or named like ``stay_id`` ``identifier``
    whole numbers of eight digits, or named like ``mrn``          ``identifier``
    other numbers, also as text, with decimal commas or as <0.2   ``numeric``
    dates, also when written as text in 95 % of the cells         ``date``
    20 or more texts, all different, none with white space        ``identifier``
    numbers in some cells, in others codes like V45 or I21.4      ``code``
    more than 200 short texts without white space                 ``code``
    as many other texts                                           ``text``
    fewer texts; pandas categoricals                              ``categorical``
    numbers in some cells, other text in others                   None
    ============================================================  ===============

    >>> kind_of("sex", pd.Series(["female", "male", "male"]))
    'categorical'
    >>> kind_of("stay_id", pd.Series([30, 10, 20]))
    'identifier'
    >>> kind_of("lactate", pd.Series(["1.5", "2", "haemolysed"])) is None
    True
    """
    if isinstance(cells.dtype, pd.CategoricalDtype):
        codes, levels = levels_of(cells)
        return _kind_of_levels(name, levels, np.bincount(codes[codes >= 0], minlength=len(levels)))
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
    return "identifier" if _is_identifier(name, present, distinct) else "integer"


def _is_identifier(name: str, present: np.ndarray, distinct: np.ndarray) -> bool:
    spelt = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if _PERSON_NAME.fullmatch(spelt) or np.abs(present).min() >= LARGE_NUMBER:
        return True
    if distinct.size < present.size:
        return False
    large = distinct.size >= IDENTIFIER_ROWS and np.median(present) >= UNIQUE_NUMBER
    return _IDENTIFIER_NAME.fullmatch(spelt) is not None or bool(large)


def _kind_of_text(name: str, cells: pd.Series) -> Kind | None:
    codes, levels = levels_of(cells)
    if not levels:
        return "categorical"
    if {level.strip().lower() for level in levels} in [set(pair) for pair in YES_NO_PAIRS]:
        return "boolean"
    rows = np.bincount(codes[codes >= 0])
    dated = np.array([DATE.fullmatch(level) is not None for level in levels])
    if dated @ rows >= DATE_SHARE * rows.sum():
        return "date"
    signed = np.array([sign != "" for sign in unsigned(levels)[0]])
    numeric = ~np.isnan(written_numbers(levels))
    if numeric.all() and not signed.any():
        return _kind_of_numbers(name, numbers(cells))
    if numeric.all() and (~signed).sum() > signed.sum():
        return "numeric"
    plain = numeric & ~signed
    if plain.any() or any(_THOUSANDS.fullmatch(level) for level in levels):
        whole = all(level.strip().isdigit() for level in np.array(levels, dtype=object)[plain])
        pattern = _CODE_OF_WHOLE if whole else _CODE
        coded = plain | np.array([pattern.fullmatch(level) is not None for level in levels])
        return "code" if coded @ rows >= CODE_SHARE * rows.sum() and not plain.all() else None
    return _kind_of_levels(name, levels, rows)


def _kind_of_levels(name: str, levels: list[str], rows: np.ndarray) -> Kind:
    n = rows.sum()
    single = np.array([not re.search(r"\s", level.strip()) for level in levels])
    if single.all() and (len(levels) == n >= IDENTIFIER_ROWS or _PERSON_NAME.fullmatch(name.lower())):
        return "identifier"
    if len(levels) <= MANY_LEVELS and not (n >= TEXT_ROWS and len(levels) > n / 2):
        return "categorical"
    short = np.array([len(level.strip()) <= CODE_LENGTH for level in levels]) & single
    return "code" if short @ rows >= CODE_SHARE * n else "text"
