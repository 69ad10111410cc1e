"""``aliquot compare``: methods side by side under one protocol."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.machine import print_json
from aliquot.cli.options import Budget, Execution, Output, Preset, Set, SettingsFile, changes_of
from aliquot.cli.sources import ColumnOptions, LayoutOptions, Place, chosen_source
from aliquot.cli.tables import comparison_tables, console
from aliquot.errors import SettingsError


@dataclass(frozen=True, kw_only=True)
class PlaceOrEmbedded(Place):
    """The table of patients and its outcome, a known dataset, or the embedded cohort."""

    file: Annotated[
        Path | None, typer.Argument(help="Table of patients; without one the embedded cohort SUPPORT2.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What is compared, and how."""

    methods: Annotated[
        str,
        typer.Option(
            help="Methods, separated by commas; all by default. NAME+PATH puts a trajectory method on another path "
            "(mtt+bezier), NAME:PRESET takes another preset for one (btm:paper).",
            metavar="NAMES",
        ),
    ] = ""
    rows_per_class: Annotated[
        str, typer.Option(help="Sizes, separated by commas: rows for each outcome class.", metavar="SIZES")
    ] = "10,50"
    seeds: Annotated[int, typer.Option(help="How many seeds; each decides split, experts and all else.", min=1)] = 3
    preset: Preset = "default"
    budget: Budget = "cpu"
    evaluations: Annotated[
        int,
        typer.Option(
            "--evaluations",
            "--looks",
            help="How often each method is judged on the tuning part: the same for all.",
            min=1,
        ),
    ] = 40


@dataclass(frozen=True, kw_only=True)
class GridOptions:
    """Changed settings, and where cells are run."""

    settings: SettingsFile = None
    set_: Set = None
    execution: Execution


def compare(
    out: Annotated[Path, typer.Option("--out", help="Folder for the comparison; finished cells in it are kept.")],
    place: PlaceOrEmbedded,
    asked: Cells,
    columns: ColumnOptions,
    layout: LayoutOptions,
    run: GridOptions,
    output: Output,
) -> None:
    """Condense with several methods, at several sizes and seeds, and print one table.

    All methods get the same split, network, protocol and number of evaluations on the tuning part; experts are trained
    once and shared. AUROC and AUPRC are those of held_out. No release is written, so that methods which return real
    patients can be compared too.

    Each finished cell of the table is kept: a comparison that was stopped continues with the same command, and one with
    more methods, sizes or seeds only runs what is new. OUT/comparison.html, .md and .csv hold the table, OUT/cells.csv
    every cell; OUT/private/ holds what was learned from patients and must not leave. `aliquot grid status OUT` tells
    how far a comparison is.
    """
    from aliquot.grid.cell import Conditions, Variant, compared_cells
    from aliquot.grid.compare import compare_into
    from aliquot.registry import METHODS
    from aliquot.run.source import EMBEDDED

    source = chosen_source(place, columns, layout, otherwise=EMBEDDED)
    variants = [Variant.parse(name) for name in _listed(asked.methods) or METHODS]
    sizes, seeds = _numbers(asked.rows_per_class), range(asked.seeds)
    conditions = Conditions(
        preset=asked.preset, budget=asked.budget, evaluations=asked.evaluations, changes=changes_of(run)
    )
    compared_cells(variants, sizes, seeds, conditions)  # a mistake shows before anything is read
    executor = run.execution.chosen()
    with output.progress() as progress:
        cohort = source.read()
        cells = compared_cells(variants, sizes, seeds, replace(conditions, series=cohort.series is not None))
        table = compare_into(out, source, cells, progress, cohort=cohort, executor=executor)
    if output.json:
        print_json({"comparison": out, "table": table.to_dict("records")})
        return
    shown = console(width=130)
    for one in comparison_tables(table):
        shown.print(one)
    shown.print(f"comparison: {out / 'comparison.html'}   (cells: {out / 'cells.csv'})")


def _listed(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _numbers(text: str) -> list[int]:
    parts = _listed(text)
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise SettingsError(f"asked for rows per class {text!r}; write numbers such as 10,50")
    return [int(part) for part in parts]
