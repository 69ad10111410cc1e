"""Presentations to English hospitals from the CURIAL study: first blood tests and vital signs, COVID-19 swab.

A file is one hospital group after harmonisation: a comma-separated table with one row per presentation. The
same reading serves any wide table of numbers (``read_wide``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from aliquot.cohort.datasets import Dataset
from aliquot.cohort.options import Option
from aliquot.cohort.readers.files import read_text, refuse, signed_numbers, zero_or_one
from aliquot.cohort.records import Records
from aliquot.cohort.roles import ROLES, draw_tuning
from aliquot.cohort.wording import counted, listed, quoted
from aliquot.disclosure import SUPPORT, masked_count
from aliquot.errors import FileError, SettingsError

FeatureSet = Literal["lab", "rapid", "gas"]
EmptyLabel = Literal["negative", "drop"]

PRESENTATION, ARRIVAL, OUTCOME = "ClusterID", "ArrivalDateTime", "Covid-19 Positive"
DEVICE = "Vital_Sign Delivery device used"
DEVICE_LEVELS = (0, 1, 2, 3)  # none; mask or nasal; reservoir mask; pressure support or ventilation
HAEMOGLOBIN = "Blood_Test HAEMOGLOBIN"

_BLOOD = (
    *("ALBUMIN", "ALK.PHOSPHATASE", "ALT", "BASOPHILS", "BILIRUBIN", "CREATININE", "CRP", "EOSINOPHILS"),
    *("HAEMATOCRIT", "HAEMOGLOBIN", "LYMPHOCYTES", "MEAN CELL VOL.", "MONOCYTES", "NEUTROPHILS", "PLATELETS"),
    *("POTASSIUM", "SODIUM", "UREA", "WHITE CELLS", "eGFR"),
)
_FULL_COUNT = (
    *("BASOPHILS", "EOSINOPHILS", "HAEMATOCRIT", "HAEMOGLOBIN", "LYMPHOCYTES", "MEAN CELL VOL.", "MONOCYTES"),
    *("NEUTROPHILS", "PLATELETS", "WHITE CELLS"),
)
_VITAL = (
    *("Respiratory Rate", "Heart Rate", "Systolic Blood Pressure", "Temperature Tympanic", "Oxygen Saturation"),
    *("Delivery device used", "Diastolic Blood Pressure"),
)
_GAS = (
    *("BE Std (BG)", "Bicarb (BG)", "Ca+ + (BG)", "cLAC (BG)", "Glucose (BG)", "Hb (BG)", "Hct (BG)", "K+ (BG)"),
    *("Na+ (BG)", "O2 Sat (BG)", "pCO2 POC", "pO2 (BG)"),
)
_VITAL_SIGNS = tuple(f"Vital_Sign {name}" for name in _VITAL)
_LAB = (*(f"Blood_Test {name}" for name in _BLOOD), *_VITAL_SIGNS)
FEATURES: dict[str, tuple[str, ...]] = {
    "lab": _LAB,
    "rapid": (*(f"Blood_Test {name}" for name in _FULL_COUNT), *_VITAL_SIGNS),
    "gas": (*_LAB, "Blood_Test APTT", "Blood_Test Prothromb. Time", *(f"Blood_Gas {name}" for name in _GAS)),
}

_NO_PATIENTS = "there is no patient number: rows of one person may fall on both sides of a split"


def read_curial(
    files: Mapping[str, Path] | Path,
    *,
    features: FeatureSet = "lab",
    empty_label: EmptyLabel,
    site_roles: Mapping[str, str] | None = None,
    arrived_from: date | str | None = None,
    arrived_until: date | str | None = None,
    negatives_until: date | str | None = None,
) -> Records:
    r"""One row per presentation: the 27 (``lab``), 17 (``rapid``) or 41 (``gas``) features and the swab result.

    ``files`` gives each site its file, or is a folder of .csv files named after their sites, or one such file.
    Numbers are float64 in the units of the hospital; the delivery device is a level from 0 to 3 (``Int8``). Age,
    gender and ethnicity, other swabs and what became of the patient are never read. ``site_roles`` gives every
    site a role (train, tuning or held_out; where none is for tuning, a part of train is); without it the split
    is left open. A presentation counts if it arrived on or after ``arrived_from`` and before ``arrived_until``, a
    negative one only before
    ``negatives_until``. The published training cohort, in which positives up to April 2020 meet presentations
    from before the pandemic, is ``arrived_until="2020-05-01"``, ``negatives_until="2019-12-01"`` with
    ``empty_label="negative"``.

    ===========================================  =======================================================
    in the files                                 in the records
    ===========================================  =======================================================
    a feature that is empty, NA, nan or null     missing
    ``<5``, ``>90``                              5, 90; the notes say how many
    an empty outcome, which means "not tested"   0 (``"negative"``), or the row is left out (``"drop"``)
    an index column, any other column            not read
    no date of arrival                           left out if any date is asked for
    ``ClusterID``                                the id, after ``site:`` where there are several sites
    ===========================================  =======================================================

    >>> import tempfile
    >>> ones = ",1" * 16
    >>> lines = [f"<5{ones},1.0,a,61", f"7{ones},0.0,b,47", f"9{ones},,c,80"]
    >>> header = ",".join([*FEATURES["rapid"], OUTCOME, PRESENTATION, "Age"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "OUH.csv").write_text("\n".join([header, *lines]))
    ...     records = read_curial(Path(folder), features="rapid", empty_label="drop")
    >>> records.frame.shape, records.labels.tolist()
    ((2, 17), [1, 0])
    >>> print(records.notes[1])
    <10 outcomes empty: these rows are left out
    """
    _check_choice("features", features, tuple(FEATURES))
    _check_choice("empty_label", empty_label, ("negative", "drop"))
    first, end, negatives_end = dates = [_moment(asked) for asked in (arrived_from, arrived_until, negatives_until)]
    paths = _paths_by_site(files)
    roles = _checked_roles(site_roles, paths)
    arrival = ARRIVAL if any(asked is not None for asked in dates) else None
    read = [_read_rows(path, site, FEATURES[features], OUTCOME, PRESENTATION, arrival) for site, path in paths.items()]
    rows = _labelled(_arrived(_joined(read), first, end), empty_label)
    if negatives_end is not None:
        late = rows.about["arrival"] >= negatives_end
        rows = rows.keep(
            ~late | (rows.about["label"] == 1), f"without the outcome that arrived from {_day(negatives_end)} on"
        )
    sites = rows.about["site"]
    return _records(
        rows,
        OUTCOME,
        ids=rows.about["id"] if len(paths) == 1 else sites + ":" + rows.about["id"],
        roles=None if roles is None else _roles(rows, roles),
        notes=_unit_notes(rows),
    )


def _roles(rows: "_Rows", of_sites: Mapping[str, str]) -> np.ndarray:
    """The role of every row; where no site is for tuning, a part of train is."""
    roles = rows.about["site"].map(of_sites).to_numpy(dtype=str)
    if "tuning" in of_sites.values():
        return roles
    return draw_tuning(rows.about["label"].to_numpy(int), np.arange(len(roles)), roles, seed=0)


def read_wide(
    file: Path,
    outcome: str,
    features: Sequence[str],
    *,
    ids: str | None = None,
    empty_label: EmptyLabel | None = None,
) -> Records:
    r"""One row per line of any comma-separated table of numbers, given its outcome column and its features.

    Cells are read as by ``read_curial``. ``ids`` names a column that differs in every row; without it the rows
    are numbered from 1. An empty outcome is an error unless ``empty_label`` says what it means.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "ward.csv").write_text("age,crp,died\n61,<5,0\n74,80,1\n")
    ...     records = read_wide(Path(folder, "ward.csv"), "died", ["age", "crp"])
    >>> records.frame.values.tolist(), records.labels.tolist()
    ([[61.0, 5.0], [74.0, 80.0]], [0, 1])
    """
    if empty_label is not None:
        _check_choice("empty_label", empty_label, ("negative", "drop"))
    asked = [*features, outcome, *([] if ids is None else [ids])]
    if not features or len(set(asked)) < len(asked):
        raise SettingsError("the outcome, the ids and one or more features must be different columns; name each once")
    rows = _labelled(_read_rows(Path(file), "", features, outcome, ids, None), empty_label)
    return _records(rows, outcome, ids=rows.about["id"])


@dataclass(frozen=True, eq=False)
class _Rows:
    frame: pd.DataFrame  # features
    about: pd.DataFrame  # columns site, id, label (missing where empty) and perhaps arrival, in the same order
    notes: tuple[str, ...] = ()

    def keep(self, where: pd.Series, why: str | None = None) -> "_Rows":
        """The rows of ``where``; a reason why the others are left out becomes a note."""
        left = int((~where).sum())
        notes = (*self.notes, f"left out {masked_count(left, 'row')} {why}") if left and why else self.notes
        return _Rows(self.frame[where].reset_index(drop=True), self.about[where].reset_index(drop=True), notes)


def _read_rows(
    path: Path, site: str, features: Sequence[str], outcome: str, ids: str | None, arrival: str | None
) -> _Rows:
    cells = read_text(path, [name for name in (*features, outcome, ids, arrival) if name is not None])
    numbers = {name: signed_numbers(cells[name]) for name in features}
    frame = pd.DataFrame({name: values for name, (values, _, _) in numbers.items()}, index=cells.index)
    found: dict[str, ArrayLike] = {f"without a number in {name!r}": wrong for name, (_, _, wrong) in numbers.items()}
    if DEVICE in frame:
        found[f"whose {DEVICE!r} is no level from 0 to 3"] = frame[DEVICE].notna() & ~frame[DEVICE].isin(DEVICE_LEVELS)
    about = pd.DataFrame({"site": site, "label": zero_or_one(cells[outcome])}, index=cells.index)
    found[f"whose {outcome!r} is not 0 or 1"] = np.isinf(about["label"])
    about["id"] = (cells.index + 1).astype(str) if ids is None else cells[ids].astype(str)
    found |= {f"without {ids!r}": about["id"] == "", f"whose {ids!r} came before": _repeated(about["id"])}
    if arrival is not None:
        about["arrival"] = _moments(cells[arrival])
        found[f"whose {arrival!r} is no date like 2020-03-31"] = about["arrival"].isna() & (cells[arrival] != "")
    refuse(path, found)
    signs = sum(int(signed.sum()) for _, signed, _ in numbers.values())
    notes = (
        (f"{masked_count(signs, 'cell')} of {path.name!r} with < or > read as the number after it",) if signs else ()
    )
    return _Rows(frame.astype({DEVICE: "Int8"}) if DEVICE in frame else frame, about, notes)


def _joined(parts: Sequence[_Rows]) -> _Rows:
    if len(parts) == 1:
        return parts[0]
    notes = tuple(note for part in parts for note in part.notes)
    frame = pd.concat([part.frame for part in parts], ignore_index=True)
    return _Rows(frame, pd.concat([part.about for part in parts], ignore_index=True), notes)


def _arrived(rows: _Rows, first: pd.Timestamp | None, end: pd.Timestamp | None) -> _Rows:
    if "arrival" in rows.about:
        rows = rows.keep(rows.about["arrival"].notna(), "without a date of arrival")
    if first is not None:
        rows = rows.keep(rows.about["arrival"] >= first, f"that arrived before {_day(first)}")
    if end is not None:
        rows = rows.keep(rows.about["arrival"] < end, f"that arrived from {_day(end)} on")
    return rows


def _labelled(rows: _Rows, empty_label: EmptyLabel | None) -> _Rows:
    empty = rows.about["label"].isna()
    count = int(empty.sum())
    if not count:
        return rows
    if empty_label is None:
        raise FileError(
            f"the table has {count} of {counted(len(empty), 'outcome')} empty; say what that means by "
            'empty_label="negative" or "drop"'
        )
    what = "they count as negative" if empty_label == "negative" else "these rows are left out"
    rows = replace(rows, notes=(*rows.notes, f"{masked_count(count, 'outcome')} empty: {what}"))
    if empty_label == "negative":
        return replace(rows, about=rows.about.fillna({"label": 0.0}))
    return rows.keep(~empty)


def _records(
    rows: _Rows, target: str, *, ids: pd.Series, roles: np.ndarray | None = None, notes: Sequence[str] = ()
) -> Records:
    labels = rows.about["label"].to_numpy(dtype=np.int8)
    positive = int(labels.sum())
    if not 0 < positive < len(labels):
        raise FileError(
            f"{counted(positive, 'row')} with the outcome and {len(labels) - positive} without remain, but both "
            "are needed; check the outcome column, the dates of arrival and empty_label"
        )
    described = f"about {rows.frame.isna().to_numpy().mean():.0%} of the cells missing"
    return Records(
        labels,
        ids.to_numpy(dtype=str),
        rows.frame,
        roles=roles,
        target=target,
        notes=(*rows.notes, described, *notes, _NO_PATIENTS),
    )


def _unit_notes(rows: _Rows) -> list[str]:
    """Medians of haemoglobin, which some hospitals give in g/L and others in g/dL, and features like it.

    A median of a few presentations could be the value of one, and is not shown.
    """
    sites = rows.frame.astype(float).groupby(rows.about["site"])
    medians = sites.median().where(sites.count() >= SUPPORT)
    shown = listed(f"{median:.4g} ({site})" for site, median in medians[HAEMOGLOBIN].dropna().items())
    notes = [f"units are those of the files; median of {HAEMOGLOBIN!r}: {shown or 'measured too rarely'}"]
    apart = [str(name) for name in medians if medians[name].max() > 3 * medians[name].min() > 0]
    if apart:
        notes.append(f"medians differ more than threefold between sites, check the units of: {quoted(apart)}")
    return notes


def _moments(cells: pd.Series) -> pd.Series:
    words = pd.to_datetime(pd.Series([*cells.cat.categories], dtype=str), format="ISO8601", errors="coerce", utc=True)
    return words.iloc[cells.cat.codes].set_axis(cells.index)


def _moment(asked: date | str | None) -> pd.Timestamp | None:
    if asked is None:
        return None
    try:
        moment = pd.Timestamp(datetime.fromisoformat(str(asked)))  # 20200331 may come as a number
    except ValueError:
        raise SettingsError(f"{asked!r} is no date of arrival; write it like 2020-03-31") from None
    return moment.tz_localize("UTC") if moment.tzinfo is None else moment


def _day(moment: pd.Timestamp) -> str:
    return moment.strftime("%Y-%m-%d")


def _paths_by_site(files: Mapping[str, Path] | Path) -> dict[str, Path]:
    if isinstance(files, Mapping):
        paths = {str(site): Path(path) for site, path in files.items()}
    elif Path(files).is_dir():
        paths = {path.stem: path for path in sorted(Path(files).glob("[!.]*.csv"))}
    else:
        paths = {Path(files).stem: Path(files)}
    if not paths:
        raise FileError("there is no .csv file to read; name a folder of such files, or a file for each site")
    return paths


def _checked_roles(site_roles: Mapping[str, str] | None, sites: Mapping[str, Path]) -> dict[str, str] | None:
    if site_roles is None:
        return None
    if set(site_roles) != set(sites) or not set(site_roles.values()) <= set(ROLES):
        raise SettingsError(f"site_roles must give each of {quoted(sites)} one of the roles {quoted(ROLES)}")
    return dict(site_roles)


def _check_choice(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise SettingsError(f"{name} cannot be {value!r}; choose one of {quoted(known)}")


def _repeated(ids: pd.Series) -> pd.Series:
    return (ids != "") & ids.duplicated()


CURIAL = Dataset(
    name="curial",
    title="CURIAL: blood tests and vital signs on arrival, COVID-19",
    files="one harmonised CSV per hospital group, as OUH.csv, PUH.csv, UHB.csv",
    licence="NHS records under their custodians' agreements; not public",
    read=read_curial,
    options={
        "empty_label": Option("negative or drop: what an empty result means"),
        "features": Option("lab (27, default), rapid (17) or gas (41)"),
        "site_roles": Option("which site is which part, as OUH:train,PUH:tuning,UHB:held_out", dict),
        "arrived_from": Option("a date, as 2019-12-01"),
        "arrived_until": Option("a date"),
        "negatives_until": Option("a date"),
    },
    needed=("empty_label",),
)
