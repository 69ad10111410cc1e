"""Parquet and Feather: tables whose columns have names and types already."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import feather, parquet

from aliquot.cohort.checks import check_names
from aliquot.cohort.found import Found
from aliquot.cohort.tables.table import Table


def read_parquet(path: Path) -> Table:
    """The table in a Parquet file; a named index is a column."""
    with parquet.ParquetFile(path) as file:  # not read_table, which reads meaning into folder names
        check_names(file.schema_arrow.names)
        return Table(_to_pandas(file.read()), Found(format="Parquet"))


def read_feather(path: Path) -> Table:
    """The table in a Feather file."""
    table = feather.read_table(path, memory_map=False)
    check_names(table.column_names)
    return Table(_to_pandas(table), Found(format="Feather"))


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    frame = table.to_pandas(split_blocks=True, self_destruct=True)
    named = [name for name in frame.index.names if name is not None]
    return frame.reset_index(named).reset_index(drop=True) if named else frame.reset_index(drop=True)
