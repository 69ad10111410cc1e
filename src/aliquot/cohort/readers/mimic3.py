"""ICU stays of the MIMIC-III benchmark (Harutyunyan et al. 2019): deaths in hospital and the first 48 hours.

A folder ``in-hospital-mortality`` as the suite YerevaNN/mimic3-benchmarks writes it: ``train/`` and ``test/`` with a
``listfile.csv`` each (``stay,y_true``) and one file ``<patient>_episode<k>_timeseries.csv`` per stay, which has the
column ``Hours`` and 17 channels. After the suite's own split, three more list files lie beside the two folders.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from aliquot.cohort.datasets import Dataset
from aliquot.cohort.options import Option
from aliquot.cohort.records import Records
from aliquot.cohort.roles import draw_tuning
from aliquot.cohort.values import LARGEST, infinite, numbers, unreadable
from aliquot.cohort.wording import counted, listed, quoted
from aliquot.disclosure import masked_count
from aliquot.errors import FileError, SettingsError

ColumnSet = Literal["merged", "raw", "codes"]
Fill = Literal["previous", "none"]
Balance = Literal["none", "under", "over"]

HOURS = 48
_TIME, _TARGET = "Hours", "died_in_hospital"
SCALES: dict[str, dict[str, int]] = {  # code of each spelling; spellings in the order of the suite's own columns
    "Capillary refill rate": {"0.0": 0, "1.0": 1},
    "Glascow coma scale eye opening": {
        **{"To Pain": 2, "3 To speech": 3, "1 No Response": 1, "4 Spontaneously": 4, "None": 0, "To Speech": 3},
        **{"Spontaneously": 4, "2 To pain": 2},
    },
    "Glascow coma scale motor response": {
        **{"1 No Response": 1, "3 Abnorm flexion": 3, "Abnormal extension": 2, "No response": 1, "4 Flex-withdraws": 4},
        **{"Localizes Pain": 5, "Flex-withdraws": 4, "Obeys Commands": 6, "Abnormal Flexion": 3, "6 Obeys Commands": 6},
        **{"5 Localizes Pain": 5, "2 Abnorm extensn": 2},
    },
    "Glascow coma scale total": {str(total): total for total in (11, 10, 13, 12, 15, 14, 3, 5, 4, 7, 6, 9, 8)},
    "Glascow coma scale verbal response": {
        **{"1 No Response": 1, "No Response": 1, "Confused": 4, "Inappropriate Words": 3, "Oriented": 5},
        **{"No Response-ETT": 1, "5 Oriented": 5, "Incomprehensible sounds": 2, "1.0 ET/Trach": 1, "4 Confused": 4},
        **{"2 Incomp sounds": 2, "3 Inapprop words": 3},
    },
}
NORMAL: dict[str, float | str] = {  # what a channel is taken to be before it was first measured
    "Capillary refill rate": "0.0",
    "Diastolic blood pressure": 59.0,
    "Fraction inspired oxygen": 0.21,
    "Glascow coma scale eye opening": "4 Spontaneously",
    "Glascow coma scale motor response": "6 Obeys Commands",
    "Glascow coma scale total": "15",
    "Glascow coma scale verbal response": "5 Oriented",
    "Glucose": 128.0,
    "Heart Rate": 86.0,
    "Height": 170.0,
    "Mean blood pressure": 77.0,
    "Oxygen saturation": 98.0,
    "Respiratory rate": 19.0,
    "Systolic blood pressure": 118.0,
    "Temperature": 36.6,
    "Weight": 81.0,
    "pH": 7.4,
}
CHANNELS = tuple(NORMAL)

_NUMBERED = ("Capillary refill rate", "Glascow coma scale total")  # may be written with or without ".0"
_PLACES = {  # of each accepted spelling among those of its scale
    channel: {spelling: place for place, spelling in enumerate(scale)}
    | {f"{code}{end}": place for place, code in enumerate(scale.values()) for end in ("", ".0") if channel in _NUMBERED}
    for channel, scale in SCALES.items()
}
_SPLIT_LISTS = (
    ("train_listfile.csv", "train", "train"),
    ("val_listfile.csv", "train", "tuning"),
    ("test_listfile.csv", "test", "held_out"),
)
_LISTS = (("train/listfile.csv", "train", "train"), ("test/listfile.csv", "test", "held_out"))
_STAY = re.compile(r"([0-9]+)_episode[0-9]+_timeseries\.csv", re.ASCII)
_EPSILON = 1e-6  # hours; the suite's own tolerance
_STAYS_AT_ONCE = 2_000  # bounds the memory for text
_REMEDY = "make the folder with the scripts of mimic3-benchmarks again"


def read_mimic3(
    folder: Path,
    *,
    columns: ColumnSet = "merged",
    masks: bool = True,
    fill: Fill = "previous",
    balance: Balance = "none",
    seed: int = 0,
) -> Records:
    r"""Stays with their 48 hours: series (n, 48, C), label 1 where the patient died, the patient as group.

    Hour k holds what was measured in (k, k + 1], hour 0 also the time 0; of several values the last in the file
    counts. Then each channel keeps its last value, and before the first has the suite's normal value.

    ===============================  =============================================================  ==============
    columns                          series                                                         C with masks
    ===============================  =============================================================  ==============
    merged                           0/1 for each code of the five scales, 12 numbers               43 + 17 = 60
    raw                              0/1 for each spelling, as the suite itself, 12 numbers         59 + 17 = 76
    codes                            the codes as numbers, 12 numbers                               17 + 17 = 34
    merged or codes, fill="none"     as codes, missing where nothing was measured, never masks      17
    ===============================  =============================================================  ==============

    Masks are 1 where the hour had a value before filling. Names are as in the suite: ``Heart Rate``,
    ``Glascow coma scale total->15``, ``mask->pH``; a merged level has the numbered one of its spellings. Nothing is
    scaled; only columns without ``->`` in their name should be.

    ===========================================  ==================================================
    list files                                   roles
    ===========================================  ==================================================
    ``train_``, ``val_``, ``test_listfile.csv``  train, tuning, held_out
    ``train/`` and ``test/listfile.csv``         the same, tuning drawn with ``seed`` by `draw_tuning`
    ``train/listfile.csv`` only                  none
    ===========================================  ==================================================

    ``balance`` makes both outcomes equally frequent in the training part, drawn with ``seed``: "under" leaves out
    stays of the more frequent one, "over" repeats stays of the rarer one (their ids end in ``#2``, ``#3``, …).

    >>> import tempfile
    >>> lines = ["Hours," + ",".join(CHANNELS), "0.5" + "," * 9 + "80" + "," * 8, "3.0" + "," * 9 + "95" + "," * 8]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "train").mkdir()
    ...     for stay in ("1_episode1_timeseries.csv", "2_episode1_timeseries.csv"):
    ...         _ = Path(folder, "train", stay).write_text("\n".join(lines))
    ...     stays = "1_episode1_timeseries.csv,0\n2_episode1_timeseries.csv,1\n"
    ...     _ = Path(folder, "train", "listfile.csv").write_text("stay,y_true\n" + stays)
    ...     records = read_mimic3(Path(folder))
    >>> records.series.shape, records.labels.tolist(), records.groups.tolist()
    ((2, 48, 60), [0, 1], ['1', '2'])
    >>> records.series[0, :4, records.channels.index("Heart Rate")].tolist()
    [80.0, 80.0, 95.0, 95.0]
    """
    _check_settings(columns=(columns, ColumnSet), fill=(fill, Fill), balance=(balance, Balance))
    if fill == "none" and columns == "raw":
        raise SettingsError('asked for columns="raw" without filling, but a gap has no spelling; ask for "codes"')
    stays, notes = _listed(Path(folder), seed)
    if balance != "none":
        stays, more = _balanced(stays, balance, seed)
        notes = (*notes, more)
    grid = _read_grid(Path(folder), stays)
    masks = masks and fill == "previous"
    observed = ~np.isnan(grid) if masks else None
    if fill == "previous":
        fill_grid(grid)
    series, channels = encode_grid(grid, "codes" if fill == "none" else columns, observed)
    copies = stays.groupby("stay").cumcount().to_numpy() + 1
    return Records(
        labels=stays["label"].to_numpy(dtype=np.int8),
        ids=np.array(
            [f"{stay}#{copy}" if copy > 1 else stay for stay, copy in zip(stays["stay"], copies, strict=True)]
        ),
        frame=pd.DataFrame(index=pd.RangeIndex(len(stays))),
        series=series,
        channels=channels,
        groups=stays["patient"].to_numpy(dtype=str),
        roles=stays["role"].to_numpy(dtype=str) if "held_out" in set(stays["role"]) else None,
        target=_TARGET,
        notes=notes,
    )


def _check_settings(**settings: tuple[str, object]) -> None:
    for name, (value, known) in settings.items():
        if value not in get_args(known):
            raise SettingsError(f"unknown {name} {value!r}; known: {listed(get_args(known))}")


def _listed(folder: Path, seed: int) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The stays of the list files with label, patient, role and part (the folder they are in), and notes."""
    split = all((folder / name).is_file() for name, _, _ in _SPLIT_LISTS)
    lists = _SPLIT_LISTS if split else [entry for entry in _LISTS if (folder / entry[0]).is_file()]
    if "train" not in [role for _, _, role in lists]:
        raise FileError(
            f"the folder {str(folder)!r} has no 'train/listfile.csv'; name the folder in-hospital-mortality that the "
            "scripts of mimic3-benchmarks make"
        )
    stays = pd.concat(
        [_read_list(folder / name).assign(part=part, role=role) for name, part, role in lists], ignore_index=True
    )
    _check_stays(folder, stays)
    if split:
        return stays, ()
    if len(lists) == 1:
        return stays, ("the folder has no list of test stays, so the split is left to Aliquot",)
    roles = stays["role"].to_numpy(dtype=str)
    roles = draw_tuning(stays["label"].to_numpy(), stays["patient"].to_numpy(dtype=str), roles, seed=seed)
    moved = masked_count(int((roles == "tuning").sum()), "stay")
    note = f"the folder has no list of validation stays, so 15 % of the training patients ({moved}) are used for tuning"
    return stays.assign(role=roles), (note,)


