"""Where the patients are and what their columns mean, as the options of a command say."""

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aliquot.cli.names import completing
from aliquot.errors import SettingsError
from aliquot.registry import READERS

if TYPE_CHECKING:
    from aliquot.cohort import Columns, Layout
    from aliquot.run.source import Source

PANEL = "Series over time"


@dataclass(frozen=True, kw_only=True)
class KnownDataset:
    """A known dataset instead of a table."""

    cohort: Annotated[
        str | None,
        typer.Option(
            help="A known dataset instead of a table; `aliquot cohorts` lists them.",
            metavar="NAME",
            autocompletion=completing(READERS),
        ),
    ] = None
    path: Annotated[Path | None, typer.Option(help="The folder of the known dataset.", metavar="DIR")] = None
    read: Annotated[
        list[str] | None, typer.Option(help="Option of the dataset's reader. May be repeated.", metavar="NAME=VALUE")
    ] = None


Sheet = Annotated[
    str | None,
    typer.Option(help="Sheet of a workbook, or data frame of an R file, where several hold a table.", metavar="NAME"),
]


@dataclass(frozen=True, kw_only=True)
class Within:
    """Which table of a file, or which answer of a database."""

    sheet: Sheet = None
    sql: Annotated[
        str | None, typer.Option(help="Instead of a file: one SELECT, which --database answers.", metavar="SELECT")
    ] = None
    database: Annotated[
        str | None,
        typer.Option(
            help="DuckDB file, or address as SQLAlchemy writes it; user and password are taken from the environment "
            "(ALIQUOT_DATABASE_USER, ALIQUOT_DATABASE_PASSWORD) and must not be in it.",
            metavar="URL",
        ),
    ] = None

    def source(self, file: Path | None) -> "Source | None":
        """The source of the patients, whose columns are not known yet; None where no table is named."""
        from aliquot.cohort import Query
        from aliquot.run.source import Source

        if (self.sql is None) != (self.database is None):
            raise SettingsError("asked for one of --sql and --database; pass both, or a FILE")
        if self.sql is not None and self.database is not None:
            if file is not None or self.sheet is not None:
                raise SettingsError("asked for --sql, and for a FILE or --sheet; leave out one of them")
            return Source(file=Query(self.sql, self.database).database, sql=self.sql)
        return None if file is None else Source(file=str(file.resolve()), sheet=self.sheet)


@dataclass(frozen=True, kw_only=True)
class Place:
    """The table of patients and its outcome, or a known dataset."""

    file: Annotated[
        Path | None,
        typer.Argument(
            help="Table of patients: text, workbook, Parquet, Feather, Stata, SAS, SPSS, R or .npz.", show_default=False
        ),
    ] = None
    within: Within = field(default_factory=Within)
    target: Annotated[str | None, typer.Option(help="Column with the outcome: two or more classes.")] = None
    known: KnownDataset = field(default_factory=KnownDataset)


PatientId = Annotated[
    str | None, typer.Option(help="Column that names the patient, when one has several rows.", metavar="COLUMN")
]


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """How a table of measurements over time is laid out."""

    time: Annotated[
        str | None,
        typer.Option(
            help="For measurements over time: column with hours since the beginning, or with timestamps.",
            metavar="COLUMN",
            rich_help_panel=PANEL,
        ),
    ] = None
    stay_id: Annotated[
        str | None,
        typer.Option(
            help="Column that names the stay; by default that of --patient-id.", metavar="COLUMN", rich_help_panel=PANEL
        ),
    ] = None
    variable: Annotated[
        str | None,
        typer.Option(
            help="Where every line is one measurement: column that names what was measured.",
            metavar="COLUMN",
            rich_help_panel=PANEL,
        ),
    ] = None
    value: Annotated[
        str | None, typer.Option(help="… and column with its value.", metavar="COLUMN", rich_help_panel=PANEL)
    ] = None
    hours: Annotated[
        float | None,
        typer.Option(
            help="How much of each stay to take, from its beginning; by default all.",
            metavar="N",
            rich_help_panel=PANEL,
        ),
    ] = None
    step_hours: Annotated[
        float | None, typer.Option(help="Length of a step; by default an hour.", metavar="N", rich_help_panel=PANEL)
    ] = None
    outcomes: Annotated[
        Path | None,
        typer.Option(
            help="Table with one row per stay: the stay, the outcome and what does not change. By default these are "
            "columns of the table of measurements.",
            metavar="FILE",
            rich_help_panel=PANEL,
        ),
    ] = None

    def layout(self, patient_id: str | None) -> "Layout | None":
        """The layout; None where no series are asked for, and an error for half a layout."""
        from aliquot.cohort import Layout
        from aliquot.cohort.wording import listed

        given = options_given(self)
        if self.time is None:
            if given:
                raise SettingsError(f"asked for {listed(given)} without --time; add --time COLUMN, or leave that out")
            return None
        stay_id = self.stay_id or patient_id
        if stay_id is None:
            raise SettingsError(
                "asked for --time, but not told whose times; add --stay-id COLUMN or --patient-id COLUMN"
            )
        for one, other in (("--variable", "--value"), ("--value", "--variable")):
            if other not in given and one in given:
                raise SettingsError(
                    f"asked for {one} without {other}; add {other} COLUMN, or leave out {one} where each variable has "
                    "a column"
                )
        outcomes = None if self.outcomes is None else str(self.outcomes.resolve())
        return Layout(stay_id, self.time, self.variable, self.value, self.hours, self.step_hours, outcomes)


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """What the columns of a table mean, its outcome apart."""

    patient_id: PatientId = None
    split: Annotated[
        str | None,
        typer.Option(help="Your own split: a column of train, tuning and held_out.", metavar="COLUMN"),
    ] = None
    positive: Annotated[
        str | None, typer.Option(help="The class that is the event, where that is not clear.", metavar="CLASS")
    ] = None
    schema: Annotated[
        Path | None,
        typer.Option(
            help="Kinds of columns, corrected; `aliquot check --schema-out` writes a first one.", metavar="TOML"
        ),
    ] = None
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out. May be repeated.", metavar="COLUMN")] = (
        None
    )

    def columns(self, target: str | None) -> "Columns":
        """What a source must know of its columns."""
        from aliquot.cohort import Columns

        return Columns(
            target=target,
            patient_id=self.patient_id,
            split=self.split,
            positive=self.positive,
            schema=None if self.schema is None else str(self.schema.resolve()),
            drop=self.drop or (),
        )


