"""ICU stays of the PhysioNet/CinC Challenge 2012: deaths in hospital and what the first 48 hours showed.

A folder holds, for each of the sets a, b and c or only some of them, ``Outcomes-a.txt`` and the stays as
``set-a.tar.gz`` or unpacked as ``set-a/``. A stay is a file ``<RecordID>.txt`` with lines ``hh:mm,name,value``.
"""

import gzip
import re
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from aliquot.cohort.datasets import Dataset
from aliquot.cohort.readers.files import refuse
from aliquot.cohort.records import Records
from aliquot.cohort.time.steps import mean_at
from aliquot.cohort.values import level_numbers
from aliquot.cohort.wording import counted, listed, quoted
from aliquot.errors import FileError

SETS = ("a", "b", "c")
_HOURS = 48
SUMMARIES = ("first", "last", "min", "max", "mean")
DESCRIPTORS = {
    "Age": "age_years",
    "Gender": "gender",
    "Height": "height_cm",
    "ICUType": "icu_type",
    "Weight": "weight_kg",  # on admission; the later weights are a series
}
MEASUREMENTS = (
    *("Albumin", "ALP", "ALT", "AST", "Bilirubin", "BUN", "Cholesterol", "Creatinine", "DiasABP", "FiO2", "GCS"),
    *("Glucose", "HCO3", "HCT", "HR", "K", "Lactate", "Mg", "MAP", "MechVent", "Na", "NIDiasABP", "NIMAP"),
    *("NISysABP", "PaCO2", "PaO2", "pH", "Platelets", "RespRate", "SaO2", "SysABP", "Temp", "TroponinI"),
    *("TroponinT", "Urine", "WBC", "Weight"),
)
VENTILATION = "MechVent"  # noted as 1 or not at all, so that a summary would be constant
GENDERS = {0: "female", 1: "male"}
ICU_TYPES = {1: "coronary care", 2: "cardiac surgery recovery", 3: "medical", 4: "surgical"}

_RECORD, _DEATH = "RecordID", "In-hospital_death"  # in the files
STAY_ID, DIED = "stay_id", "died_in_hospital"  # in the table
LINE = ("Time", "Parameter", "Value")

_NAMES = [_RECORD, *dict.fromkeys((*DESCRIPTORS, *MEASUREMENTS))]
_TIME = re.compile(r"([0-3][0-9]|4[0-7]):[0-5][0-9]|48:00")
_NUMBER = re.compile(r"[0-9]{1,15}")  # of a stay; more digits would not be exact
_REMEDY = "take it from the PhysioNet project challenge-2012 again"


def physionet2012_table(folder: Path) -> pd.DataFrame:
    r"""One row per stay: descriptors on admission, five summaries of each series, death in hospital.

    Columns are ``stay_id``; ``age_years``, ``gender``, ``height_cm``, ``icu_type``, ``weight_kg`` as noted at
    00:00; ``<series>_first``, ``_last``, ``_min``, ``_max`` and ``_mean`` over the 48 hours, with the names and
    units of the challenge (``HR_first``); ``ventilated``, whether mechanical ventilation was noted (0 or 1), in
    place of summaries of that series; and ``died_in_hospital``. Scores, length of stay and survival, which stand
    beside the outcome, are not read.

    ========================================  ====================================================
    in the files                              in the table
    ========================================  ====================================================
    never measured                            missing
    a negative value, such as -1              missing: by the challenge, valid values are from 0
    a line without a name                     left out
    several values at one time                all count; the first and last are by their lines
    the weight at 00:00                       ``weight_kg`` only; ``Weight_…`` are the later ones
    ``set-a.tar.gz`` and ``set-a/`` both      the archive is read
    ========================================  ====================================================

    >>> import tempfile
    >>> lines = ["Time,Parameter,Value", "00:00,Age,61", "00:00,Height,-1", "00:20,HR,80", "09:00,HR,95"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "Outcomes-a.txt").write_text("RecordID,In-hospital_death\n7,0\n")
    ...     Path(folder, "set-a").mkdir()
    ...     _ = Path(folder, "set-a", "7.txt").write_text("\n".join(lines))
    ...     table = physionet2012_table(Path(folder))
    >>> table.shape
    (1, 188)
    >>> table[["age_years", "height_cm", "HR_first", "HR_last", "died_in_hospital"]].values.tolist()
    [[61.0, nan, 80.0, 95.0, 0.0]]
    """
    deaths, lines = read_stays(folder)
    at_start = lines["variable"].isin([*DESCRIPTORS]) & (lines["minute"] == 0)
    admission = lines[at_start].drop_duplicates([STAY_ID, "variable"])
    series = lines.drop(admission.index)
    ventilated = deaths.index.isin(series.loc[series["variable"] == VENTILATION, STAY_ID]).astype(int)
    table = pd.concat([_described(admission, deaths.index), _summarised(series, deaths.index)], axis=1)
    return table.assign(**{"ventilated": ventilated, DIED: deaths}).reset_index()


