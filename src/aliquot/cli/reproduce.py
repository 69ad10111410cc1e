"""``aliquot reproduce``: the paper's tables and figures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.machine import print_json
from aliquot.cli.options import Budget, Execution, Output
from aliquot.cli.tables import console
from aliquot.paper import ALL_STUDIES, STUDIES


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Of which patients, and how much of a table or figure."""

    cohorts: Annotated[
        str,
        typer.Option(
            help="simulated: made-up patients in the shape of the paper's five cohorts; or a folder with the real "
            "files in curial/OUH, curial/PUH, curial/UHB, eicu and mimic3.",
            metavar="simulated|DIR",
        ),
    ] = "simulated"
    budget: Budget = "cpu"
    seeds: Annotated[
        int, typer.Option(help="How many condensation seeds; each decides split, experts and all else.", min=1)
    ] = 1
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only these cohorts, methods or rows per class, separated by commas, as in ouh,btm,mtt,50. May be "
            "repeated.",
            metavar="NAMES",
        ),
    ] = None


def reproduce(
    name: Annotated[str, typer.Argument(help=f"Which: {', '.join((*STUDIES, ALL_STUDIES))}.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for cells, tables and figures, by default runs/reproduce-BUDGET; finished cells in it are "
            "kept.",
            show_default=False,
        ),
    ] = None,
    *,
    study: StudyOptions,
    execution: Execution,
    output: Output,
) -> None:
    """Repeat a table or figure of the paper, and write it with the paper's numbers beside.

    OUT/NAME/ gets table.md, table.csv, table.tex and the figures as .png and .svg. Captions say what the budget leaves
    out and what is simulated. Studies share cells, each of which is run once: a reproduction that was stopped continues
    with the same command. OUT/private/ holds what was learned from patients and must not leave.
    """
    import pandas as pd

    from aliquot.paper.reproduce import Reproduction, reproduce_into

    words = tuple(dict.fromkeys(word.strip() for text in study.only or () for word in text.split(",") if word.strip()))
    asked = Reproduction(name=name, budget=study.budget, cohorts=study.cohorts, seeds=study.seeds, only=words)
    out = Path("runs") / f"reproduce-{study.budget}" if out is None else out
    executor = execution.chosen()
    with output.progress() as progress:
        texts = reproduce_into(out, asked, executor, progress)
    if output.json:
        tables = {title: pd.read_csv(out / title / "table.csv").to_dict("records") for title in texts}
        print_json({"reproduction": out, "tables": tables})
        return
    shown = console(width=130)
    for title, text in texts.items():
        shown.print(text)
        shown.print(f"{title}: {out / title}")
