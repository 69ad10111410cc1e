"""Cases by number: what is spoiled, and the command that then reads it."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aliquot.context import NoProgress
from aliquot.grid.grid import run_grid
from aliquot.grid.pieces import Outcome
from aliquot.run.store import FolderStore

from .made import PLANTED, entries
from .spoiled import (
    Rng,
    one_of,
    sign_cell,
    sign_encoder,
    sign_plan,
    sign_release,
    spoil_json,
    spoil_store,
    spoil_table,
    spoil_toml,
    spoiled_bytes,
)

RELEASES = ("table", "soft", "series")
FILES = ("rows.parquet", "encoder.json", "recipe.toml", "metrics.json", "croissant.json")


@dataclass(frozen=True)
class Case:
    """A folder spoiled, and what is asked of it: words of the command, or a function of the library."""

    name: str
    words: Sequence[str] = ()
    call: Callable[[], Any] | None = None


def case_of(number: int, seed: int, folder: Path) -> Case:
    """The case of a number, its files spoiled in a folder that holds one of everything."""
    rng = np.random.default_rng((seed, number))
    kind = KINDS[number % len(KINDS)]
    name, asked = kind(folder, rng)
    what = f"case {number} of seed {seed}: {kind.__name__}, {name}"
    return Case(what, call=asked) if callable(asked) else Case(what, [str(word) for word in asked])


def changed_release(folder: Path, rng: Rng) -> Any:
    """A release with other values and the right checksums."""
    which, file = one_of(rng, RELEASES), one_of(rng, FILES)
    release = folder / which
    path = release / file
    if path.suffix == ".parquet":
        spoil_table(path, rng)
    elif path.suffix == ".toml":
        spoil_toml(path, rng)
    else:
        spoil_json(path, rng, sign_encoder if file == "encoder.json" else lambda document: document)
    if file != "croissant.json":
        sign_release(release)
    return f"{which}/{file}", _use(folder, which, rng)


def damaged_release(folder: Path, rng: Rng) -> Any:
    """A release with other bytes; sometimes with the right checksums."""
    which, file = one_of(rng, RELEASES), one_of(rng, FILES)
    path = folder / which / file
    path.write_bytes(spoiled_bytes(path.read_bytes(), rng))
    if rng.random() < 0.7 and file != "croissant.json":
        sign_release(folder / which)
    return f"{which}/{file}", _use(folder, which, rng)


def _use(folder: Path, which: str, rng: Rng) -> list[Any]:
    """A command that reads the release; those that draw and train are rarer, as they take longer."""
    release, out = folder / which, folder / "out.parquet"
    new = folder / ("stays.npz" if which == "series" else "patients.csv")
    usual = (
        ["inspect", release],
        ["inspect", release, "--json"],
        ["encode", new, "--release", release, "--out", out],
    )
    rare = (
        ["report", release],
        ["expand", release, "--rows", "3", "--out", out, "-q"],
        ["evaluate", "--release", release, "--data", new, "--networks", "1", "-q"],
    )
    rare = rare[:1] if which == "series" else rare  # networks of series take long to compile
    return one_of(rng, rare if rng.random() < 0.15 else usual)


def changed_plan(folder: Path, rng: Rng) -> Any:
    """A run whose plan was changed."""
    path = folder / "run" / "private" / "plan.json"
    if rng.random() < 0.7:
        spoil_json(path, rng, sign_plan)
    else:
        path.write_bytes(spoiled_bytes(path.read_bytes(), rng))
    return "plan.json", [one_of(rng, ("resume", "transfer")), folder / "run", "-q"]


def changed_store(folder: Path, rng: Rng) -> Any:
    """A checkpoint that was changed."""
    path = folder / "store" / "experts.safetensors"
    if rng.random() < 0.5:
        spoil_store(path, rng)
    else:
        path.write_bytes(spoiled_bytes(path.read_bytes(), rng))

    def read() -> None:
        kept = FolderStore(path.parent).get("experts")
        assert kept is not None
        _ = kept["start"].shape, kept["seconds"].shape

    return "experts", read


def changed_grid(folder: Path, rng: Rng) -> Any:
    """A grid with a changed file."""
    grid = folder / "grid"
    path = one_of(rng, sorted(grid.rglob("*.json")))
    if rng.random() < 0.7:
        spoil_json(path, rng, sign_cell if path.parent.name == "cells" else lambda document: document)
    else:
        path.write_bytes(spoiled_bytes(path.read_bytes(), rng))
    if path.parent.name != "cells" or rng.random() < 0.2:
        return path.parent.name, ["grid", "status", grid, *one_of(rng, ((), ("--json",)))]

    def gather() -> None:
        asked = entries(folder / "patients.csv")
        cohorts = {asked[0].source: asked[0].source.read()}
        run_grid(grid, asked, Nobody(), NoProgress(), cohorts=cohorts)

    return path.parent.name, gather


class Nobody:
    """An executor that does nothing."""

    def run(self, worker: Any, waves: Any, progress: Any) -> Any:
        """Every piece fails."""
        return ((piece, Outcome(failed="nobody did it")) for wave in waves for piece in wave)


def changed_toml(folder: Path, rng: Rng) -> Any:
    """Settings or a schema with other values or other bytes."""
    name = one_of(rng, ("settings", "schema"))
    path = folder / f"{name}.toml"
    if rng.random() < 0.7:
        spoil_toml(path, rng)
    else:
        path.write_bytes(spoiled_bytes(path.read_bytes(), rng))
    table = folder / ("absent.csv" if name == "settings" else "patients.csv")  # what is right must not begin a run
    asked = ["condense", table, "--target", "died", "--rows-per-class", "100000", "--out", folder / "new", "-q"]
    return name, [*asked, f"--{name}", path]


def odd_table(folder: Path, rng: Rng) -> Any:
    """A table that was spoiled, or in which somebody's cells are odd."""
    text = (folder / "patients.csv").read_bytes()
    kind = one_of(rng, ("cells", "bytes", "parquet", "npz"))
    path = folder / {"cells": "odd.csv", "bytes": "odd.csv", "parquet": "odd.parquet", "npz": "odd.npz"}[kind]
    if kind == "cells":
        path.write_bytes(_odd_cells(text, rng))
    elif kind == "bytes":
        path.write_bytes(spoiled_bytes(text, rng))
    elif kind == "parquet":
        content = (folder / "table" / "rows.parquet").read_bytes()
        path.write_bytes(spoiled_bytes(content, rng))
        if rng.random() < 0.5:
            path.write_bytes(content)
            spoil_table(path, rng)
    else:
        path.write_bytes(spoiled_bytes((folder / "stays.npz").read_bytes(), rng))
    new = folder / "new"
    release = folder / one_of(rng, RELEASES)
    asked = (
        ["condense", path, "--target", "died", "--rows-per-class", "100000", "--out", new, "-q"],
        ["schema", path],
        ["encode", path, "--release", release, "--out", folder / "out.parquet"],
    )
    return kind, one_of(rng, asked)