def physionet2012_records(folder: Path) -> Records:
    """The table of :func:`physionet2012_table` as records: one row per stay, every stay another patient."""
    table = physionet2012_table(folder)
    features = table.drop(columns=[STAY_ID, DIED])
    return Records(table[DIED].to_numpy(np.int8), table[STAY_ID].astype(str).to_numpy(), features, target=DIED)


def physionet2012_series(folder: Path) -> Records:
    """The first 48 hours of every stay on an hourly grid: the mean of what was measured in each hour.

    Hour k holds (k, k + 1], and what was noted at 00:00 belongs to the first. Descriptors on admission stand beside.
    Mechanical ventilation, noted as 1 or not at all, is 0 where it was not noted.
    """
    deaths, lines = read_stays(folder)
    at_start = lines["variable"].isin([*DESCRIPTORS]) & (lines["minute"] == 0)
    admission = lines[at_start].drop_duplicates([STAY_ID, "variable"])
    series = lines.drop(admission.index)
    series = series[series["variable"].isin(MEASUREMENTS)]
    row = deaths.index.get_indexer(pd.Index(series[STAY_ID]))
    hour = np.maximum(series["minute"].to_numpy() - 1, 0) // 60
    channel = pd.Index(MEASUREMENTS).get_indexer(pd.Index(series["variable"].astype(str)))
    shape = (len(deaths), _HOURS, len(MEASUREMENTS))
    place = np.ravel_multi_index((row, hour, channel), shape)
    means = mean_at(place, series["value"].to_numpy(), int(np.prod(shape))).reshape(shape)
    ventilation = MEASUREMENTS.index(VENTILATION)
    means[:, :, ventilation] = np.nan_to_num(means[:, :, ventilation])
    frame = _described(admission, deaths.index).reset_index(drop=True)
    ids = deaths.index.astype(str).to_numpy()
    return Records(deaths.to_numpy(np.int8), ids, frame, means, MEASUREMENTS, target=DIED)


def read_stays(folder: Path) -> tuple[pd.Series, pd.DataFrame]:
    """Deaths (0 or 1) by ``stay_id``, and all measurements in columns ``stay_id, minute, variable, value``.

    Guarantees: every stay has one outcome; stays are in the order of the outcome files, measurements by stay and
    time; values are finite and not negative; ``minute`` is from 0 to 2880. A stay may have no measurement.
    """
    folder = Path(folder)
    present = [letter for letter in SETS if any(path.exists() for path in _paths(folder, letter))]
    if not present:
        raise FileError(
            f"the folder {str(folder)!r} has no set of the PhysioNet challenge 2012; it should hold set-a.tar.gz "
            "(or the folder set-a) and Outcomes-a.txt, and so on for b and c"
        )
    pairs = [_read_set(folder, letter) for letter in present]
    deaths = pd.concat([outcomes for outcomes, _ in pairs])
    repeated = int(deaths.index.duplicated().sum())
    if repeated:
        raise FileError(
            f"the sets in {str(folder)!r} share {counted(repeated, 'stay')}; keep every stay in one set only"
        )
    return deaths, pd.concat([lines for _, lines in pairs], ignore_index=True)


