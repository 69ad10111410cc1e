"""Where patients come from, and how they are read: a table, series, a known dataset, or the embedded cohort."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import pandas as pd

from aliquot.cohort import (
    Cohort,
    Columns,
    Encoder,
    Layout,
    Query,
    Records,
    Series,
    SeriesEncoder,
    Stays,
    on_grid,
    read_patients,
    read_table,
)
from aliquot.cohort.datasets import read_dataset
from aliquot.cohort.embedded import TARGET, support2_frame
from aliquot.errors import SchemaError, SettingsError
from aliquot.loading import require, typed
from aliquot.registry import READERS

EMBEDDED = "embedded:support2"
EMBEDDED_LICENCE = "SUPPORT2, UCI Machine Learning Repository 880; CC BY 4.0"


class _Columns(TypedDict, total=False):
    target: str | None
    patient_id: str | None
    split: str | None
    positive: bool | int | float | str | None
    schema: str | None
    drop: tuple[str, ...]
    subgroups: tuple[str, ...]
    licence: str | None


class _Plan(TypedDict):
    file: str
    sheet: NotRequired[str | None]
    sql: NotRequired[str | None]
    cohort: str | None
    read_options: tuple[tuple[str, str], ...]
    columns: _Columns
    layout: Layout | None


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the patients come from, and what their columns mean."""

    file: str  # a path, EMBEDDED, or the database of ``sql``
    sheet: str | None = None  # of a workbook
    sql: str | None = None  # the SELECT that a database answers
    cohort: str | None = None  # a known dataset; `file` is then its folder
    read_options: tuple[tuple[str, str], ...] = ()  # of its reader
    columns: Columns = field(default_factory=Columns)  # a schema is given by its path, so that a plan can hold it
    layout: Layout | None = None  # of a table of measurements over time

    @classmethod
    def from_plan(cls, plan: Mapping[str, Any]) -> "Source":
        """The source that a plan holds as JSON, also an old one, in which columns and layout are not grouped."""
        found = typed(plan if "columns" in plan else _nested(plan), _Plan)
        return cls(**{**found, "columns": Columns(**found["columns"])})

    @property
    def files(self) -> tuple[Path, ...]:
        """The files or folders that must be there to read it."""
        outcomes = None if self.layout is None else self.layout.outcomes
        place = None if self.file in (EMBEDDED, self.cohort) else self._place
        named = (place.file if isinstance(place, Query) else place, outcomes)
        return tuple(Path(name) for name in named if name is not None)

    def read(self) -> Cohort:
        """The cohort."""
        if self.cohort is not None:
            licence = self._licence(READERS[self.cohort].licence)
            return Cohort.from_records(self._records(self.cohort), self.columns, licence=licence)
        if self.layout is not None:
            patients, outcomes = self._tables(self.layout)
            cohort = Cohort.from_events(patients.frame, self.layout, outcomes, self.columns)
            return replace(cohort, found=patients.found)
        if self.file == EMBEDDED:
            patients = Stays(support2_frame())
            columns = replace(self.columns, target=TARGET, licence=self._licence(EMBEDDED_LICENCE))
        else:
            patients, columns = self.patients(), self.columns
        return Cohort.from_stays(patients, columns)

    def read_new(self, encoder: Encoder | SeriesEncoder, target: str | None = None) -> Stays:
        """New patients as the encoder of a release takes them, in the order of the source; nothing is left out.

        Series take the steps and channels of the encoder. ``target`` names the outcome where it is needed.
        """
        if self.cohort is not None:
            records = self._records(self.cohort)
            series = None if records.series is None else Series(records.series, records.channels, records.step_hours)
            return Stays(records.frame.assign(**{records.target: records.labels}), series, notes=records.notes)
        if isinstance(encoder, Encoder):
            if self.layout is not None:
                raise SettingsError("asked for series by --time, but this release holds a table; leave out --time")
            return self.patients()
        if self.layout is not None:
            return self._read_new_events(self.layout, encoder, target)
        patients = self.patients()
        if patients.series is None:
            raise SchemaError(
                "asked to read a table, but this release holds series; add --stay-id and --time COLUMN, and --variable "
                "and --value COLUMN where every line is one measurement"
            )
        return patients

    @property
    def _place(self) -> Path | Query:
        return Path(self.file) if self.sql is None else Query(self.sql, self.file)

    def patients(self) -> Stays:
        """What is in the file or in the answer of the database, before anything is made of it."""
        return read_patients(self._place, self.sheet)

    def _licence(self, known: str) -> str:
        return known if self.columns.licence is None else self.columns.licence

    def _records(self, cohort: str) -> Records:
        return read_dataset(cohort, Path(self.file), dict(self.read_options))

    def _read_new_events(self, layout: Layout, encoder: SeriesEncoder, target: str | None) -> Stays:
        hours = encoder.steps * encoder.step_hours
        asked = (("--hours", layout.hours, hours), ("--step-hours", layout.step_hours, encoder.step_hours))
        for option, here, there in asked:
            if here is not None and not math.isclose(here, there):
                raise SettingsError(f"asked for {option} {here:g}, but the release has {there:g}; leave out {option}")
        patients, outcomes = self._tables(layout)
        constant = [code.name for code in encoder.static.columns] + ([] if target is None else [target])
        return on_grid(
            patients.frame,
            replace(layout, hours=hours, step_hours=encoder.step_hours),
            outcomes,
            constant=constant,
            channels=encoder.channel_names,
        )

    def _tables(self, layout: Layout) -> tuple[Stays, pd.DataFrame | None]:
        """The table of measurements, and that of outcomes if there is one."""
        patients = self.patients()
        if patients.series is not None:
            raise SchemaError(
                f"asked for --time, but the file {self.file!r} has series on a grid already; leave out --time and what "
                "goes with it"
            )
        return patients, None if layout.outcomes is None else read_table(Path(layout.outcomes))


def _nested(plan: Mapping[str, Any]) -> dict[str, Any]:
    """An old plan as the new ones are; a known dataset then held the target of another."""
    require("file" in plan)
    names = ("target", "patient_id", "split", "positive", "schema", "drop", "subgroups", "licence")
    columns = {name: plan[name] for name in names if name in plan}
    if plan.get("cohort") is not None or plan["file"] == EMBEDDED:
        columns["target"] = None
    layout = None
    if plan.get("time") is not None:
        names = ("time", "stay_id", "variable", "value", "hours", "step_hours", "outcomes")
        layout = {name: plan.get(name) for name in names}
        layout["stay_id"] = layout["stay_id"] or plan.get("patient_id")
    return {
        "file": plan["file"],
        "cohort": plan.get("cohort"),
        "read_options": plan.get("read_options", ()),
        "columns": columns,
        "layout": layout,
    }
