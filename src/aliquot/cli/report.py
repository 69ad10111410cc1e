"""``aliquot report``: the page of a release, written again."""

from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.tables import console


def report(
    folder: Annotated[Path, typer.Argument(help="A run folder or a release folder.", metavar="DIR")],
) -> None:
    """Write report.html of a release again, from the numbers that the release holds.

    Nothing is measured again and no patient is read. What an older release did not measure is left out of the page.
    """
    from aliquot.release.bundle import rebuild_report

    console().print(f"report: {rebuild_report(folder)}")
