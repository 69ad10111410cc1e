"""Windows before each label of a dataset in the Medical Event Data Standard (MEDS), version 0.4 or 0.3.

A folder holds events as ``data/**/*.parquet`` (columns ``subject_id``, ``time``, ``code`` and perhaps
``numeric_value``), and perhaps a split as ``metadata/subject_splits.parquet``; other metadata are not read.
Labels are Parquet files elsewhere, with ``subject_id``, ``prediction_time`` and ``boolean_value``.

Checked in Medical-Event-Data-Standard/meds (commit 0fd1ff6, schema as in release 0.4.0): columns, types and paths in
src/meds/schema.py; a subject is in one file only; ``time`` is null for static measurements; ``numeric_value`` may be
absent. ``LabelSchema``: "data may be used from this subject up to and including this time".
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute

from aliquot.cohort.datasets import Dataset
from aliquot.cohort.options import Option
from aliquot.cohort.readers.files import LIMIT_BYTES, is_number, is_text, open_parquet, refuse
from aliquot.cohort.records import Records
from aliquot.cohort.roles import ROLES, draw_tuning
from aliquot.cohort.values import LARGEST
from aliquot.cohort.wording import counted, listed, quoted
from aliquot.disclosure import masked_count
from aliquot.errors import FileError, SchemaError, SettingsError

_SUBJECT, _TIME, _CODE, _NUMBER = "subject_id", "time", "code", "numeric_value"
_PREDICTION, _LABEL, _SPLIT = "prediction_time", "boolean_value", "split"
_BIRTH, _AGE = "MEDS_BIRTH", "age_years"

_HOUR = 3_600_000_000  # microseconds
_YEAR = 365.25 * 24 * _HOUR
_REMEDY = "make the dataset again with a tool for MEDS 0.4"


def read_meds(
    folder: Path,
    labels: Path,
    *,
    hours: float,
    step_hours: float = 1.0,
    codes: Sequence[str] | None = None,
    minimum_share: float = 0.01,
    limit_bytes: int = LIMIT_BYTES,
    seed: int = 0,
) -> Records:
    """One row per label, by subject and time: what happened in the ``hours`` up to its prediction time.

    ``labels`` is a Parquet file or a folder of them. A window is (prediction time − hours, prediction time]: by the
    standard, the prediction time itself may be used and nothing after it. Step k of the T = hours / step_hours steps
    holds (start + k·step, start + (k + 1)·step].

    ====================================  ================================================================
    events                                in the records
    ====================================  ================================================================
    of a code with numbers                channel of the series: the last number of each step, else missing
    of a code that never has numbers      channel of the series: 1 in each step where it occurs, else 0
    without time, with numbers            column of the table: the last number, else missing
    without time, never numbers           column of the table: whether the subject has it
    ``MEDS_BIRTH``                        column ``age_years`` of the table: age at the prediction time
    texts, and other columns              not read
    ====================================  ================================================================

    ``codes`` names what to take, and their order. Without it, a code is taken when it occurs in ``minimum_share`` of
    the windows. What occurs, and whether as numbers, is learned from the training part, or from all if there is no
    split. Series that would take more than ``limit_bytes`` are refused.

    The split of the dataset gives the roles. Where it has no tuning part, one is drawn from train with ``seed``;
    where it has no train or held_out, ``roles`` is None. Every shard is read twice, one at a time.

    >>> import tempfile
    >>> from datetime import datetime
    >>> from pyarrow import parquet
    >>> moments = [None, datetime(2150, 1, 1, 9), datetime(2150, 1, 1, 11), datetime(2150, 1, 1, 11, 30)] * 2
    >>> events = {"subject_id": [1] * 4 + [2] * 4, "time": moments, "code": ["SEX//F", "HR", "HR", "VENT"] * 2}
    >>> events["numeric_value"] = pa.array([None, 80, 95, None, None, 70, 60, None], pa.float32())
    >>> asked = {"subject_id": [1, 2], "prediction_time": [moments[2]] * 2, "boolean_value": [True, False]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "data").mkdir()
    ...     parquet.write_table(pa.table(events), Path(folder, "data", "0.parquet"))
    ...     parquet.write_table(pa.table(asked), Path(folder, "died.parquet"))
    ...     records = read_meds(Path(folder), Path(folder, "died.parquet"), hours=3)
    >>> records.channels, records.series[:, :, 0].tolist(), records.frame.columns.tolist()
    (('HR',), [[80.0, nan, 95.0], [70.0, nan, 60.0]], ['SEX//F'])
    """
    folder, labels = Path(folder), Path(labels)
    _check_settings(hours, step_hours, codes, minimum_share)
    shards = sorted((folder / "data").rglob("*.parquet"))
    if not shards:
        raise FileError(f"the folder {str(folder)!r} has no Parquet files in 'data'; name the root of a MEDS dataset")
    asked = _read_labels(labels)
    outcomes = asked[_LABEL].to_numpy(dtype=np.int8)
    steps, step = round(hours / step_hours), round(step_hours * _HOUR)
    windows = _Windows(asked[_SUBJECT].to_numpy(), asked[_PREDICTION].to_numpy(), steps, step)
    roles, notes = _read_roles(folder / "metadata" / "subject_splits.parquet", outcomes, windows, seed)
    train = np.ones(len(asked), dtype=bool) if roles is None else roles == "train"
    timed, static, empty = _tally(folder, shards, windows, train)
    timed, static = _choose(timed, static, codes, minimum_share * train.sum())
    _check_size((len(asked), steps, len(timed)), limit_bytes)
    series, table = _fill(shards, windows, timed, static)
    moments = np.datetime_as_string(windows.end.astype("datetime64[us]"))
    return Records(
        labels=outcomes,
        ids=np.array([f"{subject}@{moment}" for subject, moment in zip(windows.subject, moments, strict=True)]),
        frame=_frame(table, static),
        series=series,
        channels=tuple(timed.index),
        step_hours=step_hours,
        groups=windows.subject.astype(str),
        roles=roles,
        target=labels.stem,
        notes=(*notes, f"{masked_count(empty, 'window')} without any event") if empty else notes,
    )


@dataclass(frozen=True, eq=False)
class _Windows:
    """The windows of all labels, sorted by subject and end; times are in microseconds."""

    subject: np.ndarray  # (n,) int64
    end: np.ndarray  # (n,) int64
    steps: int
    step: int

    @cached_property
    def subjects(self) -> np.ndarray:
        """Every subject once, ascending."""
        return np.unique(self.subject)

    @cached_property
    def ends(self) -> np.ndarray:
        """Every end once, ascending."""
        return np.unique(self.end)

    @cached_property
    def keys(self) -> np.ndarray:
        """A number for each window, ascending like the windows."""
        return self._key(self.subject, self.end)

    def ending(self, subject: np.ndarray, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each event, the windows of its subject that end in [first, last), as start and stop of a range."""
        return np.searchsorted(self.keys, self._key(subject, first)), np.searchsorted(
            self.keys, self._key(subject, last)
        )

    def _key(self, subject: np.ndarray, end: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.subjects, subject) * (len(self.ends) + 1) + np.searchsorted(self.ends, end)