def _read_list(path: Path) -> pd.DataFrame:
    try:
        header, *lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line] or [""]
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{str(path)!r} cannot be read as text; {_REMEDY}") from None
    cells = [line.split(",") for line in lines]
    labels = [row[-1] for row in cells]
    names = [_STAY.fullmatch(row[0]) for row in cells]
    problems = Counter(
        {
            ("line", "with more or fewer than 2 cells"): sum(len(row) != 2 for row in cells),
            ("line", "without the name of a stay, as in 1_episode1_timeseries.csv"): names.count(None),
            ("line", "whose y_true is not 0 or 1"): sum(label not in ("0", "1") for label in labels),
        }
    )
    if header != "stay,y_true":
        raise FileError(f"{str(path)!r} has another first line than stay,y_true; {_REMEDY}")
    if not lines:
        raise FileError(f"{str(path)!r} lists no stays; {_REMEDY}")
    _refuse(path, problems)
    stays = [(name[0], name[1]) for name in names if name]
    return pd.DataFrame(stays, columns=["stay", "patient"]).assign(label=[int(label) for label in labels])


def _check_stays(folder: Path, stays: pd.DataFrame) -> None:
    there = {part: _names_in(folder / part) for part in set(stays["part"])}
    absent = sum(stay not in there[part] for stay, part in zip(stays["stay"], stays["part"], strict=True))
    divided = int((stays.groupby("patient")["role"].nunique() > 1).sum())
    problems = {
        ("stay", "listed more than once"): int(stays["stay"].duplicated().sum()),
        ("listed stay", "without a file"): absent,
        ("patient", "in more than one of the list files"): divided,
    }
    _refuse(folder, Counter(problems))