def _described(admission: pd.DataFrame, stays: pd.Index) -> pd.DataFrame:
    table = admission.pivot(index=STAY_ID, columns="variable", values="value")
    table = table.reindex(index=stays, columns=[*DESCRIPTORS])
    for name, words in (("Gender", GENDERS), ("ICUType", ICU_TYPES)):
        unknown = int((table[name].notna() & ~table[name].isin([*words])).sum())
        if unknown:
            raise FileError(
                f"the sets have {counted(unknown, 'stay')} whose {name} is none of {listed(map(str, words))}; "
                "take them from the PhysioNet project challenge-2012 again"
            )
        table[name] = pd.Categorical(table[name].map(words), categories=[*words.values()])
    return table.rename(columns=DESCRIPTORS).rename_axis(columns=None)


def _summarised(series: pd.DataFrame, stays: pd.Index) -> pd.DataFrame:
    groups = series.groupby([STAY_ID, "variable"], observed=True, sort=False)["value"]
    table = groups.agg([*SUMMARIES]).reset_index().pivot(index=STAY_ID, columns="variable", values=[*SUMMARIES])
    table = table.set_axis([f"{name}_{summary}" for summary, name in table.columns], axis=1)
    named = [f"{name}_{summary}" for name in MEASUREMENTS if name != VENTILATION for summary in SUMMARIES]
    return table.reindex(index=stays, columns=named)


def _paths(folder: Path, letter: str) -> tuple[Path, Path, Path]:
    return folder / f"set-{letter}.tar.gz", folder / f"set-{letter}", folder / f"Outcomes-{letter}.txt"


def _read_set(folder: Path, letter: str) -> tuple[pd.Series, pd.DataFrame]:
    archive, unpacked, outcomes = _paths(folder, letter)
    source = unpacked if unpacked.exists() and not archive.exists() else archive
    for path, partner in ((outcomes, source), (source, outcomes)):
        if not path.exists():
            raise FileError(f"{str(path)!r} is missing beside {partner.name!r}; put it there or take the other away")
    deaths = _read_outcomes(outcomes)
    stays, counts, text = _gather(source)
    without, beyond = len(set(stays) - set(deaths.index)), len(set(deaths.index) - set(stays))
    if without or beyond:
        raise FileError(
            f"{str(source)!r} and {outcomes.name!r} do not hold the same stays: {without} have no outcome and "
            f"{beyond} nothing but an outcome; take both from the same version of the challenge"
        )
    lines = _parse(source, np.repeat(np.array(stays, dtype=np.int64), counts), text)
    order = np.lexsort((lines["minute"], deaths.index.get_indexer(pd.Index(lines[STAY_ID]))))
    return deaths, lines.iloc[order]


def _read_outcomes(path: Path) -> pd.Series:
    try:
        text = path.read_bytes()
    except OSError:
        raise FileError(f"{str(path)!r} cannot be read; check that it is a file and its permissions") from None
    table = _read_csv(path, text, [_RECORD, _DEATH], header=True)
    stays, deaths = table[_RECORD].astype(str), table[_DEATH].astype(str)
    found = {
        f"without a whole number as {_RECORD}": ~stays.str.fullmatch(_NUMBER),
        f"whose {_RECORD} came before": stays.duplicated(),
        f"whose {_DEATH} is not 0 or 1": ~deaths.isin(["0", "1"]),
    }
    refuse(path, found, noun="line", remedy=_REMEDY)
    return pd.Series(deaths.astype(int).to_numpy(), index=pd.Index(stays.astype(int), name=STAY_ID), name=DIED)


def _gather(source: Path) -> tuple[list[int], list[int], bytes]:
    """Stays, the number of lines of each, and all their lines without the headers, to be parsed at once."""
    stays, headers, bodies = [], [], []
    try:
        for stay, content in _stay_files(source):
            header, _, body = content.partition(b"\n")
            stays.append(stay)
            headers.append(header.strip())
            bodies.append(body.rstrip() + b"\n")
    except (OSError, EOFError, tarfile.TarError, zlib.error):
        raise FileError(f"{str(source)!r} cannot be read to its end; {_REMEDY}") from None
    if not stays:
        raise FileError(f"{str(source)!r} has no stays, which are files named by number, as in 1.txt; {_REMEDY}")
    found = {
        f"with another first line than {','.join(LINE)}": [header != ",".join(LINE).encode() for header in headers],
        "without any line after the first": [body == b"\n" for body in bodies],
        "that came before": pd.Series(stays).duplicated(),
    }
    refuse(source, found, noun="stay", remedy=_REMEDY)
    return stays, [body.count(b"\n") for body in bodies], b"".join(bodies)