def _check_settings(hours: float, step_hours: float, codes: Sequence[str] | None, minimum_share: float) -> None:
    possible = step_hours * _HOUR >= 1 and 0 < hours < math.inf
    if not (possible and math.isclose(round(hours / step_hours) * step_hours, hours)):
        raise SettingsError(f"asked for {hours:g} hours in steps of {step_hours:g}; ask for one or more whole steps")
    if not 0 <= minimum_share <= 1:
        raise SettingsError(f"asked for a minimum_share of {minimum_share}; ask for one from 0 to 1")
    if codes is not None and (not codes or isinstance(codes, str) or len(set(codes)) < len(codes)):
        raise SettingsError("codes must be a list of one or more different codes; name each once")


def _read_labels(path: Path) -> pd.DataFrame:
    """Subject, end of the window and label, by subject and time."""
    paths = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not paths:
        raise FileError(f"the folder {str(path)!r} has no Parquet files; name a file or folder of MEDS labels")
    kinds = {_SUBJECT: pa.types.is_integer, _PREDICTION: _is_moment, _LABEL: pa.types.is_boolean}
    parts = []
    for part in paths:
        with open_parquet(part, kinds, "make labels of yes or no (boolean_value) for MEDS 0.4") as file:
            table = file.read(columns=[*kinds])
            _refuse_nulls(part, table, kinds)
            moments = _microseconds(table[_PREDICTION])
            columns = {_SUBJECT: table[_SUBJECT].cast(pa.int64()), _PREDICTION: moments, _LABEL: table[_LABEL]}
            parts.append(pd.DataFrame({name: column.to_numpy() for name, column in columns.items()}))
    labels = pd.concat(parts, ignore_index=True)
    found = {f"whose {_SUBJECT} and {_PREDICTION} came before": labels.duplicated([_SUBJECT, _PREDICTION])}
    refuse(path, found, remedy="keep one label for each subject and time")
    yes = int(labels[_LABEL].sum())
    if yes in (0, len(labels)):
        raise FileError(
            f"{str(path)!r} has {counted(yes, 'label')} that are true and {len(labels) - yes} that are false; pass "
            "labels of a task with both outcomes"
        )
    return labels.sort_values([_SUBJECT, _PREDICTION], ignore_index=True)


