"""``aliquot inspect``, ``resume``, ``schema`` and ``version``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from aliquot.cli.condense import continuing, show
from aliquot.cli.machine import print_json
from aliquot.cli.options import Json, Quiet, Verbose
from aliquot.cli.progress import progress_of
from aliquot.cli.tables import calibration_table, console, results_table, transfer_table

Folder = Annotated[Path, typer.Argument(help="A run folder.", metavar="DIR")]


def resume(folder: Folder, quiet: Quiet = False, verbose: Verbose = False, json: Json = False) -> None:
    """Continue a run that was stopped; it ends with the same rows as if it had not been."""
    from aliquot.runs.folder import resume as resume_run

    with progress_of(continuing(folder), quiet=quiet, verbose=verbose) as progress:
        release = resume_run(folder, progress)
    show(release, json=json)


def inspect(
    folder: Annotated[Path, typer.Argument(help="A run folder or a release folder.", metavar="DIR")],
    json: Json = False,
) -> None:
    """Show what is in a run or release: its numbers, calibration, other models, and how long it took."""
    from aliquot.release.bundle import read_release

    out = console()
    if (folder / "private").is_dir() and not (folder / "release").is_dir():
        stages = sorted(path.stem for path in (folder / "private" / "store").glob("*.safetensors"))
        again = continuing(folder)()
        if json:
            print_json({"finished": False, "kept": stages, "continue": again})
            return
        out.print(f"unfinished run; kept so far: {', '.join(stages) or 'nothing'}")
        out.print(f"continue with: {again}")
        return
    metrics = read_release(folder).metrics
    if json:
        print_json({"finished": True, "metrics": metrics})
        return
    data = metrics["data"]
    out.print(
        f"{metrics['rows_per_class']} rows per class by {metrics['method']}, start {metrics['start']}, "
        f"preset {metrics['preset']}, budget {metrics['budget']}, seed {metrics['seed']}"
    )
    out.print(f"from {data['patients']:,} patients, {data['columns']} columns, {data['features']} features")
    for table in (results_table(metrics), calibration_table(metrics["calibration"]), transfer_table(metrics)):
        out.print(table)
    seconds = metrics["seconds"]
    out.print("seconds: " + ", ".join(f"{stage} {took:.0f}" for stage, took in seconds.items()))


def schema(
    file: Annotated[Path, typer.Argument(help="Table of patients.")],
    out: Annotated[Path | None, typer.Option("--out", help="Write here instead of printing.")] = None,
) -> None:
    """Write a first schema of a table, to correct by hand and pass to `aliquot condense --schema`.

    Lists each column with the kind that Aliquot would take it for. No value of the table is written.
    """
    from aliquot.cohort import read_table, schema_file
    from aliquot.drafts import write_atomically

    text = schema_file(read_table(file))
    if out is None:
        print(text, end="")
    else:
        write_atomically(out, text.encode())
        console().print(f"schema: {out}   (correct it, then: aliquot condense --schema {out})")


def cohorts(json: Json = False) -> None:
    """List the datasets that Aliquot can read: what to download, where to put it, and the licence."""
    from dataclasses import asdict

    from aliquot.cohort.known import KNOWN, SIMULATED
    from aliquot.cohort.simulate import COHORTS

    if json:
        simulated = {f"{SIMULATED}{name}": {"title": shape.title} for name, shape in COHORTS.items()}
        print_json({name: asdict(known) for name, known in KNOWN.items()} | simulated)
        return
    out = console()
    for name, known in KNOWN.items():
        out.print(Text.assemble((name, "bold"), f": {known.title}"))
        out.print(f"  files: {known.files}")
        out.print(f"  from: {known.licence}")
        for option, meaning in known.options.items():
            needed = " (needed)" if option in known.needed else ""
            out.print(f"  --read {option}=…{needed}: {meaning}")
    out.print("then: aliquot condense --cohort NAME --path DIR --out RUN")
    out.print("simulated:ouh, :puh, :uhb, :eicu, :mimic3: made-up patients in the shape of the paper's datasets")
    out.print("  then: aliquot condense --cohort simulated:ouh --read fraction=0.1 --out RUN")


def version(json: Json = False) -> None:
    """Print the versions that decide the numbers."""
    from aliquot.runs.pipeline import versions

    if json:
        print_json(versions())
        return
    for name, number in versions().items():
        print(f"{name} {number}")
