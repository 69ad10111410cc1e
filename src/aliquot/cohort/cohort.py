"""A checked table: features as they came, labels as codes, and who belongs to whom."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from aliquot.cohort.checks import check_names, check_rows
from aliquot.cohort.columns import Columns, check_known
from aliquot.cohort.features import features_of, notes_on, static_entries
from aliquot.cohort.found import Found
from aliquot.cohort.read import fingerprint
from aliquot.cohort.records import Records
from aliquot.cohort.roles import read_roles
from aliquot.cohort.schema import Schema
from aliquot.cohort.series import Series, varying
from aliquot.cohort.stays import Stays
from aliquot.cohort.subgroups import groups_of
from aliquot.cohort.target import Label, read_target
from aliquot.cohort.time.grid import Layout, on_grid
from aliquot.cohort.values import levels_of
from aliquot.cohort.wording import counted
from aliquot.errors import SchemaError, SettingsError
from aliquot.identity import digest


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
    groups: pd.DataFrame | None = None  # the group of each row by every column by which results are compared
    licence: str = ""  # of the source, where it is known; for card and metadata
    found: Found | None = None  # the format that the patients were read from

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, columns: Columns | None = None, **named: Any) -> "Cohort":
        """Cohort from a table; every column that cannot be used is reported, all in one message.

        What the columns mean is given as :class:`Columns` or by the names of its fields: ``target`` is needed;
        ``patient_id`` and ``split`` name columns; ``positive`` the class that is the event; ``schema`` overrides the
        inferred kinds of the columns that it mentions; ``drop`` names columns to leave out; ``subgroups`` columns,
        features or not, by whose levels results are compared.
        """
        return cls.from_stays(Stays(frame), columns, **named)

    @classmethod
    def from_events(
        cls,
        frame: pd.DataFrame,
        layout: Layout,
        outcomes: pd.DataFrame | None = None,
        columns: Columns | None = None,
        **named: Any,
    ) -> "Cohort":
        """Cohort of series from a table of measurements, with one per line or one column per variable.

        ``outcomes`` has one row per stay: the stay, the target, what does not change in time and, where there are any,
        the columns ``patient_id`` and ``split``; without it they are columns of ``frame`` that are constant within a
        stay, and so are ``subgroups``. ``drop`` and ``schema`` may also name variables. See
        :func:`aliquot.cohort.on_grid` for the grid, and :meth:`from_frame` for the columns.

        >>> lines = pd.DataFrame({"id": np.arange(40) // 2, "hour": np.arange(40) % 2, "hr": np.arange(40) + 60})
        >>> cohort = Cohort.from_events(lines.assign(died=lines["id"] % 2), layout=Layout("id", "hour"), target="died")
        >>> cohort.series.values.shape, cohort.series.channels, cohort.classes
        ((20, 2, 1), ('hr',), (0, 1))
        """
        columns = Columns.of(columns, named)
        roles, drop, subgroups, schema = columns.roles, columns.drop, columns.subgroups, columns.read_schema()
        known = [*map(str, frame.columns), *([] if outcomes is None else map(str, outcomes.columns))]
        columns.check_roles(known)
        check_known("subgroup", subgroups, known)
        anchors = [column.days_from for column in schema or ()]
        kept = {*roles, *anchors}
        ignored = [column.name for column in schema or () if not column.is_feature and column.name not in kept]
        stays = on_grid(frame, layout, outcomes, constant=[*roles, *subgroups], drop={*drop, *ignored})
        tables = [frame] if outcomes is None else [frame, outcomes]
        unused = {*ignored} - {*drop, *layout.columns}
        notes = notes_on(Schema(tuple(column for column in schema or () if column.name in unused)), tables)
        return cls.from_stays(
            replace(stays, notes=(*stays.notes, *notes)),
            columns,
            schema=None if schema is None else static_entries(schema, stays, [*known, *drop, *ignored]),
            drop=[name for name in (*drop, *ignored) if name in subgroups],
        )

    @classmethod
    def from_stays(cls, stays: Stays, columns: Columns | None = None, **named: Any) -> "Cohort":
        """Cohort from patients as they were read: a table, or series with the outcome in the table beside."""
        columns = Columns.of(columns, named)
        frame = stays.frame.set_axis([str(name) for name in stays.frame.columns], axis=1)
        check_names(list(frame.columns))
        check_rows(frame)
        columns.check_roles(list(frame.columns))
        check_known("column to drop", columns.drop, [*frame.columns, *stays.channels])
        labels, classes = read_target(frame[columns.outcome], columns.positive)
        patient = None if columns.patient_id is None else patient_codes(frame[columns.patient_id])
        roles = None if columns.split is None else read_roles(frame[columns.split], patient)
        excluded = {*columns.roles, *columns.drop, *([] if stays.stay_id is None else [stays.stay_id])}
        table, features, notes = features_of(frame, columns.read_schema(), excluded, alone=stays.series is None)
        series, left_out = (None, ()) if stays.series is None else varying(stays.series, columns.drop, patient)
        return cls(
            table,
            labels,
            classes,
            columns.outcome,
            patient,
            roles,
            features,
            (*stays.notes, *left_out, *notes),
            series,
            groups_of(_with_features(frame, table), columns.subgroups, features.names),
            columns.licence or "",
            stays.found,
        )

    @classmethod
    def from_records(cls, records: Records, columns: Columns | None = None, **named: Any) -> "Cohort":
        """Cohort from what a reader of a known dataset returns.

        Columns and channels that are empty or never vary are left out and noted; ``drop`` names more of them;
        ``subgroups`` names columns by whose levels results are compared. Target, patients and split are the records'.
        """
        columns = Columns.of(columns, named)
        if columns != Columns(drop=columns.drop, subgroups=columns.subgroups, licence=columns.licence):
            raise SettingsError("asked for columns of records, which bring their own; name only drop and subgroups")
        patient = None if records.groups is None else patient_codes(pd.Series(records.groups, name="patient"))
        roles = None if records.roles is None else read_roles(pd.Series(records.roles, name="split"), patient)
        frame = records.frame.reset_index(drop=True)
        check_known("column to drop", columns.drop, [*frame.columns, *records.channels])
        table, features, notes = features_of(frame, None, columns.drop, alone=records.series is None)
        series, left_out = None, ()
        if records.series is not None:
            measured = Series(records.series, records.channels, records.step_hours)
            series, left_out = varying(measured, columns.drop, patient)
        return cls(
            table,
            np.asarray(records.labels, np.int32),
            (0, 1),
            records.target,
            patient,
            roles,
            features,
            (*records.notes, *left_out, *notes),
            series,
            groups_of(frame, columns.subgroups, features.names),
            columns.licence or "",
        )

    @classmethod
    def from_arrays(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        names: Sequence[str] | None = None,
        patient: np.ndarray | None = None,
        static: pd.DataFrame | None = None,
    ) -> "Cohort":
        """Cohort from an array of numbers and one label per row; columns or channels are x0, x1, … unless named.

        Two dimensions are a table, three are series: rows, steps of an hour, channels, NaN where not measured. Beside
        series, ``static`` is a table of what does not change in time, one row each.

        >>> Cohort.from_arrays(np.arange(40.0).reshape(20, 2), np.arange(20) % 2).frame.shape
        (20, 2)
        >>> Cohort.from_arrays(np.arange(60.0).reshape(20, 3, 1), np.arange(20) % 2).series.channels
        ('x0',)
        """
        X, y = np.asarray(X), np.asarray(y)
        if X.ndim == 3:
            return cls._from_series(X, y, names, patient, static)
        if static is not None:
            raise SchemaError("static was given beside a table; add its columns to X, or pass X with three dimensions")
        if X.ndim != 2 or y.shape != X.shape[:1] or (patient is not None and np.shape(patient) != y.shape):
            raise SchemaError(
                f"X has shape {X.shape} and y {y.shape}; pass X with two or three dimensions, and y and patient with "
                "one entry per row"
            )
        names = [f"x{place}" for place in range(X.shape[1])] if names is None else [str(name) for name in names]
        if len(names) != X.shape[1]:
            raise SchemaError(f"X has {X.shape[1]} columns but {len(names)} names were given; give one name each")
        check_names(names)
        frame = pd.DataFrame(X, columns=pd.Index(names), copy=False)
        check_rows(frame)
        labels, classes = read_target(pd.Series(y, name="y"))
        codes = None if patient is None else patient_codes(pd.Series(patient, name="patient"))
        table, features, notes = features_of(frame, None, set(), alone=True)
        groups = groups_of(frame, (), features.names)
        return cls(table, labels, classes, "y", codes, None, features, notes, groups=groups)

    @classmethod
    def _from_series(cls, X: np.ndarray, y: np.ndarray, names, patient, static: pd.DataFrame | None) -> "Cohort":
        channels = tuple(f"x{place}" for place in range(X.shape[2])) if names is None else tuple(map(str, names))
        rows = y.shape if static is None else (len(static),)
        if not y.shape == rows == X.shape[:1] or len(channels) != X.shape[2] or np.isinf(X).any():
            raise SchemaError(
                f"X has shape {X.shape}, y {y.shape}, and there are {len(channels)} names; pass one label per row, "
                "one name per channel, finite numbers or NaN, and static with one row each"
            )
        check_names(list(channels))
        labels, classes = read_target(pd.Series(y, name="y"))
        codes = None if patient is None else patient_codes(pd.Series(patient, name="patient"))
        frame = pd.DataFrame(index=range(len(y))) if static is None else static.reset_index(drop=True)
        table, features, notes = features_of(frame, None, set(), alone=False)
        series, left_out = varying(Series(np.asarray(X, np.float32), channels), patients=codes)
        groups = groups_of(frame, (), features.names)
        return cls(table, labels, classes, "y", codes, None, features, (*left_out, *notes), series, groups)

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

    @cached_property
    def fingerprint(self) -> str:
        """A digest that changes with any value, schema entry, outcome, patient, role or group."""
        series = self.series
        return digest(
            fingerprint(self.frame),
            *(() if series is None else (series.values, series.channels, series.step_hours)),
            self.schema,
            self.labels,
            (self.target, self.classes),
            self.patient,
            self.split,
            None if self.groups is None else fingerprint(self.groups),
        )

    def take(self, rows: np.ndarray) -> "Cohort":
        """The cohort of some rows, given by position or as a mask; classes and schema stay the same."""
        return replace(
            self,
            frame=self.frame.iloc[rows].reset_index(drop=True),
            labels=self.labels[rows],
            patient=None if self.patient is None else self.patient[rows],
            split=None if self.split is None else self.split[rows],
            series=None if self.series is None else self.series.take(rows),
            groups=None if self.groups is None else self.groups.iloc[rows].reset_index(drop=True),
        )


def _with_features(frame: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """The table as it came, with its features as they are read."""
    return frame.reset_index(drop=True).assign(**{str(name): table[name] for name in table.columns})


def patient_codes(cells: pd.Series) -> np.ndarray:
    """The code of each row's patient, from the column that names patients; an error where one is not named."""
    codes, _ = levels_of(cells)
    missing = int((codes < 0).sum())
    if missing:
        raise SchemaError(
            f"the patient identifier {str(cells.name)!r} is missing in {counted(missing, 'row')}; fill it in "
            "or remove these rows"
        )
    return codes.astype(np.int64)
