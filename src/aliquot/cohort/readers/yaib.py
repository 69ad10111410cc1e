"""ICU stays of a task of YAIB, Yet Another ICU Benchmark (van de Water et al. 2024), with one outcome per stay.

A folder, such as ``mortality24/miiv``, holds three Parquet files as YAIB-cohorts writes them: ``dyn.parquet`` with
one row per stay and hour, ``sta.parquet`` and ``outc.parquet`` with one row per stay.

Checked in rvandewater/YAIB (commit 4989502): names of files and of the columns ``stay_id``, ``time``, ``label`` in
configs/tasks/common/PredictionTaskVariables.gin; types in demo_data (whole ``stay_id``; ``time`` as duration in
seconds, on full hours from 0; variables as double; ``label`` whole, truth value or double); stays are those of the
outcomes in icu_benchmarks/data/split_process_data.py, which also draws the splits again for each run. In
rvandewater/YAIB-cohorts (commit 06dda0d): R/mortality.R, and Python/src/ricu_utils.py, where ``time`` is whole hours;
both take measurements from ricu, whose ``round_to`` rounds times down.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute, parquet

from aliquot.cohort.datasets import Dataset
from aliquot.cohort.options import Option
from aliquot.cohort.readers.files import is_number, is_text, open_parquet, refuse
from aliquot.cohort.records import Records
from aliquot.cohort.values import LARGEST
from aliquot.cohort.wording import counted, quoted
from aliquot.disclosure import masked_count
from aliquot.errors import FileError, SettingsError

_STAY, _TIME, _LABEL = "stay_id", "time", "label"

_INDEX = re.compile(r"__index_level_[0-9]+__")  # row labels that pandas left behind
_SECONDS_PER_HOUR = 3600
_REMEDY = "make the three files with YAIB-cohorts again"


def read_yaib(folder: Path, *, hours: int | None = None) -> Records:
    """Stays on an hourly grid: series (n, T, C) of the dynamic variables, the static ones in the table.

    Variables keep their names, units and order, gaps stay missing. Hour k is the row of ``dyn.parquet`` with time k;
    YAIB puts there what was measured from k up to k + 1, so that a task on the first 24 hours has 25 rows.

    =================================  ==========================================================
    in the files                       in the records
    =================================  ==========================================================
    ``hours`` not given                T reaches to the latest row of any stay
    rows from ``hours`` on             left out, with a note
    a shorter stay                     missing after its end
    a stay without an outcome          left out, with a note, as YAIB does
    a variable without any value       left out, with a note
    patients, a split                  YAIB has none: ``groups`` and ``roles`` are None
    outcomes at several times          refused: AKI, sepsis, length of stay
    an outcome that is a number        refused: kidney function
    =================================  ==========================================================

    >>> import tempfile
    >>> rows = pd.DataFrame({"stay_id": [7, 7, 8], "time": [0, 2, 1], "hr": [80.0, 95.0, 70.0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows.to_parquet(Path(folder, "dyn.parquet"))
    ...     pd.DataFrame({"stay_id": [7, 8], "age": [61.0, 74.0]}).to_parquet(Path(folder, "sta.parquet"))
    ...     pd.DataFrame({"stay_id": [7, 8], "label": [0, 1]}).to_parquet(Path(folder, "outc.parquet"))
    ...     records = read_yaib(Path(folder))
    >>> records.series[:, :, 0].tolist(), records.labels.tolist(), records.frame["age"].tolist()
    ([[80.0, nan, 95.0], [nan, 70.0, nan]], [0, 1], [61.0, 74.0])
    """
    if hours is not None and (hours < 1 or hours % 1):
        raise SettingsError(f"asked for the first {hours:g} hours; ask for a whole number from 1")
    folder = Path(folder)
    outcomes = _read_outcomes(folder / "outc.parquet")
    frame, unlabelled = _read_static(folder / "sta.parquet", outcomes.index)
    series, channels, notes = _read_dynamic(folder / "dyn.parquet", outcomes.index, hours and int(hours))
    if unlabelled:
        notes = (f"left out {masked_count(unlabelled, 'stay')} without an outcome", *notes)
    return Records(
        labels=outcomes.to_numpy(dtype=np.int8),
        ids=outcomes.index.to_numpy().astype(str),
        frame=frame,
        series=series,
        channels=channels,
        target=_LABEL,
        notes=(*notes, "there is no patient number: stays of one patient may fall on both sides of a split"),
    )


def _is_stay(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or is_text(kind)


def _is_time(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_duration(kind)


def _read_outcomes(path: Path) -> pd.Series:
    """Labels (0 or 1) by stay, in the order of the file."""
    with open_parquet(path, {_STAY: _is_stay, _LABEL: is_number}, _REMEDY) as file:
        stays, timed = _stays(path, file), _TIME in file.schema_arrow.names
        labels = _values(file, _LABEL)
    repeated = int(stays.duplicated().sum())
    if timed and repeated:
        raise FileError(
            f"{str(path)!r} has outcomes at several times of a stay ({counted(repeated, 'row')} more than stays); "
            "choose a task with one outcome per stay, such as mortality24"
        )
    found = {
        f"whose {_STAY} came before": stays.duplicated(),
        f"whose {_LABEL} is not 0 or 1": ~np.isin(labels, (0, 1)),
    }
    refuse(path, found, remedy="choose a task with one outcome per stay, 0 or 1, such as mortality24")
    return pd.Series(labels, index=stays)


def _read_static(path: Path, stays: pd.Index) -> tuple[pd.DataFrame, int]:
    """The static variables of the stays, and how many other stays the file has."""
    with open_parquet(path, {_STAY: _is_stay}, _REMEDY) as file:
        found = _stays(path, file)
        names = [name for name in file.schema_arrow.names if name != _STAY and not _INDEX.fullmatch(name)]
        frame = file.read(columns=names).to_pandas(ignore_metadata=True)
    refuse(path, {f"whose {_STAY} came before": found.duplicated()}, remedy=_REMEDY)
    rows = found.get_indexer(stays)
    _check_present(path, int((rows < 0).sum()))
    return frame.iloc[rows].reset_index(drop=True), len(found) - len(stays)


def _read_dynamic(
    path: Path, stays: pd.Index, hours: int | None
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """Series, names and notes; one column at a time, so that memory is little more than for the series."""
    with open_parquet(path, {_STAY: _is_stay, _TIME: _is_time}, _REMEDY) as file:
        schema = file.schema_arrow
        names = [name for name in schema.names if name not in (_STAY, _TIME) and not _INDEX.fullmatch(name)]
        texts = [name for name in names if not is_number(schema.field(name).type)]
        if texts or not names:
            found = f"variables that are not numbers: {quoted(texts)}" if texts else "no variables"
            raise FileError(f"{str(path)!r} has {found}; {_REMEDY}")
        row, hour = stays.get_indexer(_stays(path, file)), _hours(path, file)
        _check_present(path, len(stays) - len(np.unique(row[row >= 0])))
        within = (row >= 0) & (hour < (hours or np.inf))
        late = int(((row >= 0) & ~within).sum())
        row, hour = row[within], hour[within]
        _check_once(path, row, hour)
        series = np.full((len(stays), hours or hour.max() + 1, len(names)), np.nan, dtype=np.float32)
        for place, name in enumerate(names):
            values = _values(file, name)
            refuse(path, {f"with an infinite {name!r}": np.abs(values) > LARGEST}, remedy=_REMEDY)
            series[row, hour, place] = values[within]
    measured = np.array([np.isfinite(series[:, :, place]).any() for place in range(len(names))])
    notes = [f"left out {masked_count(late, 'row')} from hour {hours} on"] if late else []
    if not measured.all():
        notes.append(f"left out {quoted(np.array(names)[~measured].tolist())}, which no stay has")
        series = series[:, :, measured]
    return series, tuple(np.array(names)[measured].tolist()), tuple(notes)


def _stays(path: Path, file: parquet.ParquetFile) -> pd.Index:
    column = file.read(columns=[_STAY])[_STAY]
    refuse(path, {f"without a {_STAY}": np.ones(column.null_count)}, remedy=_REMEDY)
    texts = compute.cast(column, pa.string()) if is_text(column.type) else column
    return pd.Index(texts.to_numpy())


def _hours(path: Path, file: parquet.ParquetFile) -> np.ndarray:
    """Whole hours since admission."""
    column = file.read(columns=[_TIME])[_TIME]
    if pa.types.is_duration(column.type):
        hours = column.to_numpy().astype("timedelta64[s]").astype(np.float64) / _SECONDS_PER_HOUR
        hours[column.is_null().to_numpy()] = np.nan
    else:
        hours = _numbers(column)
    found = {f"whose {_TIME} is not a whole number of hours from 0": ~((hours >= 0) & (hours == np.floor(hours)))}
    refuse(path, found, remedy=_REMEDY)
    return hours.astype(np.int64)


def _values(file: parquet.ParquetFile, name: str) -> np.ndarray:
    return _numbers(file.read(columns=[name])[name])


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return compute.cast(column, pa.float64()).to_numpy()  # gaps become NaN


def _check_present(path: Path, absent: int) -> None:
    if absent:
        raise FileError(f"{str(path)!r} lacks {counted(absent, 'stay')} of 'outc.parquet'; {_REMEDY}")


def _check_once(path: Path, row: np.ndarray, hour: np.ndarray) -> None:
    if not row.size:
        raise FileError(f"{str(path)!r} has nothing in the hours asked for; ask for more hours")
    repeated = len(row) - len(np.unique(row * (hour.max() + 1) + hour))
    refuse(path, {f"whose {_STAY} and {_TIME} came before": np.ones(repeated)}, remedy=_REMEDY)


YAIB = Dataset(
    name="yaib",
    title="YAIB cohorts with one outcome per stay",
    files="dyn.parquet, sta.parquet and outc.parquet",
    licence="that of the source (MIMIC, eICU, HiRID, AUMCdb); credentialed access",
    read=read_yaib,
    options={"hours": Option("of each stay, from its beginning", float)},
)
