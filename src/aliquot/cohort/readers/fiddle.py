"""ICU stays of eICU and MIMIC-III as FIDDLE prepared them (PhysioNet mimic-eicu-fiddle-feature 1.0.0).

A folder, ``FIDDLE_eicu`` or ``FIDDLE_mimic3``, holds for each task ``features/<task>/`` with the sparse arrays
``s.npz`` (stays × features) and ``X.npz`` (stays × hours × features) and their names, and ``population/<task>.csv``
with the outcomes. Row i is the same stay in all three.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, hstack

from aliquot.cohort.datasets import Dataset
from aliquot.cohort.options import Option
from aliquot.cohort.readers.coordinates import read_sparse
from aliquot.cohort.readers.files import LIMIT_BYTES, column_names, read_text, refuse, zero_or_one
from aliquot.cohort.records import Records
from aliquot.cohort.wording import counted, quoted
from aliquot.errors import FileError, SettingsError
from aliquot.loading import expecting, json_in

_Summary = Literal["series", "mean", "any", "last"]

PAPER_FEATURES = 402
ROLE_OF = {"train": "train", "val": "tuning", "test": "held_out"}

_STAY = re.compile(r"(.+?)_episode.*")  # of the MIMIC-III benchmark; what comes before is the patient
_HOURS = re.compile(r".*_([1-9][0-9]*)h")
_REMEDY = "take it from the PhysioNet project mimic-eicu-fiddle-feature again"
_NO_PATIENTS = "there is no patient number: stays of one patient may fall on both sides of a split"


def read_fiddle(
    folder: Path,
    task: str,
    *,
    features: str | None = None,
    minimum_share: float = 0.0,
    summary: _Summary = "mean",
    rows: ArrayLike | None = None,
    partition: Path | None = None,
    limit_bytes: int = LIMIT_BYTES,
) -> Records:
    r"""One row per stay: FIDDLE's flags, over time or summarised, and the outcome of the task, such as ``ARF_4h``.

    ``features`` is a regular expression, found anywhere in a feature's name (``"^Vital Signs"`` for a prefix);
    ``minimum_share`` the share of the chosen stays in which a feature is set in some hour; both hold for features
    with and without time. ``rows`` chooses stays by position or by a truth value each. ``partition`` is a table
    with the columns ``ICUStayID``, ``PatientID`` and ``partition``; the release has none for eICU.

    ============  =============================================  ===========================================
    ``summary``   features over time                             where
    ============  =============================================  ===========================================
    ``mean``      mean over the hours: the share of hours set    a column of ``frame``, float32
    ``any``       1 if set in some hour, else 0                  a column of ``frame``, float32
    ``last``      as in the last hour                            a column of ``frame``, float32
    ``series``    as they are                                    ``series`` (stays, hours, features)
    ============  =============================================  ===========================================

    Features without time are always columns of ``frame``, after the others. Times of onset are never features.
    train, val and test become train, tuning and held_out. Nothing larger than the result is ever made dense, and
    nothing at all if the result would exceed ``limit_bytes``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder, "features", "ARF_4h")
    ...     place.mkdir(parents=True)
    ...     np.savez(place / "s.npz", coords=[[0], [0]], data=[1], shape=(2, 1))
    ...     np.savez(place / "X.npz", coords=[[0, 0], [1, 2], [0, 0]], data=[1, 1], shape=(2, 4, 1))
    ...     _ = (place / "s.feature_names.json").write_text('["age_value:(60, 70]"]')
    ...     _ = (place / "X.feature_names.json").write_text('["HR_mask"]')
    ...     Path(folder, "population").mkdir()
    ...     _ = Path(folder, "population", "ARF_4h.csv").write_text("ID,ARF_LABEL\n7,0\n8,1\n")
    ...     records = read_fiddle(Path(folder), "ARF_4h")
    >>> records.frame.to_dict("list")
    {'HR_mask': [0.5, 0.0], 'age_value:(60, 70]': [1.0, 0.0]}
    """
    if summary not in get_args(_Summary):
        raise SettingsError(f"summary cannot be {summary!r}; choose one of {quoted(get_args(_Summary))}")
    if not 0 <= minimum_share <= 1:
        raise SettingsError("minimum_share is a share of the stays; choose it from 0 to 1")
    pattern = _compiled(features)
    stays = _read_stays(Path(folder), task, rows, partition)
    dynamic, static = (
        flags.choose(flags.matches(pattern) & (flags.shares() >= minimum_share))
        for flags in (stays.dynamic, stays.static)
    )
    return _records(replace(stays, dynamic=dynamic, static=static), summary, limit_bytes)


def paper_table(
    folder: Path,
    task: str = "mortality_48h",
    *,
    n_features: int = PAPER_FEATURES,
    rows: ArrayLike | None = None,
    partition: Path | None = None,
    limit_bytes: int = LIMIT_BYTES,
) -> Records:
    """A table of 402 flags from ``FIDDLE_eicu``, as near to the condensation paper's eICU table as can be said.

    **It is not that table.** The paper used 402 binary features of 49,305 stays. Published are neither the names
    of the 402, nor how hours were summarised, nor which stays they were (no task of the release has 49,305), nor
    the task for certain. What is kept here: the source, binary values, the number of columns. What is chosen here:
    a feature over time becomes 1 if it is set in some hour; of all features the 402 are taken whose share of stays
    set is nearest to one half, as by a stricter form of FIDDLE's own filter against nearly constant features; no
    outcome is looked at. Numbers obtained with it can be compared with each other, not with the paper's. Arguments
    are those of ``read_fiddle``.

    >>> paper_table(Path("FIDDLE_eicu")).frame.shape  # doctest: +SKIP
    (77066, 402)
    """
    if n_features < 1:
        raise SettingsError("n_features must be 1 or more; change it")
    stays = _read_stays(Path(folder), task, rows, partition)
    shares = np.concatenate([stays.dynamic.shares(), stays.static.shares()])
    nearest = np.argsort(np.abs(shares - 0.5), kind="stable")[:n_features]
    over_time, without_time = np.split(np.isin(np.arange(shares.size), nearest), [stays.dynamic.names.size])
    note = f"{nearest.size} of {shares.size} features, by their share of stays set; the paper's are not published"
    stays = replace(
        stays,
        dynamic=stays.dynamic.choose(over_time),
        static=stays.static.choose(without_time),
        notes=(*stays.notes, note),
    )
    return _records(stays, "any", limit_bytes)


@dataclass(frozen=True, eq=False)
class _Flags:
    """Sparse features of n stays; those without time have one hour."""

    values: csr_array  # (n, hours * D) float32, column hour * D + feature
    hours: int
    names: np.ndarray  # (D,) text

    @property
    def n(self) -> int:
        return self.values.indptr.size - 1

    def take(self, rows: np.ndarray) -> "_Flags":
        return replace(self, values=self.values[rows])

    def choose(self, where: np.ndarray) -> "_Flags":
        """The features of ``where``, in every hour."""
        columns = np.arange(self.hours)[:, None] * self.names.size + np.flatnonzero(where)
        return replace(self, values=self.values[:, columns.ravel()], names=self.names[where])

    def matches(self, pattern: re.Pattern[str]) -> np.ndarray:
        return np.array([pattern.search(name) is not None for name in self.names], dtype=bool)

    def shares(self) -> np.ndarray:
        """Share of the stays in which each feature is set in some hour."""
        return np.bincount(self.summarised("any").indices, minlength=self.names.size) / self.n

    def summarised(self, summary: _Summary) -> csr_array:
        """(n, D): one value for all hours."""
        if summary == "last":
            return self.values[:, (self.hours - 1) * self.names.size :]
        data = np.ones_like(self.values.data) if summary == "any" else self.values.data.copy()
        places = self.values.indices % max(self.names.size, 1)
        folded = csr_array((data, places, self.values.indptr.copy()), shape=(self.n, self.names.size))
        folded.sum_duplicates()
        folded.data = np.ones_like(folded.data) if summary == "any" else folded.data / np.float32(self.hours)
        return folded


@dataclass(frozen=True, eq=False)
class _Stays:
    dynamic: _Flags
    static: _Flags
    about: pd.DataFrame  # columns id, label and, where known, group and role
    target: str
    step_hours: float
    notes: tuple[str, ...]


def _records(stays: _Stays, summary: _Summary, limit_bytes: int) -> Records:
    dynamic, static, about = stays.dynamic, stays.static, stays.about
    _check_size(stays, summary, limit_bytes)
    shown = [] if summary == "series" else [(dynamic.names, dynamic.summarised(summary))]
    shown.append((static.names, static.values))
    names = np.concatenate([names for names, _ in shown])
    if len(set(names)) < names.size:
        raise FileError(f"features with and without time share names, which a table cannot; {_REMEDY}")
    dense = hstack([values for _, values in shown], format="csr", dtype=np.float32).toarray()
    series = None
    if summary == "series":
        series = dynamic.values.toarray().reshape(len(about), dynamic.hours, dynamic.names.size)
    return Records(
        about["label"].to_numpy(dtype=np.int8),
        about["id"].to_numpy(dtype=str),
        pd.DataFrame(dense, columns=pd.Index([*names]), copy=False),
        series,
        channels=() if series is None else tuple(dynamic.names),
        step_hours=stays.step_hours,
        groups=about["group"].to_numpy(dtype=str) if "group" in about else None,
        roles=about["role"].to_numpy(dtype=str) if "role" in about else None,
        target=stays.target,
        notes=("no cell missing: what was not set is 0", *stays.notes),
    )


def _check_size(stays: _Stays, summary: _Summary, limit_bytes: int) -> None:
    over_time, static = stays.dynamic.names.size, stays.static.names.size
    if over_time + (0 if summary == "series" else static) == 0:
        raise SettingsError("no feature is left; change the pattern of features, or lower minimum_share")
    needed = 4 * len(stays.about) * (static + over_time * (stays.dynamic.hours if summary == "series" else 1))
    if needed > limit_bytes:
        raise SettingsError(
            f"the features asked for would take {needed:,} bytes, and limit_bytes is {limit_bytes:,}; choose fewer "
            "features or rows, summarise the hours, or raise the limit"
        )


def _read_stays(folder: Path, task: str, rows: ArrayLike | None, partition: Path | None) -> _Stays:
    place = folder / "features" / task
    if not place.is_dir():
        tasks = sorted(path.name for path in place.parent.glob("*") if path.is_dir())
        raise FileError(
            f"{str(place)!r} is not a folder; name FIDDLE_eicu or FIDDLE_mimic3 and one of its tasks "
            f"({quoted(tasks) or 'none found'})"
        )
    population = folder / "population" / f"{task}.csv"
    about, target = _read_population(population, task)
    about = about if partition is None else _with_partition(about, partition)
    static_file = _existing(place / "s.npz", place / "S.npz")
    (static, static_notes), (dynamic, dynamic_notes) = (_read_flags(static_file, 2), _read_flags(place / "X.npz", 3))
    sizes = {static_file.name: static.n, "X.npz": dynamic.n, population.name: len(about)}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{size} in {name!r}" for name, size in sizes.items())
        raise FileError(f"the files of {task!r} differ in their number of stays ({found}); take them from one version")
    if rows is not None:
        chosen = _positions(rows, len(about))
        about, static, dynamic = about.iloc[chosen], static.take(chosen), dynamic.take(chosen)
    _check_undivided(about)
    length = _HOURS.fullmatch(task)
    step_hours = 1.0 if length is None else int(length[1]) / dynamic.hours
    notes = (*static_notes, *dynamic_notes, *([] if "group" in about else [_NO_PATIENTS]))
    return _Stays(dynamic, static, about, target, step_hours, notes)


def _read_population(path: Path, task: str) -> tuple[pd.DataFrame, str]:
    known = column_names(path)
    target = _label_column(path, task.partition("_")[0], known)
    identifier = next((name for name in ("ID", "ICUSTAY_ID", "stay") if name in known), None)
    if identifier is None:
        raise FileError(f"{str(path)!r} has none of the columns 'ID', 'ICUSTAY_ID' and 'stay'; {_REMEDY}")
    others = [name for name in ("stay", "partition") if name in known]
    cells = read_text(path, list(dict.fromkeys([identifier, target, *others])))
    about = pd.DataFrame({"id": cells[identifier].astype(str), "label": zero_or_one(cells[target])})
    found: dict[str, ArrayLike] = {
        f"without {identifier!r}": about["id"] == "",
        f"whose {identifier!r} came before": (about["id"] != "") & about["id"].duplicated(),
        f"whose {target!r} is not 0 or 1": ~about["label"].isin((0, 1)),
    }
    if "partition" in cells:
        about["role"] = cells["partition"].astype(str).map(ROLE_OF)
        found["whose 'partition' is not train, val or test"] = about["role"].isna()
    refuse(path, found, remedy=_REMEDY)
    if "stay" in cells:
        patients = cells["stay"].astype(str).str.extract(_STAY, expand=False)
        about = about if patients.isna().any() else about.assign(group=patients)
    return about, target


def _label_column(path: Path, word: str, known: list[str]) -> str:
    labels = [name for name in known if name.endswith("_LABEL")]
    if f"{word}_LABEL" in labels:
        return f"{word}_LABEL"
    if len(labels) != 1:
        raise FileError(
            f"{str(path)!r} has no column '{word}_LABEL', and {len(labels)} others that end in '_LABEL', where only "
            f"one could stand for it; {_REMEDY}"
        )
    return labels[0]


def _with_partition(about: pd.DataFrame, path: Path) -> pd.DataFrame:
    cells = read_text(Path(path), ["ICUStayID", "PatientID", "partition"]).astype(str)
    stays = pd.Index(cells["ICUStayID"])
    places = stays.get_indexer(pd.Index(about["id"])) if stays.is_unique else np.array([-1])
    absent = int(np.count_nonzero(places < 0))
    if absent:
        found = f"lacks {counted(absent, 'stay')}" if stays.is_unique else "repeats stays"
        raise FileError(f"{str(path)!r} {found} of the task; give every stay one line, under its ICUStayID")
    matched = cells.iloc[places].set_axis(about.index)
    about = about.assign(role=matched["partition"].map(ROLE_OF), group=matched["PatientID"])
    found = {
        "whose 'partition' is not train, val or test": about["role"].isna(),
        "without 'PatientID'": about["group"] == "",
    }
    refuse(path, found)
    return about


def _check_undivided(about: pd.DataFrame) -> None:
    if "group" in about and "role" in about:
        divided = int((about.groupby("group")["role"].nunique() > 1).sum())
        if divided:
            raise FileError(
                f"the partition puts {counted(divided, 'patient')} into more than one part; give all stays of a "
                "patient the same part"
            )


def _read_flags(path: Path, ndim: int) -> tuple[_Flags, list[str]]:
    """The features of one .npz file, and a note on those that stand for others too."""
    values, hours, width = read_sparse(_existing(path), ndim, remedy=_REMEDY)
    names_file = path.with_name(f"{path.stem}.feature_names.json")
    names = _read_json(names_file)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FileError(f"{str(names_file)!r} is not a list of names; {_REMEDY}")
    if len(names) != width or len(set(names)) < len(names):
        raise FileError(
            f"{str(names_file)!r} has {counted(len(names), 'name')}, {len(set(names))} of them different, for the "
            f"{width} features of {path.name!r}; {_REMEDY}"
        )
    aliases_file = path.with_name(f"{path.stem}.feature_aliases.json")
    aliases = _read_json(aliases_file) if aliases_file.exists() else {}
    if not isinstance(aliases, dict):
        raise FileError(f"{str(aliases_file)!r} does not give names for names; {_REMEDY}")
    note = f"{counted(len(aliases), 'feature')} of {path.name!r} with other names too, in {aliases_file.name!r}"
    return _Flags(values, hours, np.array(names, dtype=object)), [note] if aliases else []


def _read_json(path: Path) -> Any:
    wrong = FileError(f"{str(_existing(path))!r} cannot be read as JSON; {_REMEDY}")
    try:
        with expecting(wrong):
            return json_in(path, Any)
    except OSError:
        raise wrong from None


def _existing(*paths: Path) -> Path:
    for path in paths:
        if path.exists():
            return path
    raise FileError(f"{str(paths[0])!r} is missing; {_REMEDY}")


def _positions(rows: ArrayLike, n: int) -> np.ndarray:
    chosen = np.asarray(rows)
    if chosen.dtype == bool and chosen.shape == (n,):
        return np.flatnonzero(chosen)
    whole = chosen.ndim == 1 and chosen.dtype.kind in "iu" and chosen.size > 0
    if not whole or chosen.min() < 0 or chosen.max() >= n or np.unique(chosen).size < chosen.size:
        raise SettingsError(f"rows must be different positions from 0 to {n - 1}, or {n} truth values; change them")
    return chosen


def _compiled(features: str | None) -> re.Pattern[str]:
    try:
        return re.compile(features or "")
    except re.error:
        raise SettingsError(f"features is not a regular expression: {features!r}; correct it") from None


_LICENCE = "PhysioNet project mimic-eicu-fiddle-feature 1.0.0; credentialed access"
FIDDLE = Dataset(
    name="fiddle",
    title="FIDDLE features of eICU or MIMIC-III: ARF, shock or death",
    files="FIDDLE_eicu/ or FIDDLE_mimic3/ with features/ and population/",
    licence=_LICENCE,
    read=read_fiddle,
    options={
        "task": Option("ARF_4h, ARF_12h, Shock_4h, Shock_12h or mortality_48h"),
        "features": Option("regular expression on their names"),
        "minimum_share": Option("of stays in which a feature is set", float),
        "summary": Option("mean (default), any, last, or series"),
    },
    needed=("task",),
)
EICU = Dataset(
    name="eicu",
    title="FIDDLE features of eICU as a table of 402 binary columns, as near to the paper's as can be said",
    files="FIDDLE_eicu/ with features/ and population/",
    licence=_LICENCE,
    read=paper_table,
    options={"task": Option("mortality_48h by default")},
)
