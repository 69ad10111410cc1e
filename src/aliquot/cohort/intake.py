"""What a table turned out to be, column by column, before anything is done with it."""

import re
from dataclasses import dataclass, replace

import pandas as pd

from aliquot.cohort.checks import check_names, check_rows
from aliquot.cohort.cohort import Cohort, patient_codes
from aliquot.cohort.columns import Columns, check_known
from aliquot.cohort.first_schema import schema_file
from aliquot.cohort.found import Found
from aliquot.cohort.profile import ColumnProfile, profile
from aliquot.cohort.schema import Schema, complete_schema
from aliquot.cohort.stays import Stays
from aliquot.cohort.tables.numerals import is_number
from aliquot.cohort.values import levels_of

NUMBER_SHARE = 0.5  # of the levels of a column are numbers, alone or with a unit
MANY_NUMBERS = 10  # fewer before letters without a space are stages and grades, such as 3a

_TEXTS = ("categorical", "ordinal", "code", "text")  # kinds
_UNITS = "numbers with units in the same cell; write the numbers alone, in one unit"
_WORDS = "numbers with words among them; clean them, or set kind in the schema file"
_UNIT = re.compile(r"(.*?[\d.,])(\s*)([^\W\d_]{1,5}|[µμ%°][^\W\d_]{0,3}|\S{1,6}[/^]\S{1,8})\s*", re.DOTALL)


@dataclass(frozen=True)
class Intake:
    """The format of a table, and what may be said of its columns; no cell of fewer than ten patients is in it."""

    found: Found | None
    columns: tuple[ColumnProfile, ...]
    schema: str  # the text of a schema file that is accepted as it stands
    channels: tuple[str, ...] = ()  # measured over time, beside the columns

    def count(self, verdict: str) -> int:
        """How many columns have a verdict."""
        return sum(column.verdict == verdict for column in self.columns)


def take_in(stays: Stays, columns: Columns) -> Intake:
    """The format and columns of a table as it was read; target, patient and split, where named, have no verdict.

    Where ``columns`` name the patient, ten patients stand behind what is shown; otherwise ten rows.

    >>> frame = pd.DataFrame({"dose": ["5 mg", "2 g", "7 mg"] * 20, "died": [0, 1] * 30})
    >>> take_in(Stays(frame), Columns(target="died")).columns[0].why
    'numbers with units in the same cell; write the numbers alone, in one unit'
    """
    frame = stays.frame.set_axis([str(name) for name in stays.frame.columns], axis=1)
    check_names([*frame.columns, *stays.channels])
    check_rows(frame)
    for role in ("target", "patient_id", "split"):
        check_known(role.replace("_id", " identifier"), [getattr(columns, role)], list(frame.columns))
    patients = None if columns.patient_id is None else patient_codes(frame[columns.patient_id])
    apart = {*columns.roles, *columns.drop, *([] if stays.stay_id is None else [stays.stay_id])}
    schema = complete_schema(frame, columns.read_schema())
    found = [one for one in profile(frame, schema, patients) if one.name not in apart]
    return Intake(
        stays.found,
        tuple(_second_look(one, frame[one.name]) for one in found),
        schema_file(frame, schema, patients),
        stays.channels,
    )


def to_decide(cohort: Cohort) -> tuple[ColumnProfile, ...]:
    """The features of a cohort that somebody should look at, and why."""
    asked = Schema(tuple(column for column in cohort.schema if column.kind != "date"))  # dates are days by now
    found = (_second_look(one, cohort.frame[one.name]) for one in profile(cohort.frame, asked, cohort.patient))
    return tuple(one for one in found if one.verdict == "decide")


def _second_look(one: ColumnProfile, cells: pd.Series) -> ColumnProfile:
    """Of texts that hide numbers, that somebody must decide."""
    if one.kind not in _TEXTS:
        return one
    levels = levels_of(cells)[1]
    why = _UNITS if _has_units(levels) else _WORDS if _has_words(levels) else None
    return one if why is None else replace(one, verdict="decide", why=why)


def _has_words(levels: list[str]) -> bool:
    """Whether most levels are numbers and others are words, unlike codes, which have digits too.

    >>> _has_words(["1.5", "2", "7.5", "haemolysed"]), _has_words(["250", "401", "V45"])
    (True, False)
    """
    numbers = [level for level in levels if is_number(level)]
    words = any(not any(sign.isdigit() for sign in level) for level in levels)
    return words and len(levels) > len(numbers) >= NUMBER_SHARE * len(levels)


def _has_units(levels: list[str]) -> bool:
    """Whether most levels are a number and a unit.

    >>> [_has_units(levels) for levels in (["5 mg", "2 g"], ["36 °C"], ["3a", "3b"], ["12 x 3"])]
    [True, True, False, False]
    """
    found = [one for one in map(_UNIT.fullmatch, levels) if one is not None and is_number(one[1])]
    apart = [one for one in found if one[2] or not one[3].isalpha()]
    sure = apart if len({one[1] for one in found}) <= MANY_NUMBERS else found
    return bool(levels) and len(sure) >= NUMBER_SHARE * len(levels)
