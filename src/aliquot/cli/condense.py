"""``aliquot condense`` and ``aliquot demo``: from patients to a release."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aliquot.cli.machine import print_json
from aliquot.cli.options import (
    Budget,
    CohortName,
    CohortPath,
    Drop,
    Json,
    Licence,
    MethodName,
    NetworkChoice,
    Out,
    PatientId,
    Positive,
    Preset,
    Quiet,
    Read,
    RowsPerClass,
    SchemaFile,
    Seed,
    Set,
    SettingsFile,
    Split,
    Start,
    Subgroup,
    TableFile,
    Target,
    Verbose,
)
from aliquot.cli.progress import progress_of
from aliquot.cli.series import Hours, Outcomes, StayId, StepHours, Time, Value, Variable, series_options
from aliquot.cli.sources import chosen_source, column_options
from aliquot.cli.tables import console, results_table

if TYPE_CHECKING:
    from aliquot.runs.source import Source

DEMO_SUBGROUPS = ("sex", "race")


def condense(
    out: Out,
    file: TableFile = None,
    target: Target = None,
    cohort: CohortName = None,
    path: CohortPath = None,
    read: Read = None,
    rows_per_class: RowsPerClass = 50,
    method: MethodName = "btm",
    preset: Preset = "default",
    budget: Budget = "cpu",
    start: Start = None,
    network: NetworkChoice = None,
    patient_id: PatientId = None,
    split: Split = None,
    positive: Positive = None,
    schema: SchemaFile = None,
    drop: Drop = None,
    subgroup: Subgroup = None,
    licence: Licence = None,
    time: Time = None,
    stay_id: StayId = None,
    variable: Variable = None,
    value: Value = None,
    hours: Hours = None,
    step_hours: StepHours = None,
    outcomes: Outcomes = None,
    seed: Seed = 0,
    settings: SettingsFile = None,
    set_: Set = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Private folder in which runs on the same patients share experts: the next method trains none.",
            metavar="DIR",
        ),
    ] = None,
    allow_real_rows: Annotated[
        bool, typer.Option(help="Let a method that returns real patients write a release.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Learn a few synthetic rows per outcome class on which models train as well as on all patients.

    FILE has one row per patient. With --time it has measurements over time instead: one a line with --variable and
    --value, or one column a variable; then the rows are series on a grid of equal steps. An .npz file whose X has three
    dimensions holds such series already.

    The table is split by patient into 70 % train, 15 % tuning and 15 % held_out. Rows are learned from train, the
    best are chosen on tuning, and the numbers printed at the end come from held_out, which is opened once.

    OUT/release/ holds what may leave the building; OUT/private/ holds what was learned from patients and must not.
    A run that was stopped continues with the same command, or with `aliquot resume OUT`.
    """
    from aliquot.errors import SettingsError
    from aliquot.methods import method_named

    if method_named(method).selects_rows and not allow_real_rows:
        raise SettingsError(
            f"asked for method {method!r}, whose rows are real patients; add --allow-real-rows if that is meant"
        )
    layout = series_options(time, stay_id, variable, value, hours, step_hours, outcomes)
    columns = column_options(target, patient_id, split, positive, schema, drop)
    source = chosen_source(file, cohort, path, read, columns, layout)
    source = replace(source, subgroups=tuple(subgroup or ()), licence=licence)
    asked = {"method": method, "rows_per_class": rows_per_class, "seed": seed, "preset": preset, "budget": budget}
    _run(source, out, asked, _changes(settings, set_, start, network), store, quiet, verbose, json)


def demo(
    out: Out = Path("runs/demo"),
    rows_per_class: RowsPerClass = 50,
    budget: Budget = "cpu",
    start: Start = None,
    seed: Seed = 0,
    set_: Set = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Condense the embedded cohort: SUPPORT2, 9,105 seriously ill adults, death within 30 days.

    Does everything that `aliquot condense` does, with data that comes with Aliquot.
    """
    from aliquot.runs.source import EMBEDDED, Source

    asked = {"rows_per_class": rows_per_class, "seed": seed, "budget": budget}
    _run(
        Source(file=EMBEDDED, subgroups=DEMO_SUBGROUPS),
        out,
        asked,
        _changes(None, set_, start, None),
        None,
        quiet,
        verbose,
        json,
    )


def _changes(settings: Path | None, set_: list[str] | None, start: str | None, network: str | None) -> dict[str, Any]:
    """What the options change in the settings."""
    from aliquot.runs.settings import with_choices

    return {
        "file": settings,
        "overrides": tuple(set_ or ()),
        "changes": with_choices(start=start, network=network),
    }


def _run(
    source: "Source",
    out: Path,
    asked: dict[str, Any],
    changes: dict[str, Any],
    store: Path | None,
    quiet: bool,
    verbose: bool,
    json: bool,
) -> None:
    """Read the patients, choose the settings for what they are, and condense."""
    from aliquot.runs.folder import condense_into
    from aliquot.runs.pipeline import Request
    from aliquot.runs.settings import load_settings

    chosen = {name: value for name, value in asked.items() if name != "seed"}
    load_settings(**chosen, **changes)  # a mistake shows before anything is read
    with progress_of(continuing(out), quiet=quiet, verbose=verbose) as progress:
        patients = source.read()
        settings = load_settings(**chosen, **changes, series=patients[0].series is not None)
        request = Request(settings=settings, **asked)
        release = condense_into(out, source, request, progress, shared=store, patients=patients)
    show(release, json=json)


def continuing(folder: Path) -> Callable[[], str]:
    """Finds the command that continues a run; one that has not got as far as to make its folder begins anew."""

    def command() -> str:
        begun = (folder / "private" / "plan.json").is_file()
        return f"aliquot resume {shlex.quote(str(folder))}" if begun else "the same command"

    return command


def show(release: Path, *, json: bool = False) -> None:
    """Print the results of a release and where it is, for people or as JSON."""
    from aliquot.release.bundle import read_release

    metrics = read_release(release).metrics
    if json:
        print_json({"release": release, "metrics": metrics})
        return
    out = console()
    for note in metrics["notes"]:
        out.print(f"Note: {note}.")
    if metrics["real_rows"]:
        out.print("Note: these rows started from, or are, real patients; the card says so.")
    out.print(results_table(metrics, sources=("random", "aliquot", "full_best_epoch")))
    out.print(f"release: {release}   (open {release / 'report.html'})")