def _names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def _balanced(stays: pd.DataFrame, balance: str, seed: int) -> tuple[pd.DataFrame, str]:
    if set(stays["role"]) == {"train"}:
        raise SettingsError(
            f'asked for balance="{balance}", but without a list of test stays the training part is not known yet; '
            'pass balance="none"'
        )
    rng = np.random.default_rng((seed, 1))  # not the draws of draw_tuning again
    train = (stays["role"] == "train").to_numpy()
    few, many = sorted((np.flatnonzero(train & (stays["label"] == label)) for label in (0, 1)), key=len)
    if not few.size:
        raise SettingsError(f'asked for balance="{balance}", but only one outcome occurs in training; pass "none"')
    surplus = many.size - few.size
    changed = masked_count(surplus, "training stay")
    if balance == "under":
        kept = np.delete(np.arange(len(stays)), rng.permutation(many)[:surplus])
        return stays.iloc[kept], f"{changed} left out to balance the outcomes"
    rounds, rest = divmod(surplus, few.size)
    again = np.concatenate([np.tile(few, rounds), np.sort(rng.permutation(few)[:rest])])
    return pd.concat([stays, stays.iloc[again]]), f"{changed} repeated to balance the outcomes"


def _read_grid(folder: Path, stays: pd.DataFrame) -> np.ndarray:
    """What was measured last in every hour, (n, 48, 17): numbers, or the place of a spelling in its scale."""
    distinct = stays.drop_duplicates("stay")
    grid = np.full((len(distinct), HOURS, len(CHANNELS)), np.nan, dtype=np.float32)
    paths = [folder / part / stay for stay, part in zip(distinct["stay"], distinct["part"], strict=True)]
    problems = Counter()
    for start in range(0, len(paths), _STAYS_AT_ONCE):
        chosen = slice(start, start + _STAYS_AT_ONCE)
        problems += _read_stays(folder, paths[chosen], grid[chosen])
    _refuse(folder, problems)
    if len(distinct) == len(stays):
        return grid
    return grid[pd.Index(distinct["stay"]).get_indexer(pd.Index(stays["stay"]))]


