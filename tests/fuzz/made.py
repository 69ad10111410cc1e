"""One of everything that Aliquot reads, small and whole: releases, a run, a store, a grid, tables, TOML."""

import dataclasses
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from aliquot.cohort import Columns, Series, SeriesEncoder, infer_schema
from aliquot.evaluate.results import Results, Scores
from aliquot.grid.cell import CellResult, Conditions, Variant, compared_cells
from aliquot.grid.grid import Entry, _cell, _failed, _fingerprint, _running, _write_plan, _write_result
from aliquot.grid.pieces import Marker
from aliquot.identity import checksum_text, versions
from aliquot.release.bundle import write_release
from aliquot.release.condensation import Condensation
from aliquot.run.request import RequestOptions
from aliquot.run.source import Source
from aliquot.run.store import FolderStore

from ..release.conftest import condensed

PLANTED = ("Zxqvlor Nymthweck", "770077077", "424242.125")  # a name, an identifier and a value of patients
SETTINGS = "start = 'noise'\n[network]\nhidden = [8, 4]\ndropout = 0.1\n[match]\niterations = 5\ndata_lr = 0.1\n"
SCHEMA = "[columns.age]\nkind = 'numeric'\nlow = 0\nhigh = 120\nunit = 'years'\n[columns.ward]\nkind = 'categorical'\n"
CELLS = ("btm", "dm", "kmeans")  # one done, one failed, one that is being run
STEPS = 3


def patients() -> pd.DataFrame:
    """1600 patients, in whom what must never be printed is planted."""
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 1600)
    frame = pd.DataFrame(
        {
            "age": (60 + 10 * rng.normal(size=1600) + 5 * died).round(),
            "lactate": np.where(rng.random(1600) < 0.2, np.nan, rng.lognormal(size=1600).round(2)),
            "ward": rng.choice(["icu", "hdu", "ward"], 1600),
            "smoker": rng.choice(["yes", "no"], 1600),
            "died": died,
        }
    )
    frame.loc[7, "ward"], frame.loc[8, "lactate"] = PLANTED[0], float(PLANTED[2])
    return frame


def make(folder: Path) -> None:
    """Write everything into a folder."""
    frame = patients()
    frame.to_csv(folder / "patients.csv", index=False)
    (folder / "settings.toml").write_text(SETTINGS)
    (folder / "schema.toml").write_text(SCHEMA)
    table = condensed(frame, "died", ("ward",))
    outcome = np.where(frame["died"] == 1, "died", np.resize(["home", "ward"], len(frame)))
    write_release(table, folder / "table")
    write_release(soft(condensed(frame.assign(died=outcome), "died", ("ward",))), folder / "soft")
    write_release(over_time(table), folder / "series")
    make_run(folder / "run", folder / "patients.csv")
    make_grid(folder / "grid", folder / "patients.csv", table.results.held_out.aliquot)
    FolderStore(folder / "store").put("experts", {"start": np.ones((2, 5), np.float32), "seconds": np.asarray(1.5)})


def soft(result: Condensation) -> Condensation:
    """The same with soft labels."""
    recipe = result.recipe | {"labels": result.recipe["labels"] | {"kind": "soft", "weight": "weight"}}
    return dataclasses.replace(result, targets=(0.1 + 0.8 * result.targets).astype(np.float32), recipe=recipe)


def over_time(result: Condensation) -> Condensation:
    """The same with rows that are series."""
    rng = np.random.default_rng(1)
    values = rng.normal(80, 10, (60, STEPS, 2)).astype(np.float32)
    values[rng.random(values.shape) < 0.3] = np.nan
    static = pd.DataFrame({"age": rng.integers(20, 90, 60)})
    encoder = SeriesEncoder.fit(Series(values, ("hr", "ph")), static, infer_schema(static))
    x = rng.standard_normal((len(result.x), *encoder.shape)).astype(np.float32)
    network = {"kind": "tcn", "inputs": x[0].size, "steps": STEPS, "outputs": 1}
    metrics = result.metrics
    metrics["data"] |= {"steps": STEPS, "features": encoder.shape[1]}
    recipe = {**result.recipe, "network": network}
    return dataclasses.replace(result, x=x, encoder=encoder, recipe=recipe, results=Results.from_json(metrics))


def make_run(folder: Path, table: Path) -> None:
    """A run that was begun on other data, so that nobody ever goes on with it."""
    (folder / "private" / "store").mkdir(parents=True)
    request = RequestOptions(method="kmeans", rows_per_class=2, budget="smoke").request()
    source = Source(file=str(table), columns=Columns(target="died"))
    plan = {"source": asdict(source), "request": request.to_plan(), "store": None}
    plan = json.loads(json.dumps({"kind": "run", "name": "run-0000", "versions": versions(), **plan}))
    document = {"plan": plan, "sha256": checksum_text(json.dumps(plan, sort_keys=True))}
    (folder / "private" / "plan.json").write_text(json.dumps(document))


def entries(table: Path) -> list[Entry]:
    """The cells of the grid."""
    source = Source(file=str(table), columns=Columns(target="died"))
    variants = [Variant.parse(name) for name in CELLS]
    cells = compared_cells(variants, (2,), (0,), Conditions(budget="smoke", evaluations=2))
    return [Entry(source, cell) for cell in cells if cell.kind == "rows"]


def make_grid(folder: Path, table: Path, scores: Scores) -> None:
    """A grid with a cell that is done, one that failed and one that is being run elsewhere."""
    asked = entries(table)
    cohort = asked[0].source.read()
    done, failed, running = names = [entry.cell.name(_fingerprint(cohort, entry.cell)) for entry in asked]
    for part in ("cells", "failed", "running", "private"):
        (folder / part).mkdir(parents=True)
    _write_plan(folder, asked, names)
    _write_result(_cell(folder, done), CellResult(label="btm", auroc=scores.auroc, auprc=scores.auprc))
    _failed(folder, failed).write_text(json.dumps({"reason": "too few patients"}))
    _running(folder, running).write_text(json.dumps(asdict(Marker("elsewhere", 77, 1e9))))