@dataclass(frozen=True, kw_only=True)
class ReleaseColumnOptions(ColumnOptions):
    """The same, and what a release says of its source."""

    subgroup: Annotated[
        list[str] | None,
        typer.Option(
            help="Column, a feature or not, by whose levels results are also compared; bands of age are compared "
            "anyway. May be repeated.",
            metavar="COLUMN",
        ),
    ] = None
    licence: Annotated[
        str | None,
        typer.Option(
            help="Source of the patients and its licence or data use agreement, for card and metadata; of a known "
            "dataset it is known.",
            metavar="TEXT",
        ),
    ] = None

    def columns(self, target: str | None) -> "Columns":
        """What a source must know of its columns."""
        return replace(super().columns(target), subgroups=self.subgroup or (), licence=self.licence)


@dataclass(frozen=True, kw_only=True)
class NewPatients:
    """What must be known of patients that the rows were not learned from."""

    patient_id: PatientId = None
    sheet: Sheet = None
    layout: LayoutOptions = field(default_factory=LayoutOptions)

    def source(self, file: Path) -> "Source":
        """A table of them, or a table of measurements."""
        from aliquot.cohort import Columns
        from aliquot.run.source import Source

        columns = Columns(patient_id=self.patient_id)
        return Source(file=str(file), sheet=self.sheet, columns=columns, layout=self.layout.layout(self.patient_id))


def chosen_source(
    place: Place, columns: ColumnOptions, layout: LayoutOptions, *, otherwise: str | None = None
) -> "Source":
    """A table, or a known dataset; where neither is named, the embedded one of ``otherwise``."""
    from aliquot.run.source import Source

    table, known = place.within.source(place.file), place.known
    if known.cohort is not None:
        if table is not None:
            raise SettingsError(f"asked for both a FILE and the cohort {known.cohort!r}; leave out one of them")
        return known_source(known, place.target, columns, layout)
    if known.path is not None or known.read:
        raise SettingsError("asked for --path or --read without --cohort; add --cohort NAME, or leave that out")
    if table is None and otherwise is not None:
        check_own(place.target, columns, layout)
        return Source(file=otherwise, columns=columns.columns(None))
    if table is None:
        raise SettingsError("asked for no table; name a FILE, or a known dataset with --cohort NAME --path DIR")
    if place.target is None:
        raise SettingsError("asked to read a table, but not told its outcome; add --target COLUMN")
    return replace(table, columns=columns.columns(place.target), layout=layout.layout(columns.patient_id))


def known_source(known: KnownDataset, target: str | None, columns: ColumnOptions, layout: LayoutOptions) -> "Source":
    """A known dataset in a folder, with the options of its reader."""
    from aliquot.run.source import Source

    name, dataset = str(known.cohort), READERS[str(known.cohort)]
    if known.path is None and dataset.files:
        raise SettingsError(f"asked for the cohort {name!r}, but not told where it is; add --path DIR")
    pairs = [option.partition("=") for option in known.read or ()]
    if not all(option and equals for option, equals, _ in pairs):
        raise SettingsError("options of a reader are written --read NAME=VALUE")
    options = [(option.strip(), value.strip()) for option, _, value in pairs]
    check_own(target, columns, layout)
    return Source(
        file=name if known.path is None else str(known.path.resolve()),
        cohort=name,
        read_options=tuple((option, dataset.absolute(option, value)) for option, value in options),
        columns=columns.columns(None),
    )


def check_own(target: str | None, columns: ColumnOptions, layout: LayoutOptions) -> None:
    """Raise an error where options say what a known dataset brings itself: its columns and its layout."""
    from aliquot.cohort.wording import listed

    given = [] if target is None else ["--target"]
    given += [option for option in options_given(columns) if option not in ("--drop", "--subgroup", "--licence")]
    if given:
        raise SettingsError(f"asked for {listed(given)} with a known dataset, which brings its own; leave that out")
    given = options_given(layout)
    if given:
        raise SettingsError(f"asked for {listed(given)} with a known dataset; name a FILE, or leave that out")


def options_given(group: Any) -> list[str]:
    """The options of a group that were given.

    >>> options_given(LayoutOptions(time="hour", step_hours=2))
    ['--time', '--step-hours']
    """
    return [f"--{one.name.replace('_', '-')}" for one in fields(group) if getattr(group, one.name) is not None]
