"""``aliquot reproduce``: the paper's tables and figures."""

from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.machine import print_json
from aliquot.cli.options import Address, Budget, ExecutorName, Json, Quiet, SharedStore, Verbose, Workers
from aliquot.cli.progress import progress_of
from aliquot.cli.tables import console

STUDIES = (
    *("table-curial", "table-icu", "cross-architecture", "initialisation", "storage", "inner-loop", "figure-1"),
    *("theorem", "all"),
)


def reproduce(
    name: Annotated[str, typer.Argument(help=f"Which: {', '.join(STUDIES)}.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for cells, tables and figures, by default runs/reproduce-BUDGET; finished cells in it are "
            "kept.",
            show_default=False,
        ),
    ] = None,
    cohorts: Annotated[
        str,
        typer.Option(
            help="simulated: made-up patients in the shape of the paper's five cohorts; or a folder with the real "
            "files in curial/OUH, curial/PUH, curial/UHB, eicu and mimic3.",
            metavar="simulated|DIR",
        ),
    ] = "simulated",
    budget: Budget = "cpu",
    seeds: Annotated[
        int, typer.Option(help="How many condensation seeds; each decides split, experts and all else.", min=1)
    ] = 1,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only these cohorts, methods or rows per class, separated by commas, as in ouh,btm,mtt,50. May be "
            "repeated.",
            metavar="NAMES",
        ),
    ] = None,
    executor: ExecutorName = "local",
    workers: Workers = None,
    address: Address = None,
    store: SharedStore = "folder",
    quiet: Quiet = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Repeat a table or figure of the paper, and write it with the paper's numbers beside.

    OUT/NAME/ gets table.md, table.csv, table.tex and the figures as .png and .svg. Captions say what the budget leaves
    out and what is simulated. Studies share cells, each of which is run once: a reproduction that was stopped continues
    with the same command. OUT/private/ holds what was learned from patients and must not leave.
    """
    import pandas as pd

    from aliquot.paper.reproduce import Reproduction
    from aliquot.paper.reproduce import reproduce as run
    from aliquot.runs.executors import executor_named

    words = tuple(dict.fromkeys(word.strip() for text in only or () for word in text.split(",") if word.strip()))
    asked = Reproduction(name=name, budget=budget, cohorts=cohorts, seeds=seeds, only=words)
    out = Path("runs") / f"reproduce-{budget}" if out is None else out
    chosen = executor_named(executor, workers=workers, address=address, store=store)
    with progress_of("the same command", quiet=quiet, verbose=verbose) as progress:
        texts = run(out, asked, chosen, progress)
    if json:
        tables = {study: pd.read_csv(out / study / "table.csv").to_dict("records") for study in texts}
        print_json({"reproduction": out, "tables": tables})
        return
    shown = console(width=130)
    for study, text in texts.items():
        shown.print(text)
        shown.print(f"{study}: {out / study}")
