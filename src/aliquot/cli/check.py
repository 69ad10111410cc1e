"""``aliquot check``: what a file turns out to be, before anything is done with it."""

from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from aliquot.cli.machine import print_json
from aliquot.cli.options import Json
from aliquot.cli.progress import WIDTH
from aliquot.cli.sources import ColumnOptions, Within
from aliquot.cli.tables import console
from aliquot.errors import AliquotError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aliquot.cohort import Cohort, Columns, Intake, Stays


def check(
    file: Annotated[
        Path | None, typer.Argument(help="Table of patients, in any format that is read.", show_default=False)
    ] = None,
    *,
    within: Within,
    target: Annotated[
        str | None,
        typer.Option(help="Column with the outcome; then also whether the table can be condensed.", metavar="COLUMN"),
    ] = None,
    columns: ColumnOptions,
    schema_out: Annotated[
        Path | None,
        typer.Option(
            help="Write the kinds of all columns here, to correct by hand and pass as --schema.", metavar="TOML"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Say what a table was read as, and of each column what it holds and whether it becomes a feature.

    Ranges and levels are shown as far as ten patients stand behind them (ten rows, where no --patient-id is named). No
    cell of one patient is printed or written.
    """
    from aliquot.cohort import take_in
    from aliquot.drafts import write_atomically

    source = within.source(file)
    if source is None:
        raise SettingsError("asked to check no table; name a FILE, or pass --sql and --database")
    named = columns.columns(target)
    patients = source.patients()
    intake = take_in(patients, named)
    refused = None if target is None else _refusal(patients, named)
    if schema_out is not None:
        write_atomically(schema_out, intake.schema.encode())
    if json:
        print_json({**_document(intake), "refused": refused, "schema": schema_out})
        return
    _show(intake, refused)
    if schema_out is not None:
        console().print(f"schema: {schema_out}   (correct it, then: aliquot condense --schema {schema_out})")


def _refusal(patients: "Stays", columns: "Columns") -> str | None:
    """Why the table cannot be condensed as it is, in the words of `aliquot condense`."""
    from aliquot.cohort import Cohort

    try:
        Cohort.from_stays(patients, columns)
    except AliquotError as error:
        return str(error)
    return None


def _document(intake: "Intake") -> dict[str, object]:
    from aliquot.disclosure import shown

    found = None if intake.found is None else {**asdict(intake.found), "rows": shown(intake.found.rows)}
    return {"found": found, "columns": [asdict(column) for column in intake.columns], "channels": intake.channels}


def _show(intake: "Intake", refused: str | None) -> None:
    from aliquot.cohort.wording import counted, listed

    out = console()
    if intake.found is not None:
        out.print(fill(f"read as {intake.found.sentence}", WIDTH))
    table = Table(width=WIDTH, box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for name, width in (("column", 17), ("kind", 11), ("missing", 8), ("range or levels", 17), ("verdict", 18)):
        table.add_column(name, width=width, overflow="fold")
    for column in intake.columns:
        verdict = f"{column.verdict}: {column.why}" if column.why else column.verdict
        table.add_row(column.name, column.kind, column.gaps, column.content, verdict)
    out.print(table)
    left_out, undecided = intake.count("left out"), intake.count("decide")
    out.print(f"{counted(intake.count('feature'), 'feature')}, {left_out} left out, {undecided} to decide")
    if intake.channels:
        out.print(fill(f"{counted(len(intake.channels), 'channel')} over time: {listed(intake.channels)}", WIDTH))
    if refused is not None:
        out.print(fill(f"aliquot condense would stop: {refused}", WIDTH))


def first_lines(cohort: "Cohort") -> "Iterator[str]":
    """What `aliquot condense` says before it begins: the format, and which columns are no features or need a look."""
    from aliquot.cohort import to_decide
    from aliquot.cohort.wording import counted

    if cohort.found is not None:
        yield f"read as {cohort.found.sentence}"
    features = len(cohort.schema) + (0 if cohort.series is None else len(cohort.series.channels))
    yield f"{counted(features, 'feature')}{'' if cohort.notes else ', no column left out'}"
    yield from cohort.notes
    yield from (f"look at {one.name!r}: {one.why}" for one in to_decide(cohort))
