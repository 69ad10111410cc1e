"""``aliquot inspect``, ``resume``, ``cohorts`` and ``version``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from aliquot.cli.condense import continuing, show
from aliquot.cli.machine import print_json
from aliquot.cli.options import Json, Output
from aliquot.cli.tables import console, models_table, probabilities_table, results_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aliquot.cohort.datasets import Dataset

Folder = Annotated[Path, typer.Argument(help="A run folder.", metavar="DIR")]


def resume(folder: Folder, output: Output) -> None:
    """Continue a run that was stopped; it ends with the same rows as if it had not been."""
    from aliquot.run.folder import resume as resume_run

    with output.progress(continuing(folder)) as progress:
        release = resume_run(folder, progress)
    show(release, json=output.json)


def inspect(
    folder: Annotated[Path, typer.Argument(help="A run folder or a release folder.", metavar="DIR")],
    json: Json = False,
) -> None:
    """Show what is in a run or release: its numbers, calibration, other models, and how long it took."""
    from aliquot.release.bundle import read_release
    from aliquot.release.report.sections.calibration import calibration_in
    from aliquot.release.report.sections.transfer import transfer_in

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
    results = read_release(folder).results
    if json:
        print_json({"finished": True, "metrics": results.to_json()})
        return
    data, calibration = results.data, calibration_in(results)
    out.print(
        f"{results.rows_per_class} rows per class by {results.method}, start {results.start}, "
        f"preset {results.preset}, budget {results.budget}, seed {results.seed}"
    )
    out.print(f"from {data.patients:,} patients, {data.columns} columns, {data.features} features")
    out.print(results_table(results))
    out.print(probabilities_table(calibration.before, calibration.after))
    out.print(models_table(transfer_in(results)))
    out.print("seconds: " + ", ".join(f"{stage} {took:.0f}" for stage, took in (results.seconds or {}).items()))


def cohorts(json: Json = False) -> None:
    """List the datasets that Aliquot can read: what to download, where to put it, and the licence."""
    from aliquot.cohort.simulate import PREFIX
    from aliquot.registry import READERS

    if json:
        print_json({name: _described(dataset) for name, dataset in READERS.items()})
        return
    out = console()
    simulated = [name.removeprefix(PREFIX) for name in READERS if name.startswith(PREFIX)]
    for name, dataset in READERS.items():
        if not name.startswith(PREFIX):
            out.print(Text.assemble((name, "bold"), f": {dataset.title}"))
            for line in _lines(dataset):
                out.print(f"  {line}")
    out.print("then: aliquot condense --cohort NAME --path DIR --out RUN")
    names = PREFIX + ", :".join(simulated)
    out.print(f"{names}: made-up patients in the shape of the paper's datasets")
    out.print(f"  then: aliquot condense --cohort {PREFIX}{simulated[0]} --read fraction=0.1 --out RUN")


def _lines(dataset: "Dataset") -> "Iterator[str]":
    if dataset.files:
        yield f"files: {dataset.files}"
    yield f"from: {dataset.licence}"
    for name, option in dataset.options.items():
        needed = " (needed)" if name in dataset.needed else ""
        yield f"--read {name}=…{needed}: {option.text}"


def _described(dataset: "Dataset") -> dict[str, Any]:
    return {
        "title": dataset.title,
        "files": dataset.files,
        "licence": dataset.licence,
        "options": {name: option.text for name, option in dataset.options.items()},
        "needed": dataset.needed,
    }


def version(json: Json = False) -> None:
    """Print the versions that decide the numbers."""
    from aliquot.identity import versions

    if json:
        print_json(versions())
        return
    for name, number in versions().items():
        print(f"{name} {number}")
