"""Where patients come from, and how they are read: a table, series, a known dataset, or the embedded cohort."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from aliquot.cohort import Cohort, Layout, Schema, Stays, fingerprint, read_patients, read_table
from aliquot.cohort.embedded import TARGET, support2_frame
from aliquot.cohort.known import licence_of, read_known
from aliquot.cohort.wording import listed
from aliquot.digest import digest
from aliquot.errors import SchemaError, SettingsError

EMBEDDED = "embedded:support2"
EMBEDDED_LICENCE = "SUPPORT2, UCI Machine Learning Repository 880; CC BY 4.0"


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the patients come from, and what their columns mean."""

    file: str  # a path, or EMBEDDED
    cohort: str | None = None  # a known dataset; `file` is then its folder
    read_options: tuple[tuple[str, str], ...] = ()  # of its reader
    target: str = TARGET
    patient_id: str | None = None
    split: str | None = None
    positive: str | None = None
    schema: str | None = None  # path of a schema file
    drop: tuple[str, ...] = ()
    time: str | None = None  # column of a table of measurements; the next ones are then known too
    stay_id: str | None = None  # by default the patient
    variable: str | None = None
    value: str | None = None
    hours: float | None = None
    step_hours: float | None = None
    outcomes: str | None = None  # path of a table with one row per stay
    subgroups: tuple[str, ...] = ()  # columns by whose levels results are also told apart
    licence: str | None = None  # None: that of a known dataset

    @classmethod
    def from_plan(cls, plan: Mapping[str, Any]) -> "Source":
        """The source that a plan holds as JSON; what an older plan does not know takes its default."""
        options = tuple((name, value) for name, value in plan.get("read_options", ()))
        columns = {name: tuple(plan.get(name, ())) for name in ("drop", "subgroups")}
        return cls(**{**plan, **columns, "read_options": options})

    @property
    def files(self) -> tuple[Path, ...]:
        """The files or folders that must be there to read it."""
        named = (None if self.file in (EMBEDDED, self.cohort) else self.file, self.outcomes)
        return tuple(Path(name) for name in named if name is not None)

    def layout(self) -> Layout | None:
        """How a table of measurements is laid out; None for any other source, and an error for half a layout."""
        asked = {
            "--time": self.time,
            "--stay-id": self.stay_id,
            "--variable": self.variable,
            "--value": self.value,
            "--hours": self.hours,
            "--step-hours": self.step_hours,
            "--outcomes": self.outcomes,
        }
        given = [option for option, value in asked.items() if value is not None]
        if given and (self.cohort is not None or self.file == EMBEDDED):
            raise SettingsError(f"asked for {listed(given)} with a known dataset; name a FILE, or leave that out")
        if self.time is None:
            if given:
                raise SettingsError(f"asked for {listed(given)} without --time; add --time COLUMN, or leave that out")
            return None
        stay = self.stay_id or self.patient_id
        if stay is None:
            raise SettingsError(
                "asked for --time, but not told whose times; add --stay-id COLUMN or --patient-id COLUMN"
            )
        for one, other in (("--variable", "--value"), ("--value", "--variable")):
            if other not in given and one in given:
                raise SettingsError(
                    f"asked for {one} without {other}; add {other} COLUMN, or leave out {one} where each variable has "
                    "a column"
                )
        step = 1.0 if self.step_hours is None else self.step_hours
        return Layout(stay, self.time, self.variable, self.value, self.hours, step)

    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """The table of measurements, and that of outcomes if there is one."""
        patients = read_patients(Path(self.file))
        if patients.series is not None:
            raise SchemaError(
                f"asked for --time, but the file {self.file!r} has series on a grid already; leave out --time and what "
                "goes with it"
            )
        return patients.frame, None if self.outcomes is None else read_table(Path(self.outcomes))

    def read(self) -> tuple[Cohort, str]:
        """The cohort, and a fingerprint of the data that it was read from."""
        cohort, data = self._read()
        return replace(cohort, licence=self._licence()), data

    def _licence(self) -> str:
        if self.licence is not None:
            return self.licence
        if self.cohort is not None:
            return licence_of(self.cohort)
        return EMBEDDED_LICENCE if self.file == EMBEDDED else ""

    def _read(self) -> tuple[Cohort, str]:
        layout = self.layout()
        if self.cohort is not None:
            records = read_known(self.cohort, Path(self.file), dict(self.read_options))
            series = () if records.series is None else (records.series, records.channels)
            data = digest(fingerprint(records.frame), records.labels, records.ids.astype(str), *series)
            return Cohort.from_records(records, drop=self.drop, subgroups=self.subgroups), data
        if layout is not None:
            return self._read_events(layout)
        patients = Stays(support2_frame()) if self.file == EMBEDDED else read_patients(Path(self.file))
        data = fingerprint(patients.frame)
        if patients.series is not None:
            data = digest(data, patients.series.values, patients.series.channels)
        return Cohort.from_stays(patients, **self._roles()), data

    def _read_events(self, layout: Layout) -> tuple[Cohort, str]:
        frame, outcomes = self.tables()
        data = digest(fingerprint(frame), None if outcomes is None else fingerprint(outcomes))
        return Cohort.from_events(frame, layout=layout, outcomes=outcomes, **self._roles()), data

    def _roles(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "patient_id": self.patient_id,
            "split": self.split,
            "positive": self.positive,
            "schema": None if self.schema is None else Schema.from_toml(Path(self.schema)),
            "drop": self.drop,
            "subgroups": self.subgroups,
        }
