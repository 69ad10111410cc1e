"""``aliquot encode`` and ``aliquot evaluate``: using a release."""

from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.tables import calibration_table, console, spread

ReleaseFolder = Annotated[Path, typer.Option("--release", help="A release folder, or the run folder around it.")]


def encode(
    release: ReleaseFolder,
    file: Annotated[Path, typer.Argument(help="Table of new patients with the source's columns.")],
    out: Annotated[Path, typer.Option("--out", help="Parquet file to write.")],
) -> None:
    """Turn new patients into the features that models trained on the rows take.

    Writes exactly the feature columns of rows.parquet, one row per patient, in the order of the file.
    """
    import pandas as pd

    from aliquot.cohort import SeriesEncoder, read_table
    from aliquot.errors import SchemaError
    from aliquot.release.bundle import parquet, read_release
    from aliquot.runs.store import write_atomically

    encoder = read_release(release).encoder
    if isinstance(encoder, SeriesEncoder):
        raise SchemaError("asked to encode a table, but this release holds series; encode them from Python")
    values, unseen = encoder.transform_counted(read_table(file))
    write_atomically(out, parquet(pd.DataFrame(values, columns=list(encoder.feature_names))))
    for column, count in unseen.items():
        console().print(f"note: {count} cells of {column!r} hold levels not seen in training; they count as rare")
    console().print(f"{len(values):,} patients × {values.shape[1]} features: {out}")


def evaluate(
    release: ReleaseFolder,
    data: Annotated[Path, typer.Option(help="Table of patients that the rows were not learned from.")],
    networks: Annotated[int, typer.Option(help="Networks to train on the rows.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of these networks.", min=0)] = 0,
) -> None:
    """Train networks on the rows by the release's recipe, and score them on other patients.

    The table needs the source's columns and its target. Probabilities are shown before and after the correction
    for the real prevalence that the recipe carries.
    """
    from aliquot.cohort import read_table
    from aliquot.release.bundle import read_release
    from aliquot.release.score import score_release

    scores = score_release(read_release(release), read_table(data), networks=networks, seed=seed)
    out = console()
    out.print(f"{scores['patients']:,} patients, {networks} networks trained on the rows")
    for name in ("auroc", "auprc"):
        out.print(f"{name.upper()}  {spread(scores['after'][name])}")
    out.print(calibration_table(scores))
