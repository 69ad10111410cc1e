"""Tables that a command writes: the ending of the name says how."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aliquot.errors import FileError

if TYPE_CHECKING:
    import pandas as pd


def writer_of(path: Path) -> "Callable[[pd.DataFrame], bytes]":
    """What makes the content of a file of that name from a table; an error before any work where nothing does.

    >>> writer_of(Path("new.xlsx"))
    Traceback (most recent call last):
    ...
    aliquot.errors.FileError: asked to write new.xlsx; choose a name that ends in .parquet or .csv
    """
    from aliquot.release.bundle import parquet
    from aliquot.release.spreadsheet import csv

    writers = {".parquet": parquet, ".csv": csv}
    if path.suffix.lower() not in writers:
        raise FileError(f"asked to write {path.name}; choose a name that ends in {' or '.join(writers)}")
    if path.is_dir():
        raise FileError(f"asked to write {path}, but that is a folder; choose another name")
    if not path.absolute().parent.is_dir():
        raise FileError(f"asked to write {path}, but there is no such folder; make it first")
    return writers[path.suffix.lower()]
