"""What each column of a table holds: inferred from the table, corrected by the user in a small TOML file."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import tomli_w

from aliquot.cohort.code_lists import SCHEMES
from aliquot.cohort.kinds import FEATURE_KINDS, KINDS, NUMBER_KINDS, Kind, kind_of
from aliquot.cohort.values import LARGEST, loose_spelling
from aliquot.cohort.wording import quoted, suggestion
from aliquot.errors import FileError, SchemaError, known_names
from aliquot.loading import MOST_TOML, NotAsWrittenError, content_of, toml_of

_TYPES = {  # of the keys of an entry
    "kind": str,
    "unit": str,
    "log": bool,
    "low": (int, float),
    "high": (int, float),
    "missing": list,
    "levels": list,
    "codes": str,
    "days_from": str,
    "day_first": bool,
}
_FIELDS = {"missing": "gap_values", "codes": "scheme"}  # of Column, where the key is called otherwise
_NEEDS = {  # which kinds an entry may have a key for
    "log": NUMBER_KINDS,
    "low": NUMBER_KINDS,
    "high": NUMBER_KINDS,
    "levels": ("ordinal",),
    "codes": ("code",),
    "days_from": ("date",),
    "day_first": ("date",),
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: its name, its kind and what is known of its scale and of how its cells are written.

    >>> Column(name="heart_rate", kind="numeric", unit="/min", low=0, high=300).is_feature
    True
    """

    name: str
    kind: Kind
    unit: str | None = None
    log: bool = False  # encode on the scale log(1 + x)
    low: float | None = None  # plausible range, in the column's unit
    high: float | None = None
    gap_values: tuple[float | str, ...] = ()  # "missing" in a schema file: cells that mean missing, for example -999
    levels: tuple[str, ...] = ()  # of an ordinal column, in order
    scheme: str | None = None  # "codes" in a schema file: icd9, icd10 or prefix; None: as the codes look
    days_from: str | None = None  # of dates, the column from which days are counted
    day_first: bool | None = None  # of dates like 03/04/2024; None: as the dates look

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(f"column {self.name!r} has an unknown kind in the schema; use one of: {', '.join(KINDS)}")
        for key, kinds in _NEEDS.items():
            if self.value_of(key) not in (None, False, ()) and self.kind not in kinds:
                raise SchemaError(
                    f"column {self.name!r} has {key} in the schema but kind {self.kind!r}; this needs kind "
                    f"{' or '.join(kinds)}"
                )
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise SchemaError(f"column {self.name!r} has a low that is not below its high in the schema; exchange them")
        if self.kind == "ordinal" and len({loose_spelling(level) for level in self.levels}) < max(2, len(self.levels)):
            raise SchemaError(
                f"column {self.name!r} is ordinal in the schema but has not two or more different levels in order; "
                'write them as levels = ["mild", "severe"]'
            )
        if self.scheme is not None and self.scheme not in SCHEMES:
            raise SchemaError(
                f"column {self.name!r} has unknown codes in the schema; use one of: {', '.join(SCHEMES)}, or leave "
                "it out"
            )

    @property
    def is_feature(self) -> bool:
        """Whether models may see the column."""
        return self.kind in FEATURE_KINDS or self.days_from is not None

    def value_of(self, key: str) -> Any:
        """The value of a key of a schema file."""
        return getattr(self, _FIELDS.get(key, key))


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
        """The schema in a TOML file written by hand or by ``aliquot check``."""
        return cls(tuple(_column(name, entry) for name, entry in _read_entries(Path(path)).items()))


def infer_schema(frame: pd.DataFrame, *, exclude: Collection[str] = ()) -> Schema:
    """The kinds of all columns of ``frame`` but the excluded ones.

    >>> infer_schema(pd.DataFrame({"id": [7, 8], "ph": [7.35, 7.4]})).columns[1].kind
    'numeric'
    """
    return complete_schema(frame, exclude=exclude)


def complete_schema(frame: pd.DataFrame, given: Schema | None = None, *, exclude: Collection[str] = ()) -> Schema:
    """Schema with the given columns as they are and the others inferred; columns that mix numbers and text stand as
    ``ignore``, as only the user can decide.
    """
    known = {column.name: column for column in given or ()}
    unknown = [name for name in known if name not in frame.columns]
    if unknown:
        raise SchemaError(
            f"the schema has columns that the table lacks ({quoted(unknown)}); "
            f"{suggestion(unknown[0], list(frame.columns))}"
        )
    names = [name for name in frame.columns if name not in exclude]
    inferred = (Column(name=name, kind=kind_of(name, frame[name]) or "ignore") for name in names if name not in known)
    found = known | {column.name: column for column in inferred}
    return Schema(tuple(found[name] for name in names))


def _entry(column: Column) -> dict[str, Any]:
    values = {key: column.value_of(key) for key in _TYPES}
    written = {key: [*value] if isinstance(value, tuple) else value for key, value in values.items()}
    default = Column(name="", kind="numeric")
    return {key: value for key, value in written.items() if key == "kind" or values[key] != default.value_of(key)}


def _column(name: str, entry: dict[str, Any]) -> Column:
    values: dict[str, Any] = {_FIELDS.get(key, key): value for key, value in entry.items()}
    parts: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in values.items()}
    return Column(name=name, **parts)


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
    if not all(isinstance(level, str) for level in entry.get("levels", ())):
        problems.append(f"levels of column {name!r} are not all text in quotes")
    if "kind" not in entry:
        problems.append(f"column {name!r} has no kind (known: {', '.join(KINDS)})")
    return problems


def _has_type(value: object, kind: type | tuple[type, ...]) -> bool:
    if isinstance(value, list):
        return kind is list and all(_has_type(one, (int, float, str)) for one in value)
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, kind) and (not isinstance(value, int | float) or abs(value) <= LARGEST)
