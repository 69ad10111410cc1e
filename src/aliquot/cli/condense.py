"""``aliquot condense`` and ``aliquot demo``: from patients to a release."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aliquot.cli.check import first_lines
from aliquot.cli.machine import print_json
from aliquot.cli.options import Budget, Out, Output, Recipe, RowsPerClass, Seed, Set, SettingsFile, Start, changes_of
from aliquot.cli.sources import LayoutOptions, Place, ReleaseColumnOptions, chosen_source
from aliquot.cli.tables import console, results_table
from aliquot.errors import SettingsError

if TYPE_CHECKING:
    from aliquot.run.source import Source

DEMO_SUBGROUPS = ("sex", "race")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What else decides a run, and what it may do."""

    seed: Seed = 0
    settings: SettingsFile = None
    set_: Set = None
    store: Annotated[
        Path | None,
        typer.Option(
            help="Private folder in which runs on the same patients share experts: the next method trains none.",
            metavar="DIR",
        ),
    ] = None
    allow_real_rows: Annotated[bool, typer.Option(help="Let a method that returns real patients write a release.")] = (
        False
    )


def condense(
    out: Out,
    place: Place,
    recipe: Recipe,
    columns: ReleaseColumnOptions,
    layout: LayoutOptions,
    run: RunOptions,
    output: Output,
) -> None:
    """Learn a few synthetic rows per outcome class on which models train as well as on all patients.

    FILE has one row per patient. With --time it has measurements over time instead: one per line with --variable
    and --value, or one column per variable; then the rows are series on a grid of equal steps. An .npz file whose X has
    three dimensions holds such series already.

    The table is split by patient into 70 % train, 15 % tuning and 15 % held_out. Rows are learned from train, the
    best are chosen on tuning, and the numbers printed at the end come from held_out, which is opened once.

    OUT/release/ holds what may leave the building; OUT/private/ holds what was learned from patients and must not.
    A run that was stopped continues with the same command, or with `aliquot resume OUT`.
    """
    from aliquot.methods import get_method

    if recipe.method and get_method(recipe.method).selects_rows and not run.allow_real_rows:
        raise SettingsError(
            f"asked for method {recipe.method!r}, whose rows are real patients; add --allow-real-rows if that is meant"
        )
    _run(chosen_source(place, columns, layout), out, recipe, run, output)


def demo(
    out: Out = Path("runs/demo"),
    rows_per_class: RowsPerClass = 50,
    budget: Budget = "cpu",
    start: Start = None,
    seed: Seed = 0,
    set_: Set = None,
    *,
    output: Output,
) -> None:
    """Condense the embedded cohort: SUPPORT2, 9,105 seriously ill adults, death within 30 days.

    Does everything that `aliquot condense` does, with data that comes with Aliquot.
    """
    from aliquot.cohort import Columns
    from aliquot.run.source import EMBEDDED, Source

    source = Source(file=EMBEDDED, columns=Columns(subgroups=DEMO_SUBGROUPS))
    recipe = Recipe(rows_per_class=rows_per_class, budget=budget, start=start)
    _run(source, out, recipe, RunOptions(seed=seed, set_=set_), output)


def _run(source: "Source", out: Path, recipe: Recipe, run: RunOptions, output: Output) -> None:
    """Read the patients, choose the settings for what they are, and condense."""
    from aliquot.presets.settings import with_choices
    from aliquot.run.folder import condense_into
    from aliquot.run.request import RequestOptions

    options = RequestOptions(
        method=recipe.method,
        rows_per_class=recipe.rows_per_class,
        seed=run.seed,
        preset=recipe.preset,
        budget=recipe.budget,
        changes=changes_of(run, with_choices(start=recipe.start, network=recipe.network)),
    )
    options.request()  # a mistake shows before anything is read
    with output.progress(continuing(out)) as progress:
        cohort = source.read()
        for line in first_lines(cohort):
            progress.say(line)
        request = options.request(series=cohort.series is not None)
        release = condense_into(out, source, request, progress, shared=run.store, cohort=cohort)
    show(release, json=output.json)


def continuing(folder: Path) -> Callable[[], str]:
    """Finds the command that continues a run: the same one where the run has not made its folder yet."""

    def command() -> str:
        begun = (folder / "private" / "plan.json").is_file()
        return f"aliquot resume {shlex.quote(str(folder))}" if begun else "the same command"

    return command


def show(release: Path, *, json: bool = False) -> None:
    """Print the results of a release and where it is, for people or as JSON."""
    from aliquot.release.bundle import read_release

    results = read_release(release).results
    if json:
        print_json({"release": release, "metrics": results.to_json()})
        return
    out = console()
    for note in results.notes or ():
        out.print(f"Note: {note}.")
    if results.real_rows:
        out.print("Note: these rows started from, or are, real patients; the card says so.")
    out.print(results_table(results, sources=("random", "aliquot", "full_best_epoch")))
    out.print(f"release: {release}   (open {release / 'report.html'})")
