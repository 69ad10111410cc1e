"""``aliquot transfer``: do the rows train other networks too?"""

from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.machine import print_json
from aliquot.cli.names import completing
from aliquot.cli.options import Output
from aliquot.cli.tables import console, networks_table
from aliquot.registry import NETWORKS


def transfer(
    folder: Annotated[Path, typer.Argument(help="The folder of a finished run.", metavar="DIR")],
    networks: Annotated[
        str,
        typer.Option(
            help="Networks to try, as in tcn-1,lstm-2; by default mlp-1 … mlp-4 for tables, and tcn-1, tcn-2, lstm-1 "
            "and lstm-2 for series.",
            metavar="NAMES",
            autocompletion=completing(NETWORKS),
        ),
    ] = "",
    count: Annotated[int, typer.Option(help="How many of each to train.", min=1)] = 10,
    full: Annotated[bool, typer.Option(help="Train them on all training patients too; takes long for series.")] = False,
    *,
    output: Output,
) -> None:
    """Train other networks on the rows of a run, and score them on its held-out patients.

    Beside them the same networks trained on as many random patients. Needs the run's data where it was. The table is
    also written to DIR/transfer.csv; a call that was stopped goes on where it was.
    """
    from aliquot.run.transfer import transfer_into

    names = list(dict.fromkeys(name.strip() for name in networks.split(",") if name.strip()))
    with output.progress() as progress:
        table = transfer_into(folder, names, progress, count=count, full=full)
    if output.json:
        print_json({"networks": count, "table": folder / "transfer.csv", "scores": table.to_dict("records")})
        return
    console().print(networks_table(table, count))
    console().print(f"table: {folder / 'transfer.csv'}")