def _read_roles(
    path: Path, labels: np.ndarray, windows: _Windows, seed: int
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """The role of each window, if the dataset has all that is needed for roles, and notes."""
    if not path.exists():
        return None, ("the dataset has no subject_splits.parquet, so the split is left to Aliquot",)
    kinds = {_SUBJECT: pa.types.is_integer, _SPLIT: is_text}
    with open_parquet(path, kinds, _REMEDY) as file:
        table = file.read(columns=[*kinds])
        _refuse_nulls(path, table, kinds)
        subjects = pd.Index(table[_SUBJECT].cast(pa.int64()).to_numpy())
        splits = pd.Series(table[_SPLIT].cast(pa.string()).to_pylist(), index=subjects)
    refuse(path, {f"whose {_SUBJECT} came before": splits.index.duplicated()}, remedy=_REMEDY)
    roles = splits.reindex(pd.Index(windows.subjects))
    lacking, unknown = int(roles.isna().sum()), int((roles.notna() & ~roles.isin(ROLES)).sum())
    if lacking or unknown:
        raise FileError(
            f"{str(path)!r} has no split for {lacking} of the {len(roles)} subjects with labels, and one that is none "
            f"of {listed(ROLES)} for {unknown}; give these subjects a split or take their labels away"
        )
    roles = roles.to_numpy(dtype=str)[np.searchsorted(windows.subjects, windows.subject)]
    absent = [role for role in ROLES if role not in roles]
    if absent == ["tuning"]:
        note = "no subject for tuning has a label, so 15 % of the training subjects are used for it"
        return draw_tuning(labels, windows.subject, roles, seed=seed), (note,)
    if absent:
        return None, (f"no subject of {listed(absent)} has a label, so the split is left to Aliquot",)
    return roles, ()


def _tally(
    folder: Path, shards: Sequence[Path], windows: _Windows, train: np.ndarray
) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """For codes with and without time, the training windows and numbers of each; and how many windows are empty."""
    seen, filled = np.zeros(len(windows.subjects), dtype=int), np.zeros(len(windows.end), dtype=bool)
    parts = []
    for path in shards:
        events = _read_shard(path, windows)
        seen[np.searchsorted(windows.subjects, events[_SUBJECT].unique())] += 1
        inside = _in_windows(events, windows)
        filled[inside.loc[~inside["static"], "window"]] = True
        groups = inside[train[inside["window"]]].groupby(["static", _CODE], observed=True)
        parts.append(groups.agg(windows=("window", "nunique"), numbers=("value", "count")).reset_index())
    unknown, divided = int((seen == 0).sum()), int((seen > 1).sum())
    if unknown or divided:
        raise FileError(
            f"the data of {str(folder)!r} lack {unknown} of the {len(seen)} subjects with labels and have {divided} in "
            "more than one file; pass labels made from this dataset, or make the dataset again"
        )
    tally = pd.concat(parts).astype({_CODE: str}).groupby(["static", _CODE]).sum().reset_index(0)
    timed, static = (tally[tally["static"] == value] for value in (False, True))
    return timed, static, int((~filled).sum())


def _choose(
    timed: pd.DataFrame, static: pd.DataFrame, codes: Sequence[str] | None, least: float
) -> tuple[pd.Series, pd.Series]:
    """Which codes become channels and which columns, and whether each is a number."""
    if codes is None:
        chosen = [part.index[part["windows"] >= least] for part in (timed, static)]
    else:
        absent = [code for code in codes if code not in timed.index and code not in static.index]
        if absent:
            raise SchemaError(
                f"asked for {counted(len(absent), 'code')} that no training window has: {quoted(absent)}; check the "
                "spelling or leave out what is rare"
            )
        chosen = [pd.Index([code for code in codes if code in part.index]) for part in (timed, static)]
    if not len(chosen[0]):
        raise SchemaError(
            "no code with a time is in enough training windows; lower minimum_share or ask for more hours"
        )
    return timed.loc[chosen[0], "numbers"] > 0, static.loc[chosen[1], "numbers"] > 0


def _check_size(shape: tuple[int, ...], limit_bytes: int) -> None:
    size = math.prod(shape) * 4
    if size > limit_bytes:
        windows, steps, codes = shape
        raise SettingsError(
            f"{windows} windows of {steps} steps with {codes} codes take {size} bytes, more than the {limit_bytes} of "
            "limit_bytes; name fewer codes, or raise minimum_share or the limit"
        )


def _fill(
    shards: Sequence[Path], windows: _Windows, timed: pd.Series, static: pd.Series
) -> tuple[np.ndarray, np.ndarray]:
    """Series (n, T, channels) and table (n, 1, columns): flags are 0 and numbers missing unless an event says else."""
    n = len(windows.end)
    series = np.full((n, windows.steps, len(timed)), np.where(timed, np.nan, 0), dtype=np.float32)
    table = np.full((n, 1, len(static)), np.where(static, np.nan, 0), dtype=np.float32)
    for path in shards:
        inside = _in_windows(_read_shard(path, windows), windows)
        _enter(inside[~inside["static"]], timed, series)
        _enter(inside[inside["static"]], static, table)
    return series, table


def _enter(events: pd.DataFrame, numeric: pd.Series, target: np.ndarray) -> None:
    """Write events into the target (in place), later ones over earlier ones."""
    codes = events[_CODE].cat
    place = numeric.index.get_indexer(codes.categories)[codes.codes]
    events, place = events[place >= 0], place[place >= 0]
    values = np.where(numeric.to_numpy()[place], events["value"], 1)
    there = ~np.isnan(values)
    window, step = (events[name].to_numpy()[there] for name in ("window", "step"))
    target[window, step, place[there]] = values[there]


def _frame(table: np.ndarray, static: pd.Series) -> pd.DataFrame:
    columns = {
        _AGE if code == _BIRTH else code: table[:, 0, place] if numeric else table[:, 0, place] > 0
        for place, (code, numeric) in enumerate(static.items())
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)))


