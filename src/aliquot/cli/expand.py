"""``aliquot expand``: more records from the rows of a release, for models that need many."""

from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.files import writer_of
from aliquot.cli.machine import print_json
from aliquot.cli.options import LARGEST_SEED, Output
from aliquot.cli.tables import console


def expand(
    release: Annotated[Path, typer.Argument(help="A release folder, or the run folder around it.")],
    out: Annotated[
        Path, typer.Option("--out", help="File to write: .parquet with features, or .csv in the units of the source.")
    ],
    rows: Annotated[int, typer.Option(help="How many records to draw.", min=1)] = 20_000,
    seed: Annotated[
        int, typer.Option(help="Same seed, same release, same machine: same records.", min=0, max=LARGEST_SEED)
    ] = 0,
    *,
    output: Output,
) -> None:
    """Draw many labelled records around the rows, for models such as boosted trees that learn little from a few rows.

    Ten networks are trained on the rows by the release's recipe, and their mean opinion of a record is its label. A
    record appears once per class, with the class's probability as its weight. Columns are those of rows.parquet or
    rows.csv, with probabilities, class and weight. Only the release is read: no patient is touched.
    """
    from aliquot.drafts import write_atomically
    from aliquot.release.bundle import read_release
    from aliquot.release.expand import expand as expanded

    write = writer_of(out)
    found = read_release(release)
    with output.progress() as progress:
        made = expanded(found, rows, seed=seed, progress=progress)
    lines = made.readable if out.suffix.lower() == ".csv" else made.table
    write_atomically(out, write(lines))
    if output.json:
        print_json({"records": len(made.x), "lines": len(lines), "features": made.x.shape[-1], "file": out})
        return
    console().print(f"{len(made.x):,} records, {len(lines):,} lines with class and weight: {out}")
