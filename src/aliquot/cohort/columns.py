"""What the columns of a table mean: the outcome, the patient, the split, what to leave out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from aliquot.cohort.schema import Schema
from aliquot.cohort.wording import suggestion
from aliquot.errors import SchemaError, SettingsError, TargetError, known_names


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The meaning of a table's columns, by name.

    >>> Columns(target="died", drop=["name"]).drop
    ('name',)
    """

    target: str | None = None  # the outcome
    patient_id: str | None = None  # no patient is in two parts of the split; None: every row is a patient
    split: str | None = None  # the user's own split
    positive: object = None  # the class that is the event
    schema: Schema | str | Path | None = None  # corrections to the inferred kinds, or the path of a schema file
    drop: Collection[str] = ()  # columns to leave out
    subgroups: Collection[str] = ()  # columns, features or not, by whose levels results are compared
    licence: str | None = None  # of the source, for card and metadata

    def __post_init__(self) -> None:
        for name in ("drop", "subgroups"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if isinstance(self.schema, Path):
            object.__setattr__(self, "schema", str(self.schema))

    @classmethod
    def of(cls, given: "Columns | None", named: Mapping[str, Any]) -> "Columns":
        """The columns given as a value, by name, or both; a name replaces what the value says.

        >>> Columns.of(None, {"taget": "died"})
        Traceback (most recent call last):
        ...
        aliquot.errors.SettingsError: asked for columns by 'taget'; did you mean 'target'? known: target, ...
        """
        known = [field.name for field in fields(cls)]
        unknown = [name for name in named if name not in known]
        if unknown:
            raise SettingsError(f"asked for columns by {unknown[0]!r}; {known_names(unknown[0], known)}")
        return replace(given or cls(), **named)

    @property
    def outcome(self) -> str:
        """The target; an error where none is named."""
        if self.target is None:
            raise TargetError("asked to condense a table, but not told its outcome; pass target=…")
        return self.target

    @property
    def roles(self) -> tuple[str, ...]:
        """The columns of target, patient and split, as far as they are named."""
        return tuple(name for name in (self.target, self.patient_id, self.split) if name is not None)

    def read_schema(self) -> Schema | None:
        """The corrections to the inferred kinds, read from their file where that is what was given."""
        return Schema.from_toml(self.schema) if isinstance(self.schema, str | Path) else self.schema

    def check_roles(self, known: Sequence[str]) -> None:
        """Raise an error unless target, patient and split are different columns of the table."""
        check_known("target", [self.outcome], known)
        check_known("patient identifier", [self.patient_id], known)
        check_known("split", [self.split], known)
        if len(set(self.roles)) < len(self.roles):
            raise SchemaError(
                "one column was named for two of target, patient identifier and split; name different ones"
            )


def check_known(role: str, names: Collection[str | None], known: Sequence[str]) -> None:
    """Raise an error where a column that was named for a role is not in the table."""
    for name in names:
        if name is not None and name not in known:
            error = TargetError if role == "target" else SchemaError
            raise error(f"the {role} {name!r} is not a column of the table; {suggestion(name, known)}")
