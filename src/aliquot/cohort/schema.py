"""What each column of a table holds: inferred from the table, corrected by the user in a small TOML file."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd
import tomli_w

from aliquot.cohort.kinds import FEATURE_KINDS, KINDS, Kind, kind_of
from aliquot.cohort.values import LARGEST
from aliquot.cohort.wording import quoted, suggestion, together
from aliquot.errors import FileError, SchemaError, known_names
from aliquot.loading import MOST_TOML, NotAsWrittenError, content_of, toml_of

_HEADER = """\
# What each column of the table holds. Delete what is right; keep and edit what is not:
# columns that are not mentioned here are inferred again.
#
#   kind   numeric, integer, boolean or categorical (features);
#          identifier, date or ignore (never features)
#   unit   for people, for example "mmHg"
#   log    true: a numeric column is encoded on a logarithmic scale
#   low    smallest plausible value of a numeric column; smaller ones are moved up to it
#   high   largest plausible value; larger ones are moved down to it
"""
_TYPES = {"kind": str, "unit": str, "log": bool, "low": (int, float), "high": (int, float)}  # of the keys of an entry


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: its name, its kind and what is known of its scale.

    >>> Column(name="heart_rate", kind="numeric", unit="/min", low=0, high=300).is_feature
    True
    """

    name: str
    kind: Kind
    unit: str | None = None
    log: bool = False  # encode on the scale log(1 + x)
    low: float | None = None  # plausible range, in the column's unit
    high: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(f"column {self.name!r} has an unknown kind in the schema; use one of: {', '.join(KINDS)}")
        if (self.log, self.low, self.high) != (False, None, None) and self.kind not in ("numeric", "integer"):
            raise SchemaError(
                f"column {self.name!r} has log, low or high in the schema but kind {self.kind!r}; these need "
                "kind numeric or integer"
            )
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise SchemaError(f"column {self.name!r} has a low that is not below its high in the schema; exchange them")

    @property
    def is_feature(self) -> bool:
        """Whether models may see the column."""
        return self.kind in FEATURE_KINDS


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in its order.

    >>> schema = infer_schema(pd.DataFrame({"age": [61, 74, 58], "sex": ["f", "m", "f"]}))
    >>> schema["age"].kind, schema["sex"].kind
    ('integer', 'categorical')
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.columns):
            raise SchemaError("the schema names a column twice; keep one entry for each column")

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(f"the schema has no column {name!r}; {suggestion(name, self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    def to_toml(self) -> str:
        """The schema as TOML, one table per column; only what differs from the defaults is written.

        >>> print(Schema((Column(name="age", kind="integer", unit="years"),)).to_toml(), end="")
        [columns.age]
        kind = "integer"
        unit = "years"
        """
        return tomli_w.dumps({"columns": {column.name: _entry(column) for column in self.columns}})

    @classmethod
    def from_toml(cls, path: str | Path) -> "Schema":
        """The schema in a TOML file written by hand or by ``aliquot schema``."""
        return cls(tuple(Column(name=name, **entry) for name, entry in _read_entries(Path(path)).items()))


def infer_schema(frame: pd.DataFrame, *, exclude: Collection[str] = ()) -> Schema:
    """The kinds of all columns of ``frame`` but the excluded ones; mixed columns are reported together.

    >>> infer_schema(pd.DataFrame({"id": [7, 8], "ph": [7.35, 7.4]})).columns[1]
    Column(name='ph', kind='numeric', unit=None, log=False, low=None, high=None)
    """
    schema, problems = complete_schema(frame, exclude=exclude)
    if problems:
        raise SchemaError(together(problems))
    return schema


def complete_schema(
    frame: pd.DataFrame, given: Schema | None = None, *, exclude: Collection[str] = ()
) -> tuple[Schema, list[str]]:
    """Schema with the given columns as they are and the others inferred, and what could not be inferred.

    Columns that could not be inferred stand as ``ignore``, so that the caller can go on and collect more
    problems.
    """
    known = {column.name: column for column in given or ()}
    unknown = [name for name in known if name not in frame.columns]
    if unknown:
        raise SchemaError(
            f"the schema has columns that the table lacks ({quoted(unknown)}); "
            f"{suggestion(unknown[0], list(frame.columns))}"
        )
    columns, problems = [], []
    for name in frame.columns:
        if name in exclude:
            continue
        kind = known[name].kind if name in known else kind_of(name, frame[name])
        if kind is None:
            problems.append(
                f'{name!r} mixes numbers and text (clean it, or set kind = "categorical" in the schema file)'
            )
        columns.append(known.get(name) or Column(name=name, kind=kind or "ignore"))
    return Schema(tuple(columns)), problems


def schema_file(frame: pd.DataFrame) -> str:
    """Text of a schema file for ``frame``, with comments for its editor; never fails on a mixed column."""
    schema, problems = complete_schema(frame)
    decisions = "".join(f"# Decide: {problem}\n" for problem in problems)
    return f"{_HEADER}{decisions}\n{schema.to_toml()}"


def _entry(column: Column) -> dict[str, Any]:
    values = {field.name: getattr(column, field.name) for field in fields(column)}
    return {key: value for key, value in values.items() if key != "name" and value is not None and value is not False}


def _read_entries(path: Path) -> dict[str, dict[str, Any]]:
    """The tables ``[columns.NAME]`` of a schema file, by column name; all mistakes are reported together."""
    entries = _read_toml(path)
    problems = [problem for name, entry in entries.items() for problem in _problems(name, entry)]
    if problems:
        raise SchemaError(f"cannot use the schema file: {'; '.join(problems)}; correct these entries")
    return entries


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        content = content_of(path, MOST_TOML)
    except (OSError, NotAsWrittenError):
        raise FileError(f"the schema file {str(path)!r} cannot be read; check its name and permissions") from None
    try:
        document = toml_of(content)
    except NotAsWrittenError as error:
        place = f" (see {error.where})" if error.where else ""
        raise FileError(f"the schema file {str(path)!r} is not valid TOML{place}; correct it there") from None
    entries = document.get("columns", {})
    if set(document) - {"columns"} or not isinstance(entries, dict):
        raise SchemaError(
            f"the schema file {str(path)!r} has entries outside of [columns.NAME] tables; move them into one"
        )
    return entries


def _problems(name: str, entry: object) -> list[str]:
    if not isinstance(entry, dict):
        return [f"{name!r} is not a table [columns.NAME]"]
    problems = [
        f"unknown key {key!r} for column {name!r} ({known_names(key, _TYPES)})" for key in entry if key not in _TYPES
    ]
    problems += [
        f"{key} of column {name!r} has the wrong type"
        for key in _TYPES
        if key in entry and not _has_type(entry[key], _TYPES[key])
    ]
    if "kind" not in entry:
        problems.append(f"column {name!r} has no kind (known: {', '.join(KINDS)})")
    return problems


def _has_type(value: object, kind: type | tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, kind) and (not isinstance(value, int | float) or abs(value) <= LARGEST)