def _read_shard(path: Path, windows: _Windows) -> pd.DataFrame:
    """The events of the labelled subjects: subject, time, static (at no time), code and value."""
    kinds = {_SUBJECT: pa.types.is_integer, _TIME: _is_moment, _CODE: is_text, _NUMBER: is_number}
    with open_parquet(path, kinds, _REMEDY, optional=(_NUMBER,)) as file:
        names = [name for name in kinds if name in file.schema_arrow.names]
        schema = pa.schema([file.schema_arrow.field(name) for name in names])
        labelled = compute.field(_SUBJECT).isin(pa.array(windows.subjects))
        batches = (pa.Table.from_batches([batch]).filter(labelled) for batch in file.iter_batches(columns=names))
        table = pa.concat_tables([schema.empty_table(), *batches])
        _refuse_nulls(path, table, (_CODE,))
        events = pd.DataFrame(
            {
                _SUBJECT: table[_SUBJECT].cast(pa.int64()).to_numpy(),
                _TIME: _microseconds(table[_TIME]).fill_null(0).to_numpy(),
                "static": table[_TIME].is_null().to_numpy(),
                _CODE: table[_CODE].cast(pa.string()).dictionary_encode().to_pandas(),
                "value": table[_NUMBER].cast(pa.float64()).to_numpy() if _NUMBER in names else np.nan,
            }
        )
    refuse(path, {f"with an infinite {_NUMBER}": np.abs(events["value"]) > LARGEST}, remedy=_REMEDY)
    return events


def _in_windows(events: pd.DataFrame, windows: _Windows) -> pd.DataFrame:
    """Every event once for each window that it is in, by time: window, step, static, code and value.

    Static events, and the birth, whose value is the age, are in all windows of their subject.
    """
    time = events[_TIME].to_numpy()
    born = ((events[_CODE] == _BIRTH) & ~events["static"]).to_numpy()
    always = events["static"].to_numpy() | born
    bounds = np.iinfo(np.int64)
    first = np.where(always, bounds.min, time)
    last = np.where(always, bounds.max, time + windows.steps * windows.step)
    start, stop = windows.ending(events[_SUBJECT].to_numpy(), first, last)
    event = np.repeat(np.arange(len(events)), stop - start)
    earlier = np.cumsum(stop - start) - (stop - start)
    window = start[event] + np.arange(len(event)) - earlier[event]
    order = np.argsort(time[event], kind="stable")
    event, window = event[order], window[order]
    ago = windows.end[window] - time[event]
    return pd.DataFrame(
        {
            "window": window,
            "step": np.where(always[event], 0, windows.steps - 1 - ago // windows.step),
            "static": always[event],
            _CODE: events[_CODE].array[event],
            "value": np.where(born[event], ago / _YEAR, events["value"].to_numpy()[event]),
        }
    )


def _is_moment(kind: pa.DataType) -> bool:
    return (pa.types.is_timestamp(kind) and kind.tz is None) or pa.types.is_null(kind)


def _microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())


def _refuse_nulls(path: Path, table: pa.Table, names: Iterable[str]) -> None:
    refuse(path, {f"without a {name}": np.ones(table[name].null_count) for name in names}, remedy=_REMEDY)


MEDS = Dataset(
    name="meds",
    title="any dataset in the Medical Event Data Standard 0.4, with labels",
    files="data/**/*.parquet and metadata/",
    licence="that of the source",
    read=read_meds,
    options={
        "labels": Option("path of the label files", Path),
        "hours": Option("before the moment of prediction", float),
        "step_hours": Option("length of a step", float),
        "seed": Option("of the tuning part, where the source has none", int),
        "minimum_share": Option("of the windows in which a code occurs", float),
    },
    needed=("labels", "hours"),
)