ODD = (
    *("", " ", "NaN", "inf", "-inf", "1e400", "-999", "36,5", "<0.2", "2020-01-01", "yes"),
    *("\x00", "=1+1", '"', "\ufeff"),
)


def _odd_cells(text: bytes, rng: Rng) -> bytes:
    """A table with some other cells, and with planted ones."""
    lines = [line.split(",") for line in text.decode().splitlines()]
    column = int(rng.integers(len(lines[0])))
    for _ in range(int(one_of(rng, (1, 30, 2000)))):
        lines[int(rng.integers(1, len(lines)))][column] = one_of(rng, (*ODD, *PLANTED))
    if rng.random() < 0.3:
        lines[0][column] = one_of(rng, ("", "age", "died", "x=(missing)", "x" * 3000))
    if rng.random() < 0.2:
        del lines[int(rng.integers(1, 40)) :]
    separator = one_of(rng, (",", ",", ",", ";", "\t"))
    return "\n".join(separator.join(line) for line in lines).encode()


def stays(path: Path) -> None:
    """Series as the release over time takes them."""
    rng = np.random.default_rng(3)
    buffer = io.BytesIO()
    np.savez(buffer, X=rng.normal(80, 10, (20, 3, 2)), y=rng.integers(0, 2, 20), names=np.array(["hr", "ph"]))
    path.write_bytes(buffer.getvalue())


KINDS = (
    *(changed_release, changed_release, damaged_release, changed_release, odd_table),
    *(changed_release, changed_plan, changed_grid, changed_toml, changed_store),
)
