"""``aliquot encode`` and ``aliquot evaluate``: using a release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aliquot.cli.files import writer_of
from aliquot.cli.machine import print_json
from aliquot.cli.options import LARGEST_SEED, Json, Output
from aliquot.cli.sources import ColumnOptions, KnownDataset, NewPatients, known_source
from aliquot.cli.tables import console, mean_std, probabilities_table
from aliquot.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable

ReleaseFolder = Annotated[Path, typer.Option("--release", help="A release folder, or the run folder around it.")]


def encode(
    release: ReleaseFolder,
    file: Annotated[Path, typer.Argument(help="New patients: a table or series laid out like the source.")],
    out: Annotated[Path, typer.Option("--out", help="File to write: .parquet or .csv.")],
    patients: NewPatients,
    json: Json = False,
) -> None:
    """Turn new patients into the features that models trained on the rows take.

    Writes exactly the feature columns of rows.parquet, one row per patient or stay, in the order of the file.

    Measurements over time are brought to the steps and channels of the release, so that --hours and --step-hours are
    not needed; --outcomes then is the table of what does not change, and no outcome is needed in it.
    """
    import pandas as pd

    from aliquot.cohort import encode_new
    from aliquot.drafts import write_atomically
    from aliquot.release.bundle import read_release

    write = writer_of(out)
    encoder = read_release(release).encoder
    found = patients.source(file).read_new(encoder)
    x, notes = encode_new(encoder, found)
    table = pd.DataFrame(x.reshape(len(x), -1), columns=list(encoder.column_names))
    write_atomically(out, write(table), private=True)
    said = (*found.notes, *notes)
    if json:
        steps = {"steps": x.shape[1]} if x.ndim == 3 else {}
        print_json({"patients": len(x), **steps, "features": x.shape[-1], "file": out, "notes": said})
        return
    _say(said)
    what = "patients" if x.ndim == 2 else f"stays × {x.shape[1]} steps"
    console().print(f"{len(x):,} {what} × {x.shape[-1]} features: {out}")


def evaluate(
    release: ReleaseFolder,
    data: Annotated[
        Path | None, typer.Option(help="Patients that the rows were not learned from: a table or series.")
    ] = None,
    *,
    known: KnownDataset,
    networks: Annotated[int, typer.Option(help="Networks to train on the rows.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of these networks.", min=0, max=LARGEST_SEED)] = 0,
    patients: NewPatients,
    output: Output,
) -> None:
    """Train networks on the rows by the release's recipe, and score them on other patients.

    The data need the source's columns and its target, or are a known dataset (--cohort). Probabilities are shown before
    and after the correction for the real prevalence that the recipe carries.

    Measurements over time are brought to the steps and channels of the release.
    """
    from aliquot.release.bundle import read_release
    from aliquot.release.score import score_release

    if (data is None) == (known.cohort is None):
        raise SettingsError("asked to evaluate on no or on two datasets; pass either --data FILE or --cohort NAME")
    if data is None:
        source = known_source(known, None, ColumnOptions(patient_id=patients.patient_id), patients.layout)
    else:
        source = patients.source(data)
    found = read_release(release)
    others = source.read_new(found.encoder, target=found.recipe["labels"]["target"])
    with output.progress() as progress:
        progress.stage("training and scoring", networks)
        scores = score_release(found, others, networks=networks, seed=seed)
    if output.json:
        print_json({"networks": networks, "seed": seed, **scores.to_json()})
        return
    _say(scores.notes)
    out = console()
    out.print(f"{scores.patients:,} patients, {networks} networks trained on the rows")
    out.print(f"AUROC  {mean_std(scores.after.auroc)}")
    out.print(f"AUPRC  {mean_std(scores.after.auprc)}")
    out.print(probabilities_table(scores.before, scores.after))


def _say(notes: "Iterable[str]") -> None:
    for note in notes:
        console().print(f"note: {note}")
