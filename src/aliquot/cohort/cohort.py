"""A checked table: features as they came, labels as codes, and who belongs to whom."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from aliquot.cohort.cells import levels_of
from aliquot.cohort.checks import check_names, check_rows, column_problem, is_constant
from aliquot.cohort.records import Records
from aliquot.cohort.roles import read_roles
from aliquot.cohort.schema import Schema, complete_schema
from aliquot.cohort.series import Series
from aliquot.cohort.target import Label, read_target
from aliquot.cohort.wording import counted, quoted, suggestion, together
from aliquot.errors import SchemaError, TargetError


@dataclass(frozen=True, eq=False)
class Cohort:
    """Patients or stays, one per row, with features, outcome and grouping.

    Guarantees: ``schema`` has exactly the columns of ``frame``, in its order, all of them usable features;
    target, patient identifier and split are not among them.

    >>> frame = pd.DataFrame({"age": range(40, 80), "unit": ["icu"] * 40, "died": [0, 0, 0, 1] * 10})
    >>> cohort = Cohort.from_frame(frame, target="died")
    >>> cohort.n, cohort.classes, cohort.prevalence
    (40, (0, 1), (0.75, 0.25))
    >>> cohort.notes
    ("left out 'unit': the same value in every row",)
    """

    frame: pd.DataFrame  # feature columns only
    labels: np.ndarray  # (n,) int32, index into classes
    classes: tuple[Label, ...]  # the event is the last one
    target: str
    patient: np.ndarray | None  # (n,) int64 codes; None: every row is a patient
    split: np.ndarray | None  # (n,) int8 role codes; None: not split yet
    schema: Schema
    notes: tuple[str, ...]  # sentences for the user on what was left out
    series: Series | None = None  # measurements over time; ``frame`` then holds what does not change

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        target: str,
        patient_id: str | None = None,
        split: str | None = None,
        positive: object = None,
        schema: Schema | None = None,
        drop: Collection[str] = (),
    ) -> "Cohort":
        """Cohort from a table; every column that cannot be used is reported, all in one message.

        ``patient_id`` and ``split`` name columns; ``positive`` the class that is the event; ``schema``
        overrides the inferred kinds of the columns that it mentions; ``drop`` names columns to leave out.
        """
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        check_names(list(frame.columns))
        check_rows(frame)
        _check_known(list(frame.columns), target=target, patient_id=patient_id, split=split, drop=drop)
        labels, classes = read_target(frame[target], positive)
        patient = None if patient_id is None else _patient_codes(frame[patient_id])
        roles = None if split is None else read_roles(frame[split], patient)
        aside = {target, patient_id, split, *drop} - {None}
        features, notes = _features(frame, schema, aside)
        return cls(
            frame.loc[:, list(features.names)].reset_index(drop=True),
            labels,
            classes,
            target,
            patient,
            roles,
            features,
            notes,
        )

    @classmethod
    def from_records(cls, records: Records) -> "Cohort":
        """Cohort from what a reader of a known dataset returns; columns that never vary are left out and noted."""
        patient = None if records.groups is None else _patient_codes(pd.Series(records.groups, name="patient"))
        roles = None if records.roles is None else read_roles(pd.Series(records.roles, name="split"), patient)
        frame = records.frame.reset_index(drop=True)
        features, notes = (Schema(()), ()) if not frame.shape[1] else _features(frame, None, set())
        series = None if records.series is None else Series(records.series, records.channels, records.step_hours)
        return cls(
            frame.loc[:, list(features.names)],
            np.asarray(records.labels, np.int32),
            (0, 1),
            records.target,
            patient,
            roles,
            features,
            (*records.notes, *notes),
            series,
        )

    @classmethod
    def from_arrays(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        names: Sequence[str] | None = None,
        patient: np.ndarray | None = None,
    ) -> "Cohort":
        """Cohort from an array of numbers and one label per row; columns or channels are x0, x1, … unless named.

        Two dimensions are a table, three are series: rows, steps of an hour, channels, NaN where not measured.

        >>> Cohort.from_arrays(np.arange(40.0).reshape(20, 2), np.arange(20) % 2).frame.shape
        (20, 2)
        >>> Cohort.from_arrays(np.arange(60.0).reshape(20, 3, 1), np.arange(20) % 2).series.channels
        ('x0',)
        """
        X, y = np.asarray(X), np.asarray(y)
        if X.ndim == 3:
            return cls._from_series(X, y, names, patient)
        if X.ndim != 2 or y.shape != X.shape[:1] or (patient is not None and np.shape(patient) != y.shape):
            raise SchemaError(
                f"X has shape {X.shape} and y {y.shape}; pass X with two or three dimensions, and y and patient with "
                "one entry a row"
            )
        names = [f"x{place}" for place in range(X.shape[1])] if names is None else [str(name) for name in names]
        if len(names) != X.shape[1]:
            raise SchemaError(f"X has {X.shape[1]} columns but {len(names)} names were given; give one name each")
        check_names(names)
        frame = pd.DataFrame(X, columns=pd.Index(names), copy=False)
        check_rows(frame)
        labels, classes = read_target(pd.Series(y, name="y"))
        codes = None if patient is None else _patient_codes(pd.Series(patient, name="patient"))
        features, notes = _features(frame, None, set())
        return cls(frame.loc[:, list(features.names)], labels, classes, "y", codes, None, features, notes)

    @classmethod
    def _from_series(cls, X: np.ndarray, y: np.ndarray, names: Sequence[str] | None, patient) -> "Cohort":
        channels = tuple(f"x{place}" for place in range(X.shape[2])) if names is None else tuple(map(str, names))
        if y.shape != X.shape[:1] or len(channels) != X.shape[2] or np.isinf(X).any():
            raise SchemaError(
                f"X has shape {X.shape}, y {y.shape}, and there are {len(channels)} names; pass one label a row, one "
                "name a channel, and finite numbers or NaN"
            )
        check_names(list(channels))
        labels, classes = read_target(pd.Series(y, name="y"))
        codes = None if patient is None else _patient_codes(pd.Series(patient, name="patient"))
        frame = pd.DataFrame(index=range(len(y)))
        series = Series(np.asarray(X, np.float32), channels)
        return cls(frame, labels, classes, "y", codes, None, Schema(()), (), series)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        """Number of classes of the target."""
        return len(self.classes)

    @property
    def prevalence(self) -> tuple[float, ...]:
        """Share of the rows in each class."""
        counts = np.bincount(self.labels, minlength=self.n_classes)
        return tuple((counts / self.n).tolist())

    def take(self, rows: np.ndarray) -> "Cohort":
        """The cohort of some rows, given by position or as a mask; classes and schema stay the same."""
        return replace(
            self,
            frame=self.frame.iloc[rows].reset_index(drop=True),
            labels=self.labels[rows],
            patient=None if self.patient is None else self.patient[rows],
            split=None if self.split is None else self.split[rows],
            series=None if self.series is None else self.series.take(rows),
        )


def _check_known(
    known: list[str], *, target: str, patient_id: str | None, split: str | None, drop: Collection[str]
) -> None:
    asked = [("target", target), ("patient identifier", patient_id), ("split", split)]
    asked += [("column to drop", name) for name in drop]
    for role, name in asked:
        if name is not None and name not in known:
            error = TargetError if role == "target" else SchemaError
            raise error(f"the {role} {name!r} is not a column of the table; {suggestion(name, known)}")
    named = [name for name in (target, patient_id, split) if name is not None]
    if len(set(named)) < len(named):
        raise SchemaError("one column was named for two of target, patient identifier and split; name different ones")


def _patient_codes(cells: pd.Series) -> np.ndarray:
    codes, _ = levels_of(cells)
    missing = int((codes < 0).sum())
    if missing:
        raise SchemaError(
            f"the patient identifier {str(cells.name)!r} is missing in {counted(missing, 'row')}; fill it in "
            "or remove these rows"
        )
    return codes.astype(np.int64)


def _features(frame: pd.DataFrame, given: Schema | None, aside: Collection[str]) -> tuple[Schema, tuple[str, ...]]:
    """Schema of the usable features, and notes on columns left out; the user's own omissions need no note."""
    schema, problems = complete_schema(frame, given, exclude=aside)
    found = [column_problem(column, frame[column.name]) for column in schema]
    problems += [problem for problem in found if problem is not None]
    if problems:
        raise SchemaError(together(problems))
    identifiers = [column.name for column in schema if column.kind == "identifier"]
    features = [column for column in schema if column.is_feature]
    constant = [column.name for column in features if is_constant(frame[column.name])]
    features = [column for column in features if column.name not in constant]
    if not features:
        raise SchemaError(
            "the table has no column left as a feature; pass one with at least one varying feature column"
        )
    notes = (
        (identifiers, "identifiers, not features"),
        (constant, "the same value in every row"),
    )
    return Schema(tuple(features)), tuple(f"left out {quoted(names)}: {why}" for names, why in notes if names)
