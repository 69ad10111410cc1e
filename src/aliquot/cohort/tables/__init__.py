"""Tables as people have them: one module for each family of formats, listed by the ending of the file's name."""

from collections.abc import Callable
from pathlib import Path

from aliquot.cohort.found import Found
from aliquot.cohort.tables.arrays import read_npz
from aliquot.cohort.tables.columnar import read_feather, read_parquet
from aliquot.cohort.tables.packages import read_r, read_sas, read_spss, read_stata
from aliquot.cohort.tables.query import Query, read_query
from aliquot.cohort.tables.table import Table
from aliquot.cohort.tables.text import read_text
from aliquot.cohort.tables.workbook import read_workbook
from aliquot.errors import FileError

__all__ = ["ENDINGS", "Found", "Query", "Table", "read_file", "read_query"]

_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_WITH_SHEETS: dict[str, Callable[[Path, str | None], Table]] = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), read_workbook),
    **dict.fromkeys((".rds", ".rdata", ".rda"), read_r),
}
_READERS: dict[str, Callable[[Path], Table]] = {
    **dict.fromkeys(_TEXT, read_text),
    ".parquet": read_parquet,
    ".feather": read_feather,
    ".npz": read_npz,
    ".dta": read_stata,
    **dict.fromkeys((".sas7bdat", ".xpt"), read_sas),
    **dict.fromkeys((".sav", ".zsav"), read_spss),
}
ENDINGS = (*_READERS, *_WITH_SHEETS)


def read_file(path: Path, sheet: str | None = None) -> Table:
    """What is in a file, by the ending of its name; ``sheet`` names one of several tables in it."""
    if not path.exists():
        raise FileError(f"the file {str(path)!r} does not exist; check the name and the folder")
    if path.is_dir():
        raise FileError(f"{str(path)!r} is a folder, not a table; name a file in it")
    name = path.name.lower()
    for ending, reader in _WITH_SHEETS.items():
        if name.endswith(ending):
            return reader(path, sheet)
    if sheet is not None:
        raise FileError(f"asked for a sheet of {str(path)!r}, which has none; leave out sheet=…")
    for ending, reader in _READERS.items():
        if name.endswith(ending):
            return reader(path)
    raise FileError(f"the file {str(path)!r} has no known ending; use one of: {', '.join(ENDINGS)}")
