"""Tables from files. Errors of pandas and pyarrow may quote cells, so they are replaced, never chained."""

import csv
import gzip
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import feather, parquet

from aliquot.cohort.checks import check_names, check_rows
from aliquot.cohort.series import Series
from aliquot.cohort.stays import Stays
from aliquot.cohort.values import infinite
from aliquot.cohort.wording import counted
from aliquot.errors import AliquotError, FileError, SchemaError


def read_table(path: str | Path) -> pd.DataFrame:
    """The table in a .csv, .tsv (both also .gz), .parquet, .feather or .npz file.

    Empty cells and the usual markers (NA, N/A, NaN, null, None, …) are missing. An .npz file holds ``X``
    (2-D) and optionally ``y``, ``ids`` (one entry per row) and ``names`` (one per column); it becomes the columns
    ``x0``, ``x1``, … or ``names``, then ``y``, then ``id``.

    Guarantees: two or more rows, and every column has a name of its own.
    """
    patients = read_patients(path)
    if patients.series is not None:
        raise SchemaError(f"the file {str(path)!r} has X with three dimensions; pass a table, with X of two")
    return patients.frame


def read_patients(path: str | Path) -> Stays:
    """The table in a file, or the series in an .npz file whose ``X`` has three dimensions: stays, hours, channels.

    ``names`` are then those of the channels, and ``y`` and ``ids`` become a table of the columns ``y`` and ``id``.
    """
    path = Path(path)
    reader = _reader(path)
    try:
        found = reader(path)
    except (AliquotError, MemoryError):
        raise
    except Exception:  # a damaged file can raise anything, down to SyntaxError from numpy's header
        raise FileError(
            f"the file {str(path)!r} cannot be read as the table that its name promises; check that it is "
            "complete, unchanged and (for text) saved as UTF-8"
        ) from None
    patients = found if isinstance(found, Stays) else Stays(found)
    check_rows(patients.frame)
    return patients


def fingerprint(frame: pd.DataFrame) -> str:
    """SHA-256 of names, types and cells, to notice data that changed between runs; row labels do not count.

    >>> fingerprint(pd.DataFrame({"age": [61, 74]})) == fingerprint(pd.DataFrame({"age": [61, 75]}))
    False
    """
    digest = hashlib.sha256(repr(frame.shape).encode())
    for place, name in enumerate(frame.columns):
        cells = frame.iloc[:, place]
        try:
            hashes = pd.util.hash_pandas_object(cells, index=False)
        except (TypeError, ValueError):  # lists or dictionaries in the cells
            hashes = pd.util.hash_pandas_object(cells.map(str), index=False)
        digest.update(repr((str(name), str(cells.dtype))).encode())
        digest.update(hashes.to_numpy().tobytes())
    return digest.hexdigest()


def _reader(path: Path) -> Callable[[Path], pd.DataFrame | Stays]:
    if not path.exists():
        raise FileError(f"the file {str(path)!r} does not exist; check the name and the folder")
    if path.is_dir():
        raise FileError(f"{str(path)!r} is a folder, not a table; name a file in it")
    for suffix, reader in _READERS.items():
        if path.name.lower().endswith(suffix):
            return reader
    raise FileError(f"the file {str(path)!r} has no known ending; use one of: {', '.join(_READERS)}")


def _read_comma(path: Path) -> pd.DataFrame:
    return _read_text(path, ",")


def _read_tab(path: Path) -> pd.DataFrame:
    return _read_text(path, "\t")


def _read_text(path: Path, separator: str) -> pd.DataFrame:
    with _open_text(path) as lines:
        _check_text(path, csv.reader(lines, delimiter=separator))
    with _open_text(path) as lines:
        return pd.read_csv(lines, sep=separator, low_memory=False)


def _open_text(path: Path) -> IO[str]:
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8-sig", newline="")  # type: ignore[return-value]


def _check_text(path: Path, rows: Iterator[list[str]]) -> None:
    """One pass before pandas, which would rename repeated columns and fill up short rows in silence."""
    header = next((row for row in rows if row), [])
    if not header:
        raise FileError(f"the file {str(path)!r} is empty; pass a table with a line of column names")
    if any("\0" in name for name in header):
        raise FileError(f"the file {str(path)!r} is not text; check that it is a table and has the right ending")
    check_names(header)
    ragged = sum(len(row) != len(header) for row in rows if row)
    if ragged:
        raise FileError(
            f"the file {str(path)!r} has {counted(ragged, 'line')} with more or fewer cells than its "
            f"{len(header)} column names; fix these lines or export the table again"
        )


def _read_parquet(path: Path) -> pd.DataFrame:
    with parquet.ParquetFile(path) as file:  # not read_table, which reads meaning into folder names
        check_names(file.schema_arrow.names)
        return _to_pandas(file.read())


def _read_feather(path: Path) -> pd.DataFrame:
    table = feather.read_table(path, memory_map=False)
    check_names(table.column_names)
    return _to_pandas(table)


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    frame = table.to_pandas(split_blocks=True, self_destruct=True)
    named = [name for name in frame.index.names if name is not None]
    return frame.reset_index(named).reset_index(drop=True) if named else frame.reset_index(drop=True)


def _read_npz(path: Path) -> pd.DataFrame | Stays:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        stored = {key: arrays[key] for key in ("X", "y", "names", "ids") if key in arrays}
    values = stored.get("X")
    if values is None or values.ndim not in (2, 3) or values.dtype.kind not in "biuf":
        raise SchemaError(f"the file {str(path)!r} has no array X of numbers with two or three dimensions; store one")
    for key, length in (("y", len(values)), ("ids", len(values)), ("names", values.shape[-1])):
        if key in stored and stored[key].shape != (length,):
            raise SchemaError(
                f"the file {str(path)!r} has {key} of shape {stored[key].shape}; with X of shape "
                f"{values.shape} it must be ({length},)"
            )
    names = [str(name) for name in stored.get("names", [f"x{place}" for place in range(values.shape[-1])])]
    extra = {column: pd.Series(stored[key]) for key, column in (("y", "y"), ("ids", "id")) if key in stored}
    check_names([*names, *extra])
    if values.ndim == 2:
        return pd.concat([pd.DataFrame(values, columns=pd.Index(names)), pd.DataFrame(extra)], axis=1)
    if values.dtype.kind == "f" and infinite(values):
        raise SchemaError(f"the file {str(path)!r} has X with infinite numbers; store NaN where nothing was measured")
    table = pd.DataFrame(extra, index=range(len(values)))
    return Stays(table, Series(values.astype(np.float32), tuple(names)), "id" if "id" in extra else None)


_READERS: dict[str, Callable[[Path], pd.DataFrame | Stays]] = {
    ".csv": _read_comma,
    ".csv.gz": _read_comma,
    ".tsv": _read_tab,
    ".tsv.gz": _read_tab,
    ".parquet": _read_parquet,
    ".feather": _read_feather,
    ".npz": _read_npz,
}
