"""Tables as text: how it is encoded, separated and spelt is found from the file, not asked of the user."""

import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO

import pandas as pd

from aliquot.cohort.checks import check_names
from aliquot.cohort.found import Found
from aliquot.cohort.tables.encodings import SPOKEN, encoding_of
from aliquot.cohort.tables.header import MOST_SEEN, MOST_TITLES, check_header, header_place
from aliquot.cohort.tables.numerals import Mark, read_numerals, usual_mark
from aliquot.cohort.tables.table import Table
from aliquot.disclosure import masked_count
from aliquot.errors import FileError

SAMPLE = 1 << 18  # characters from which separator, names and decimal mark are found
SEPARATORS = (",", ";", "\t", "|")

_TOLD = re.compile(r'"?sep=([,;|\t])"?\r?\n')  # a first line for spreadsheets


@dataclass(frozen=True)
class Layout:
    """How the text of a table is to be read."""

    encoding: str
    separator: str
    skipped: int = 0  # lines of the file before the names
    decimal: Mark | None = None
    width: int = 1  # columns


def read_text(path: Path) -> Table:
    """The table in a text; every line of the file is checked, as pandas fills up short ones in silence."""
    layout = layout_of(path)
    with _open(path, layout) as lines:
        _check_lines(path, csv.reader(lines, delimiter=layout.separator))
    with _open(path, layout) as lines:
        if layout.decimal == ",":  # pandas would take a point between thousands for a decimal mark
            frame = pd.read_csv(lines, sep=layout.separator, dtype="str")
        else:
            frame = pd.read_csv(lines, sep=layout.separator, low_memory=False)
    texts = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name].dtype)]
    frame = frame.assign(**{name: read_numerals(frame[name], layout.decimal) for name in texts})
    found = Found(
        format="text",
        encoding=SPOKEN[layout.encoding],
        separator=layout.separator if layout.width > 1 else None,
        decimal=layout.decimal,
        header=layout.skipped + 1,
    )
    return Table(frame, found)


def layout_of(path: Path) -> Layout:
    """The layout of a text, found from its beginning; an error where it has no line of names."""
    encoding = encoding_of(path)
    with _open(path, Layout(encoding, ",")) as lines:
        text = lines.read(SAMPLE)
        whole = not lines.read(1)
    told = _TOLD.match(text)
    start = told.end() if told else 0
    text = text[start:] if whole else text[start : text.rfind("\n") + 1]
    readings = [_reading(text, mark, whole) for mark in ((told[1],) if told else SEPARATORS)]
    best = max(readings, key=lambda reading: reading.fit)
    if not best.records:
        raise FileError(f"the file {str(path)!r} is empty; pass a table with a line of column names")
    header, below = best.records[best.place], best.records[best.place + 1 :][:MOST_SEEN]
    check_header(f"the file {str(path)!r}", header, below)
    columns = [[row[place] for row in below if place < len(row) and row[place].strip()] for place in range(len(header))]
    skipped = best.lines[best.place] + (1 if told else 0)
    return Layout(encoding, best.separator, skipped, usual_mark(columns), len(header))


@dataclass(frozen=True)
class _Reading:
    """A sample read with one separator."""

    separator: str
    records: Sequence[list[str]]  # blank lines are none
    lines: Sequence[int]  # of the file before each
    place: int = 0  # of the names

    @property
    def fit(self) -> tuple[float, int]:
        """How many records have as many cells as there are names, and how many these are."""
        if not self.records or len(self.records[self.place]) < 2:
            return 0.0, 0
        width = len(self.records[self.place])
        return sum(len(record) == width for record in self.records) / len(self.records), width


def _reading(text: str, separator: str, whole: bool) -> _Reading:
    physical = list(io.StringIO(text, newline=""))
    reader = csv.reader(physical, delimiter=separator)
    records, lines, before = [], [], 0
    for record in islice(reader, MOST_TITLES + MOST_SEEN):
        if record:
            records.append(record)
            lines.append(before)
        before = reader.line_num
    if not whole and len(records) > 1 and before == len(physical):  # the last may go on after the sample
        records, lines = records[:-1], lines[:-1]
    reading = _Reading(separator, records, lines)
    if not records:
        return reading
    width = Counter(map(len, records)).most_common(1)[0][0]
    return replace(reading, place=header_place(records, width))


def _open(path: Path, layout: Layout) -> IO[str]:
    """The text from the line of names on."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    lines: IO[str] = opener(path, "rt", encoding=layout.encoding, newline="")  # type: ignore[assignment]
    for _ in range(layout.skipped):
        lines.readline()
    return lines


def _check_lines(path: Path, rows: Iterator[list[str]]) -> None:
    """Raise an error where names are missing or repeated, or lines have more or fewer cells than there are names."""
    header = next((row for row in rows if row), [])
    check_names(header)
    ragged = sum(len(row) != len(header) for row in rows if row)
    if ragged:
        raise FileError(
            f"the file {str(path)!r} has {masked_count(ragged, 'line')} with more or fewer cells than its "
            f"{len(header)} column names; fix these lines or export the table again"
        )