def _read_stays(folder: Path, paths: Sequence[Path], grid: np.ndarray) -> Counter:
    """Fill the grid (in place) from the files of its stays, and count what is wrong in them."""
    problems = Counter()
    gathered = defaultdict(lambda: ([], []))  # by header: the stay of each line, and the lines, to be parsed at once
    for stay, path in enumerate(paths):
        try:
            header, *lines = [line for line in path.read_bytes().splitlines() if line] or [b""]
        except OSError:
            raise FileError(f"{str(folder)!r} has a stay that cannot be read; check the permissions") from None
        gathered[header][0].append(np.full(len(lines), stay))
        gathered[header][1].extend(lines)
        problems["stay", "without any line after the first"] += not lines
    for header, (owners, lines) in gathered.items():
        if lines:
            table = _parse(folder, header, b"\n".join(lines))
            problems += _enter(table, np.concatenate(owners), grid)
    return problems


def _parse(folder: Path, header: bytes, text: bytes) -> pd.DataFrame:
    """Time and channels by name; scales as categories; numbers as text where some are none, to be counted."""
    names = header.decode("utf-8", errors="replace").split(",")
    lacking = [name for name in (_TIME, *CHANNELS) if names.count(name) != 1]
    if lacking:
        raise FileError(f"{str(folder)!r} has stays without one column each named {quoted(lacking)}; {_REMEDY}")
    for kind in (pa.float64(), pa.string()):
        kinds = dict.fromkeys((_TIME, *CHANNELS), kind) | dict.fromkeys(SCALES, pa.dictionary(pa.int32(), pa.string()))
        try:
            return csv.read_csv(
                pa.BufferReader(text),
                csv.ReadOptions(column_names=names),
                csv.ParseOptions(quote_char=False),
                csv.ConvertOptions(
                    column_types=kinds, include_columns=[*kinds], null_values=[""], strings_can_be_null=True
                ),  # "None" is a level, so only an empty cell is missing
            ).to_pandas()
        except pa.ArrowInvalid:  # quotes cells, so it is replaced
            continue
    raise FileError(
        f"{str(folder)!r} has stays whose lines are no text or have more or fewer cells than the header; {_REMEDY}"
    )


