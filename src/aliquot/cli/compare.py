"""``aliquot compare``: methods side by side under one protocol."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.machine import print_json
from aliquot.cli.options import (
    Address,
    Budget,
    CohortName,
    CohortPath,
    Drop,
    ExecutorName,
    Json,
    PatientId,
    Positive,
    Preset,
    Quiet,
    Read,
    SchemaFile,
    Set,
    SettingsFile,
    SharedStore,
    Split,
    Target,
    Verbose,
    Workers,
)
from aliquot.cli.progress import progress_of
from aliquot.cli.series import Hours, Outcomes, StayId, StepHours, Time, Value, Variable, series_options
from aliquot.cli.sources import chosen_source, column_options
from aliquot.cli.tables import comparison_tables, console


def compare(
    out: Annotated[Path, typer.Option("--out", help="Folder for the comparison; finished cells in it are kept.")],
    file: Annotated[
        Path | None, typer.Argument(help="Table of patients; without one the embedded cohort SUPPORT2.")
    ] = None,
    target: Target = None,
    cohort: CohortName = None,
    path: CohortPath = None,
    read: Read = None,
    methods: Annotated[
        str,
        typer.Option(
            help="Methods, separated by commas; all by default. NAME+PATH puts a trajectory method on another path "
            "(mtt+bezier), NAME:PRESET takes another preset for one (btm:paper).",
            metavar="NAMES",
        ),
    ] = "",
    rows_per_class: Annotated[
        str, typer.Option(help="Sizes, separated by commas: rows for each outcome class.", metavar="SIZES")
    ] = "10,50",
    seeds: Annotated[int, typer.Option(help="How many seeds; each decides split, experts and all else.", min=1)] = 3,
    preset: Preset = "default",
    budget: Budget = "cpu",
    looks: Annotated[
        int, typer.Option(help="How often each method is judged on the tuning part: the same for all.", min=1)
    ] = 40,
    patient_id: PatientId = None,
    split: Split = None,
    positive: Positive = None,
    schema: SchemaFile = None,
    drop: Drop = None,
    time: Time = None,
    stay_id: StayId = None,
    variable: Variable = None,
    value: Value = None,
    hours: Hours = None,
    step_hours: StepHours = None,
    outcomes: Outcomes = None,
    settings: SettingsFile = None,
    set_: Set = None,
    executor: ExecutorName = "local",
    workers: Workers = None,
    address: Address = None,
    store: SharedStore = "folder",
    quiet: Quiet = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Condense with several methods, at several sizes and seeds, and print one table.

    All methods get the same split, network, evaluation and number of looks at the tuning part; experts are trained once
    and shared. AUROC and AUPRC are those of held_out. No release is written, so that methods which return real patients
    can be compared too.

    Each finished cell of the table is kept: a comparison that was stopped continues with the same command, and one with
    more methods, sizes or seeds only runs what is new. OUT/comparison.html, .md and .csv hold the table, OUT/cells.csv
    every cell; OUT/private/ holds what was learned from patients and must not leave. `aliquot grid status OUT` tells
    how far a comparison is.
    """
    from aliquot.methods import METHODS
    from aliquot.runs.cells import Variant, cells_of
    from aliquot.runs.compare import compare_into
    from aliquot.runs.executors import executor_named
    from aliquot.runs.source import EMBEDDED

    layout = series_options(time, stay_id, variable, value, hours, step_hours, outcomes)
    columns = column_options(target, patient_id, split, positive, schema, drop)
    source = chosen_source(file, cohort, path, read, columns, layout, otherwise=EMBEDDED)
    asked = partial(
        cells_of,
        [Variant.parse(name) for name in _listed(methods) or METHODS],
        _numbers(rows_per_class),
        range(seeds),
        preset=preset,
        budget=budget,
        looks=looks,
        file=settings,
        overrides=tuple(set_ or ()),
    )
    asked()  # a mistake shows before anything is read
    where = executor_named(executor, workers=workers, address=address, store=store)
    with progress_of("the same command", quiet=quiet, verbose=verbose) as progress:
        patients = source.read()
        cells = asked(series=patients[0].series is not None)
        table = compare_into(out, source, cells, progress, patients=patients, executor=where)
    if json:
        print_json({"comparison": out, "table": table.to_dict("records")})
        return
    shown = console(width=130)
    for one in comparison_tables(table):
        shown.print(one)
    shown.print(f"comparison: {out / 'comparison.html'}   (cells: {out / 'cells.csv'})")


def _listed(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _numbers(text: str) -> list[int]:
    from aliquot.errors import SettingsError

    parts = _listed(text)
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise SettingsError(f"asked for rows per class {text!r}; write numbers such as 10,50")
    return [int(part) for part in parts]
