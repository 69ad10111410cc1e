"""The release folder: written whole or not at all, read back only if unchanged; its report can be written again."""

import hashlib
import io
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w

from aliquot.cohort import Encoder, SeriesEncoder
from aliquot.drafts import draft_of, write_atomically
from aliquot.errors import FileError, RunFolderError, TamperedError
from aliquot.evaluate.labels import begins_row
from aliquot.evaluate.results import Results
from aliquot.release.card import card
from aliquot.release.condensation import Condensation
from aliquot.release.croissant import croissant
from aliquot.release.expand import Expansion, expand
from aliquot.release.report import report
from aliquot.release.spreadsheet import csv

REPORT, CHECKSUMS = "report.html", "croissant.json"
CHECKED = (
    "rows.parquet",
    "rows.csv",
    "encoder.json",
    "recipe.toml",
    "metrics.json",
    "card.md",
    REPORT,
)


@dataclass(frozen=True, eq=False)
class Release:
    """What a stranger reads from a release folder to train on the rows."""

    x: np.ndarray  # (n, features) or (n, T, features) float32
    targets: np.ndarray  # (n,) or (n, C)
    encoder: Encoder | SeriesEncoder
    recipe: dict[str, Any]
    results: Results

    @property
    def metrics(self) -> dict[str, Any]:
        """The results as in ``metrics.json``."""
        return self.results.to_json()

    def expand(self, n: int, seed: int = 0) -> Expansion:
        """``n`` labelled records around the rows, as :meth:`aliquot.Condensation.expand` draws them."""
        return expand(self, n, seed=seed)


def write_release(result: Condensation, folder: Path) -> Path:
    """Write all files of a release next to ``folder``, and move them there in one step once they are on disk."""
    if folder.exists():
        raise RunFolderError(f"asked to write the release to {folder}, but something is there; choose another folder")
    files = _files(result)
    with draft_of(folder) as draft:
        draft.mkdir(parents=True)
        for name, content in files.items():
            (draft / name).write_bytes(content)
    return folder


def _files(result: Condensation) -> dict[str, bytes]:
    files = {
        "rows.parquet": parquet(result.table),
        "rows.csv": csv(result.readable),
        "encoder.json": result.encoder.to_json().encode(),
        "recipe.toml": tomli_w.dumps(result.recipe).encode(),
        "metrics.json": json.dumps(result.metrics, indent=2, allow_nan=False).encode() + b"\n",
        "card.md": card(result).encode(),
        REPORT: report(result).encode(),
    }
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    files[CHECKSUMS] = croissant(result, sums).encode()
    return files


def parquet(table: pd.DataFrame) -> bytes:
    """A table as Parquet bytes without pandas' own metadata: the same table gives the same bytes."""
    buffer = io.BytesIO()
    arrow = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(arrow, buffer, compression="zstd")
    return buffer.getvalue()


def read_release(folder: Path, *, checked: Sequence[str] = CHECKED) -> Release:
    """The release in a folder (or in a run folder's ``release``); any missing or changed file is an error.

    ``checked`` names the files that must be whole, for a caller who will write one of the others again.
    """
    folder = release_in(folder)
    sums = _checksums(folder)
    contents = {name: _checked(folder / name, sums.get(name)) for name in checked}
    recipe = tomllib.loads(contents["recipe.toml"].decode())
    kind = SeriesEncoder if "steps" in recipe["network"] else Encoder
    encoder = kind.from_json(contents["encoder.json"].decode())
    table = pq.read_table(io.BytesIO(contents["rows.parquet"])).to_pandas()
    x, p = _rows(table, encoder, recipe["labels"])
    return Release(
        x.reshape(-1, *encoder.shape),
        p[:, 1] if p.shape[1] == 2 else p,
        encoder,
        recipe,
        Results.from_json(json.loads(contents["metrics.json"])),
    )


def rebuild_report(folder: Path) -> Path:
    """Write ``report.html`` of the release in a folder again, and its new checksum; the path of the report.

    All other files must be unchanged; the report itself may be missing. What an old release did not measure is left
    out.
    """
    folder = release_in(folder)
    release = read_release(folder, checked=[name for name in CHECKED if name != REPORT])
    page = report(condensation_of(release)).encode()
    text = (folder / CHECKSUMS).read_text("utf-8")
    old, new = _checksums(folder)[REPORT], hashlib.sha256(page).hexdigest()
    write_atomically(folder / REPORT, page)
    write_atomically(folder / CHECKSUMS, text.replace(old, new).encode())
    return folder / REPORT


def condensation_of(release: Release) -> Condensation:
    """The condensation that a release describes, as far as the release holds it."""
    labels = release.recipe["labels"]
    return Condensation(
        x=release.x,
        targets=release.targets,
        target=labels["target"],
        classes=tuple(labels["classes"]),
        encoder=release.encoder,
        recipe=release.recipe,
        results=release.results,
        settings=dict(release.results.settings or {}),
        notes=release.results.notes or (),
    )


def release_in(folder: Path) -> Path:
    """The release folder itself, where a run folder around it may have been named."""
    folder = Path(folder)
    return folder / "release" if (folder / "release").is_dir() else folder


def _rows(table: pd.DataFrame, encoder: Encoder | SeriesEncoder, labels: dict[str, Any]) -> tuple[np.ndarray, ...]:
    """Features and class probabilities of the rows, each once; the probability of a hard label is 1."""
    target, classes = labels["target"], labels["classes"]
    x = table[list(encoder.column_names)].to_numpy(np.float32)
    own = np.stack([(table[target] == name).to_numpy(np.float32) for name in classes], axis=1)
    if labels["kind"] == "hard":
        return x, own
    p = table[[f"{target}={name}" for name in classes]].to_numpy(np.float32)
    if "weight" not in labels:  # as of 0.1: one line for each row
        return x, p
    first = begins_row(np.hstack([x, p]), own.argmax(axis=1))
    return x[first], p[first]


def _checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    if not path.is_file():
        raise FileError(f"asked for the release in {folder}, but there is none (no croissant.json); check the path")
    try:
        return {entry["name"]: entry["sha256"] for entry in json.loads(path.read_text("utf-8"))["distribution"]}
    except (ValueError, KeyError, TypeError):
        raise _tampered(path) from None


def _checked(path: Path, expected: str | None) -> bytes:
    content = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(content).hexdigest() != expected:
        raise _tampered(path)
    return content


def _tampered(path: Path) -> TamperedError:
    return TamperedError(
        f"asked to read the release, but {path.name} is missing, truncated or was changed after it was written; "
        "take the release from its source again"
    )