def _stay_files(source: Path) -> Iterator[tuple[int, bytes]]:
    if source.is_dir():
        for path in sorted(source.glob("*.txt")):
            if _NUMBER.fullmatch(path.stem):
                yield int(path.stem), path.read_bytes()
        return
    with gzip.open(source) as content, tarfile.open(fileobj=content, mode="r|") as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if path.suffix == ".txt" and _NUMBER.fullmatch(path.stem) and member.isfile():
                file = archive.extractfile(member)
                yield int(path.stem), file.read() if file else b""
        while content.read(2**20):  # to the very end, where the checksum is
            pass


def _parse(source: Path, stays: np.ndarray, text: bytes) -> pd.DataFrame:
    """The lines of all stays as numbers; each distinct text is judged once, as there are few."""
    table = _read_csv(source, text, LINE, header=False)
    if len(table) != len(stays):  # a lone carriage return ends a line for the parser only
        raise FileError(f"{str(source)!r} has lines with a break inside; {_REMEDY}")
    time, name, value = (table[column].cat for column in LINE)
    minutes = [int(clock[:2]) * 60 + int(clock[3:]) if _TIME.fullmatch(clock) else -1 for clock in time.categories]
    lines = pd.DataFrame(
        {
            STAY_ID: stays,
            "minute": np.array(minutes, dtype=np.int16)[time.codes],
            "variable": name.set_categories(_NAMES),
            "value": level_numbers([*value.categories])[value.codes],
        }
    )
    lines = lines[(table["Parameter"] != "").to_numpy()]
    stated = lines["variable"] == _RECORD
    found = {
        "without a time from 00:00 to 48:00": lines["minute"] < 0,
        "with a name unknown to the challenge": lines["variable"].isna(),
        "without a finite number": ~np.isfinite(lines["value"]),
        f"whose {_RECORD} is not the file's": stated & (lines["value"] != lines[STAY_ID]),
    }
    refuse(source, found, noun="line", remedy=_REMEDY)
    lines = lines[~stated & (lines["value"] >= 0)]
    return lines.assign(variable=lines["variable"].cat.remove_categories(_RECORD))


def _read_csv(path: Path, text: bytes, columns: Sequence[str], *, header: bool) -> pd.DataFrame:
    """The named columns as categories of text; errors of pyarrow quote cells, so they are replaced."""
    texts = pa.dictionary(pa.int32(), pa.string())
    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(column_names=None if header else [*columns]),
            csv.ParseOptions(quote_char=False, ignore_empty_lines=header),
            csv.ConvertOptions(column_types=dict.fromkeys(columns, texts), include_columns=[*columns]),
        )
    except KeyError:
        raise FileError(f"{str(path)!r} lacks one of the columns {quoted(columns)}; {_REMEDY}") from None
    except pa.ArrowInvalid:
        raise FileError(
            f"{str(path)!r} has lines that are no text or have more or fewer cells than the others; {_REMEDY}"
        ) from None
    return table.to_pandas()


_LICENCE = "PhysioNet project challenge-2012 1.0.0; open, ODC-BY 1.0"
SERIES = Dataset(
    name="physionet2012",
    title="PhysioNet/CinC 2012: 48 hours of ICU stays by the hour, death in hospital",
    files="set-a.tar.gz and Outcomes-a.txt (and b, c), or unpacked folders set-a/",
    licence=_LICENCE,
    read=physionet2012_series,
)
TABLE = Dataset(
    name="physionet2012-table",
    title="the same stays as a table: first, last, lowest, highest and mean of each measurement",
    files="as physionet2012",
    licence=_LICENCE,
    read=physionet2012_records,
)
