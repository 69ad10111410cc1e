"""Tables from files and databases. Errors of the packages that read them may quote cells, so they are replaced."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pandas as pd

from aliquot.cohort.checks import check_rows
from aliquot.cohort.stays import Stays
from aliquot.cohort.tables import Query, Table, read_file, read_query
from aliquot.errors import AliquotError, FileError, SchemaError


def read_table(path: str | Path, sheet: str | None = None) -> pd.DataFrame:
    """The table in a file, in any format that :data:`aliquot.cohort.tables.ENDINGS` names.

    Encoding, separator, decimal mark and the line of names of a text are found out; ``sheet`` names the one of a
    workbook, or the data frame of an R file. Empty cells and the usual markers (NA, N/A, NaN, null, None, …) are
    missing. An .npz file holds ``X`` (2-D) and optionally ``y``, ``ids`` (one entry per row) and ``names`` (one per
    column); it becomes the columns ``x0``, ``x1``, … or ``names``, then ``y``, then ``id``.

    Guarantees: two or more rows, and every column has a name of its own.
    """
    patients = read_patients(path, sheet)
    if patients.series is not None:
        raise SchemaError(f"the file {str(path)!r} has X with three dimensions; pass a table, with X of two")
    return patients.frame


def read_patients(place: str | Path | Query, sheet: str | None = None) -> Stays:
    """The table in a file or in the answer of a database, or the series in an .npz file with X of three dimensions.

    Dimensions are then stays, hours and channels; ``names`` are those of the channels, and ``y`` and ``ids`` become a
    table of the columns ``y`` and ``id``. What the format turned out to be is the result's ``found``.
    """
    table = read_query(place) if isinstance(place, Query) else _read_file(Path(place), sheet)
    patients = table.patients if isinstance(table.patients, Stays) else Stays(table.patients)
    check_rows(patients.frame)
    rows, columns = patients.frame.shape
    return replace(patients, found=replace(table.found, rows=rows, columns=columns + len(patients.channels)))


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


def _read_file(path: Path, sheet: str | None) -> Table:
    try:
        return read_file(path, sheet)
    except (AliquotError, MemoryError):
        raise
    except Exception:  # a damaged file can raise anything, down to SyntaxError from numpy's header
        raise FileError(
            f"the file {str(path)!r} cannot be read as the table that its name promises; check that it is "
            "complete, unchanged and (for text) saved as UTF-8"
        ) from None
