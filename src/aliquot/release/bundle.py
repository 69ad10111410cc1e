"""The release folder: written whole or not at all, read back only if unchanged; its report can be written again."""

import hashlib
import io
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w
from jinja2 import TemplateError
from msgspec import Meta

from aliquot.cohort import Encoder, SeriesEncoder
from aliquot.drafts import draft_of, write_atomically
from aliquot.errors import AliquotError, FileError, RunFolderError, TamperedError
from aliquot.evaluate.results import Results
from aliquot.loading import MOST_BYTES, NotAsWrittenError, content_of, expecting, json_in, require, text_of
from aliquot.release.card import card
from aliquot.release.condensation import Condensation
from aliquot.release.contents import MOST_ROWS, read_results, read_rows
from aliquot.release.croissant import croissant
from aliquot.release.expand import Expansion, expand
from aliquot.release.recipe import check_shape, read_recipe
from aliquot.release.report import report
from aliquot.release.spreadsheet import csv

UNFIT = (
    *(ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError, TemplateError),
    RuntimeWarning,
)
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


@dataclass(frozen=True)
class _File:
    name: str
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True)
class _Description:
    distribution: list[_File]


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
    with expecting(_tampered("recipe.toml")):
        recipe = read_recipe(contents["recipe.toml"])
    with expecting(_tampered("encoder.json")):
        kind = SeriesEncoder if "steps" in recipe["network"] else Encoder
        encoder = kind.from_json(text_of(contents["encoder.json"]))
    with expecting(_tampered("recipe.toml")):
        check_shape(recipe, encoder.shape)
    with expecting(_tampered("metrics.json")):
        results = read_results(contents["metrics.json"], recipe, encoder.shape)
    with expecting(_tampered("rows.parquet")):
        x, p = read_rows(contents["rows.parquet"], encoder.column_names, recipe["labels"])
    return Release(
        x.reshape(-1, *encoder.shape),
        p[:, 1] if p.shape[1] == 2 else p,
        encoder,
        recipe,
        results,
    )


def rebuild_report(folder: Path) -> Path:
    """Write ``report.html`` of the release in a folder again, and its new checksum; the path of the report.

    All other files must be unchanged; the report itself may be missing. What an old release did not measure is left
    out.
    """
    folder = release_in(folder)
    release = read_release(folder, checked=[name for name in CHECKED if name != REPORT])
    with expecting(_tampered("metrics.json")):
        page = _page(condensation_of(release)).encode()
    with expecting(_tampered(CHECKSUMS)):
        text = text_of(content_of(folder / CHECKSUMS))
        old = _checksums(folder).get(REPORT)
        require(old is not None)
    new = hashlib.sha256(page).hexdigest()
    write_atomically(folder / REPORT, page)
    write_atomically(folder / CHECKSUMS, text.replace(str(old), new).encode())
    return folder / REPORT


def _page(result: Condensation) -> str:
    """The report, of numbers that were in one before: where it cannot be drawn from them, they are others."""
    with warnings.catch_warnings(action="error", category=RuntimeWarning):  # of numbers that overflow
        try:
            return report(result)
        except AliquotError:
            raise
        except UNFIT:
            raise NotAsWrittenError("no report can be drawn from it") from None


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


def _checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    if not path.is_file():
        raise FileError(f"asked for the release in {folder}, but there is none (no croissant.json); check the path")
    with expecting(_tampered(CHECKSUMS)):
        return {entry.name: entry.sha256 for entry in json_in(path, _Description).distribution}


def _checked(path: Path, expected: str | None) -> bytes:
    with expecting(_tampered(path.name)):
        content = content_of(path, MOST_ROWS if path.name == "rows.parquet" else MOST_BYTES)
        require(hashlib.sha256(content).hexdigest() == expected)
    return content


def _tampered(name: str) -> TamperedError:
    return TamperedError(
        f"asked to read the release, but {name} is missing, truncated or was changed after it was written; "
        "take the release from its source again"
    )
