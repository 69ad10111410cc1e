"""``aliquot encode`` and ``aliquot evaluate``: using a release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aliquot.cli.machine import print_json
from aliquot.cli.options import CohortName, CohortPath, Json, PatientId, Quiet, Read, Verbose
from aliquot.cli.progress import progress_of
from aliquot.cli.series import Hours, Outcomes, StayId, StepHours, Time, Value, Variable, series_options
from aliquot.cli.sources import known_source
from aliquot.cli.tables import calibration_table, console, spread

if TYPE_CHECKING:
    from collections.abc import Iterable

ReleaseFolder = Annotated[Path, typer.Option("--release", help="A release folder, or the run folder around it.")]


def encode(
    release: ReleaseFolder,
    file: Annotated[Path, typer.Argument(help="New patients: a table or series laid out like the source.")],
    out: Annotated[Path, typer.Option("--out", help="Parquet file to write.")],
    patient_id: PatientId = None,
    time: Time = None,
    stay_id: StayId = None,
    variable: Variable = None,
    value: Value = None,
    hours: Hours = None,
    step_hours: StepHours = None,
    outcomes: Outcomes = None,
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
    from aliquot.release.bundle import parquet, read_release
    from aliquot.runs.new import read_new
    from aliquot.runs.source import Source

    encoder = read_release(release).encoder
    layout = series_options(time, stay_id, variable, value, hours, step_hours, outcomes)
    patients = read_new(Source(file=str(file), patient_id=patient_id, **layout), encoder)
    x, notes = encode_new(encoder, patients)
    table = pd.DataFrame(x.reshape(len(x), -1), columns=list(encoder.column_names))
    write_atomically(out, parquet(table))
    said = (*patients.notes, *notes)
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
    cohort: CohortName = None,
    path: CohortPath = None,
    read: Read = None,
    networks: Annotated[int, typer.Option(help="Networks to train on the rows.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of these networks.", min=0)] = 0,
    patient_id: PatientId = None,
    time: Time = None,
    stay_id: StayId = None,
    variable: Variable = None,
    value: Value = None,
    hours: Hours = None,
    step_hours: StepHours = None,
    outcomes: Outcomes = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Train networks on the rows by the release's recipe, and score them on other patients.

    The data need the source's columns and its target, or are a known dataset (--cohort). Probabilities are shown before
    and after the correction for the real prevalence that the recipe carries.

    Measurements over time are brought to the steps and channels of the release.
    """
    from aliquot.errors import SettingsError
    from aliquot.release.bundle import read_release
    from aliquot.release.score import score_release
    from aliquot.runs.new import read_new
    from aliquot.runs.source import Source

    layout = series_options(time, stay_id, variable, value, hours, step_hours, outcomes)
    if (data is None) == (cohort is None):
        raise SettingsError("asked to evaluate on no or on two datasets; pass either --data FILE or --cohort NAME")
    named = {"patient_id": patient_id}
    source = known_source(cohort, path, read, named, layout) if cohort else Source(file=str(data), **named, **layout)
    found = read_release(release)
    patients = read_new(source, found.encoder, target=found.recipe["labels"]["target"])
    with progress_of("the same command", quiet=quiet, verbose=verbose) as progress:
        progress.stage("training and scoring", networks)
        scores = score_release(found, patients, networks=networks, seed=seed)
    if json:
        print_json({"networks": networks, "seed": seed, **scores})
        return
    _say(scores["notes"])
    out = console()
    out.print(f"{scores['patients']:,} patients, {networks} networks trained on the rows")
    for name in ("auroc", "auprc"):
        out.print(f"{name.upper()}  {spread(scores['after'][name])}")
    out.print(calibration_table(scores))


def _say(notes: "Iterable[str]") -> None:
    for note in notes:
        console().print(f"note: {note}")
