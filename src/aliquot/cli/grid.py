"""``aliquot grid``: how far the cells of a comparison are."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.machine import print_json
from aliquot.cli.options import Json
from aliquot.cli.tables import console

grid = typer.Typer(name="grid", help="Look at a grid of cells while it runs, or after.", no_args_is_help=True)


@grid.callback()
def _group() -> None:
    """Keeps ``status`` a command of its own although it is the only one."""


@grid.command()
def status(
    folder: Annotated[Path, typer.Argument(help="The folder of a comparison or another grid.", metavar="DIR")],
    json: Json = False,
) -> None:
    """Say how many cells are done, running, failed and waiting, and about how long the rest will take.

    Reads only the folder: it can be called from any machine that sees it, at any time.
    """
    from aliquot.grid import grid as grids

    found, shown = grids.status(folder), console()
    if json:
        print_json(asdict(found))
        return
    total = found.done + len(found.running) + len(found.failed) + found.waiting
    left = "" if found.minutes_left is None else f"; about {found.minutes_left:.0f} min left"
    counts = f"{len(found.running)} running, {len(found.failed)} failed, {found.waiting} waiting"
    shown.print(f"{found.done} of {total} cells done, {counts}{left}")
    for title, where in found.running:
        shown.print(f"running  {title}: {where}")
    for title, reason in found.failed:
        shown.print(f"failed   {title}: {reason}")