def _enter(table: pd.DataFrame, owners: np.ndarray, grid: np.ndarray) -> Counter:
    """Write the cells into the grid (in place), later lines over earlier ones, and count what is wrong."""
    hours = numbers(table[_TIME])
    inside = (hours > -_EPSILON) & (hours < HOURS + _EPSILON)
    backwards = (np.diff(hours) < -_EPSILON) & (np.diff(owners) == 0)
    problems = Counter(
        {
            ("line", f"without a time from 0 to {HOURS} hours"): int((~inside).sum()),
            ("line", "with an earlier time than the line before"): int(backwards.sum()),
        }
    )
    hour = np.clip(np.where(inside, hours - _EPSILON, 0).astype(np.int64), 0, HOURS - 1)
    for place, channel in enumerate(CHANNELS):
        values = _values(channel, table[channel])
        wrong = unreadable(table[channel], values) + infinite(values)
        meaning = "a known level" if channel in SCALES else "a finite number"
        problems["cell", f"of {channel!r} without {meaning}"] += wrong
        there = np.abs(values) <= LARGEST
        grid[owners[there], hour[there], place] = values[there]  # of repeated places the last counts
    return problems


def _values(channel: str, cells: pd.Series) -> np.ndarray:
    if channel not in SCALES:
        return numbers(cells)
    places = [_PLACES[channel].get(text, np.nan) for text in cells.cat.categories]
    return np.array([*places, np.nan])[cells.cat.codes]


def fill_grid(grid: np.ndarray) -> None:
    """Carry every channel forward (in place), starting from the normal value."""
    start = [_PLACES[channel][value] if isinstance(value, str) else value for channel, value in NORMAL.items()]
    before = np.array(start, dtype=np.float32)
    for hour in range(HOURS):
        before = np.where(np.isnan(grid[:, hour]), before, grid[:, hour])
        grid[:, hour] = before


def encode_grid(
    grid: np.ndarray, columns: ColumnSet, observed: np.ndarray | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The series and its names: scales by what their spellings mean, numbers as they are, masks at the end."""
    meanings = [(channel, *meaning) for channel in CHANNELS for meaning in _meanings(channel, columns)]
    names = [name for _, name, _ in meanings] + [f"mask->{channel}" for channel in CHANNELS if observed is not None]
    series = np.empty((*grid.shape[:2], len(names)), dtype=np.float32)
    for column, (channel, _, meaning) in enumerate(meanings):
        cells = grid[..., CHANNELS.index(channel)]
        if meaning is None:
            series[..., column] = cells
        else:
            series[..., column] = np.append(meaning, np.nan)[np.where(np.isnan(cells), -1, cells).astype(np.int8)]
    if observed is not None:
        series[..., len(meanings) :] = observed
    return series, tuple(names)


def _meanings(channel: str, columns: ColumnSet) -> list[tuple[str, np.ndarray | None]]:
    """Names of the columns of one channel, and the number that each of its spellings has there."""
    if channel not in SCALES:
        return [(channel, None)]
    spellings, codes = [*SCALES[channel]], np.array([*SCALES[channel].values()], dtype=np.float32)
    if columns == "codes":
        return [(channel, codes)]
    if columns == "raw":
        return [(f"{channel}->{spelling}", np.eye(len(codes))[place]) for place, spelling in enumerate(spellings)]
    same = [codes == code for code in np.unique(codes)]
    return [(f"{channel}->{min(np.array(spellings)[levels])}", levels.astype(float)) for levels in same]


def _refuse(path: Path, problems: Counter) -> None:
    found = [f"{counted(count, noun)} {phrase}" for (noun, phrase), count in problems.items() if count]
    if found:
        raise FileError(f"{str(path)!r} has {listed(found, separator='; ')}; {_REMEDY}")


MIMIC3 = Dataset(
    name="mimic3",
    title="MIMIC-III benchmark of in-hospital mortality: 48 hours × 60 columns",
    files="the folder in-hospital-mortality/ that YerevaNN/mimic3-benchmarks writes (train/, test/, list files)",
    licence="MIMIC-III 1.4 on PhysioNet; credentialed access",
    read=read_mimic3,
    options={
        "columns": Option("merged (60, default), raw (76) or codes (34), masks included"),
        "masks": Option("true or false", bool),
        "fill": Option("previous or none"),
        "balance": Option("of the training part: none, under or over"),
        "seed": Option("of balancing and of the tuning part", int),
    },
)
