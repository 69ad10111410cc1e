"""``aliquot condense`` and ``aliquot demo``: from patients to a release."""

from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.options import Budget, MethodName, Out, Preset, Quiet, RowsPerClass, Seed, Set, Start
from aliquot.cli.progress import progress_of
from aliquot.cli.tables import console, results_table


def condense(
    file: Annotated[Path, typer.Argument(help="Table of patients: .csv, .tsv, .parquet, .feather or .npz.")],
    target: Annotated[str, typer.Option(help="Column with the outcome: two or more classes.")],
    out: Out,
    rows_per_class: RowsPerClass = 50,
    method: MethodName = "btm",
    preset: Preset = "default",
    budget: Budget = "cpu",
    start: Start = None,
    patient_id: Annotated[
        str | None,
        typer.Option(help="Column that names the patient, when one has several rows.", metavar="COLUMN"),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Your own split: a column of train, tuning and held_out.", metavar="COLUMN"),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(help="The class that is the event, where that is not clear.", metavar="CLASS"),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(help="Corrected kinds of columns; `aliquot schema` writes a first one.", metavar="TOML"),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out. May be repeated.", metavar="COLUMN")
    ] = None,
    seed: Seed = 0,
    settings: Annotated[Path | None, typer.Option(help="File with settings to change.", metavar="TOML")] = None,
    set_: Set = None,
    allow_real_rows: Annotated[
        bool, typer.Option(help="Let a method that returns real patients write a release.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Learn a few synthetic rows per outcome class on which models train as well as on all patients.

    The table is split by patient into 70 % train, 15 % tuning and 15 % held_out. Rows are learned from train, the
    best are chosen on tuning, and the numbers printed at the end come from held_out, which is opened once.

    OUT/release/ holds what may leave the building; OUT/private/ holds what was learned from patients and must not.
    A run that was stopped continues with the same command, or with `aliquot resume OUT`.
    """
    from aliquot.runs.folder import Source

    source = Source(
        file=str(file.resolve()),
        target=target,
        patient_id=patient_id,
        split=split,
        positive=positive,
        schema=None if schema is None else str(schema.resolve()),
        drop=tuple(drop or ()),
    )
    _condense(
        source,
        out,
        method,
        rows_per_class,
        seed,
        preset,
        budget,
        start,
        settings,
        set_,
        allow_real_rows,
        quiet,
    )


def demo(
    out: Out = Path("runs/demo"),
    rows_per_class: RowsPerClass = 50,
    budget: Budget = "cpu",
    start: Start = None,
    seed: Seed = 0,
    set_: Set = None,
    quiet: Quiet = False,
) -> None:
    """Condense the embedded cohort: SUPPORT2, 9,105 seriously ill adults, death within 30 days.

    Does everything that `aliquot condense` does, with data that comes with Aliquot.
    """
    from aliquot.runs.folder import EMBEDDED, Source

    _condense(
        Source(file=EMBEDDED),
        out,
        "btm",
        rows_per_class,
        seed,
        "default",
        budget,
        start,
        None,
        set_,
        False,
        quiet,
    )


def _condense(
    source,
    out,
    method,
    rows_per_class,
    seed,
    preset,
    budget,
    start,
    settings_file,
    set_,
    allow_real_rows,
    quiet,
) -> None:
    from aliquot.errors import SettingsError
    from aliquot.methods import method_named
    from aliquot.runs.folder import condense_into
    from aliquot.runs.pipeline import Request
    from aliquot.runs.settings import load_settings

    changes = {} if start is None else {"start": start}
    settings = load_settings(
        preset,
        budget,
        method=method,
        rows_per_class=rows_per_class,
        file=settings_file,
        overrides=tuple(set_ or ()),
        changes=changes,
    )
    if method_named(method).selects_rows and not allow_real_rows:
        raise SettingsError(
            f"asked for method {method!r}, whose rows are real patients; add --allow-real-rows if that is meant"
        )
    request = Request(
        settings=settings,
        method=method,
        rows_per_class=rows_per_class,
        seed=seed,
        preset=preset,
        budget=budget,
    )
    with progress_of(out, quiet=quiet) as progress:
        release = condense_into(out, source, request, progress)
    show(release)


def show(release: Path) -> None:
    """Print the results of a release and where it is."""
    from aliquot.release.bundle import read_release

    metrics = read_release(release).metrics
    out = console()
    for note in metrics["notes"]:
        out.print(f"Note: {note}.")
    if metrics["real_rows"]:
        out.print("Note: these rows started from, or are, real patients; the card says so.")
    out.print(results_table(metrics, sources=("random", "aliquot", "full_best_epoch")))
    out.print(f"release: {release}   (open {release / 'report.html'})")
