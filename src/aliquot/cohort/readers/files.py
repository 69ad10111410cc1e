"""What readers share: tables as text, columns as numbers, and one sentence for all that is wrong with a file."""

import csv
import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
from numpy.typing import ArrayLike
from pyarrow import parquet

from aliquot.cohort.values import LARGEST, level_numbers, unsigned
from aliquot.cohort.wording import counted, listed, quoted
from aliquot.errors import FileError

LIMIT_BYTES = 8_000_000_000  # of an array that a reader would make

_EMPTY = ("", "na", "n/a", "nan", "null", "none")


def column_names(path: Path) -> list[str]:
    """Names in the first line of a .csv or .csv.gz file."""
    return _header(path, _content(path))


def read_text(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """The named columns of a .csv or .csv.gz file as categories of text, without spaces around it; "" where empty.

    Errors of pyarrow quote cells, so they are replaced.
    """
    content = _content(path)
    known = _header(path, content)
    missing = [name for name in columns if name not in known]
    if missing:
        raise FileError(f"{str(path)!r} lacks {_columns(missing)}; add what is missing, or correct its name")
    repeated = [name for name in columns if known.count(name) > 1]
    if repeated:
        raise FileError(f"{str(path)!r} has more than once {_columns(repeated)}; keep one of each name")
    types = dict.fromkeys(columns, pa.dictionary(pa.int32(), pa.string()))
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(content),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(column_types=types, include_columns=[*columns]),
        )
    except pa.ArrowException:
        raise FileError(
            f"{str(path)!r} has lines that are no UTF-8 text or have more or fewer cells than the "
            f"{len(known)} column names; fix these lines or export the table again"
        ) from None
    return pd.DataFrame({name: _stripped(cells) for name, cells in table.to_pandas().items()})


def refuse(path: Path, found: Mapping[str, ArrayLike], *, noun: str = "row", remedy: str = "clean the file") -> None:
    """Raise a FileError if anything was found; each phrase has a truth value per row, line or stay."""
    counts = {phrase: int(np.count_nonzero(np.asarray(where))) for phrase, where in found.items()}
    problems = [f"{counted(count, noun)} {phrase}" for phrase, count in counts.items() if count]
    if problems:
        raise FileError(f"{str(path)!r} has {listed(problems)}; {remedy}")


def zero_or_one(cells: pd.Series) -> np.ndarray:
    """Each cell of ``read_text`` as 0.0 or 1.0, missing where empty and infinite where it is anything else.

    >>> zero_or_one(pd.Series(["1.0", "0", "", "2", "<1"], dtype="category")).tolist()
    [1.0, 0.0, nan, inf, inf]
    """
    values, signed, wrong = signed_numbers(cells)
    return np.where(signed | wrong | ~(np.isnan(values) | np.isin(values, (0, 1))), np.inf, values)


def _columns(names: Sequence[str]) -> str:
    return f"the column {quoted(names)}" if len(names) == 1 else f"the columns {quoted(names)}"


def _content(path: Path) -> bytes:
    if not path.exists():
        raise FileError(f"{str(path)!r} does not exist; check the name and the folder")
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            return stream.read()
    except OSError:
        raise FileError(f"{str(path)!r} cannot be read to its end; check that it is a file and complete") from None


def _header(path: Path, content: bytes) -> list[str]:
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", errors="replace", newline="")
    try:
        return next((row for row in csv.reader(text) if row), [])
    except csv.Error:
        raise FileError(f"{str(path)!r} is not a comma-separated table; check the file") from None


def _stripped(cells: pd.Series) -> pd.Series:
    codes, words = pd.factorize(np.array([word.strip() for word in cells.cat.categories], dtype=object))
    return pd.Series(pd.Categorical.from_codes(codes[cells.cat.codes], pd.Index(words)), index=cells.index)


def signed_numbers(cells: pd.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each cell as float64 without its sign, whether it had < or >, and whether it is neither number nor empty."""
    words, codes = [*cells.cat.categories], cells.cat.codes.to_numpy()
    empty = np.array([word.lower() in _EMPTY for word in words], dtype=bool)
    signs, rest = unsigned(words)
    signed = np.array([sign != "" for sign in signs], dtype=bool)
    values = level_numbers(rest)
    wrong = ~empty & ~(np.abs(values) <= LARGEST)
    return values[codes], signed[codes], wrong[codes]


@contextmanager
def open_parquet(
    path: Path, kinds: Mapping[str, Callable[[pa.DataType], bool]], remedy: str, *, optional: Collection[str] = ()
) -> Iterator[parquet.ParquetFile]:
    """A Parquet file that has these columns, each of a type that its function accepts; else a FileError.

    Columns in ``optional`` may be absent. Errors of pyarrow may quote cells, so those raised while the file is open
    are replaced.
    """
    if not path.is_file():
        raise FileError(f"the file {str(path)!r} is missing; {remedy}")
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            types = dict(zip(names, file.schema_arrow.types, strict=True))
            lacking = [name for name in kinds if names.count(name) != 1 and (name in names or name not in optional)]
            if lacking:
                raise FileError(f"{str(path)!r} has not one column each named {quoted(lacking)}; {remedy}")
            wrong = [f"{name} ({types[name]})" for name in types if name in kinds and not kinds[name](types[name])]
            if wrong:
                raise FileError(f"{str(path)!r} has columns of another type than expected: {quoted(wrong)}; {remedy}")
            yield file
    except (pa.ArrowException, OSError):
        raise FileError(f"{str(path)!r} cannot be read as Parquet to its end; {remedy}") from None


def is_text(kind: pa.DataType) -> bool:
    """Whether a column holds text, as such or as categories.

    >>> is_text(pa.large_string()), is_text(pa.dictionary(pa.int8(), pa.string())), is_text(pa.int64())
    (True, True, False)
    """
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind) in ("string", "large_string", "string_view")


def is_number(kind: pa.DataType) -> bool:
    """Whether a column holds numbers or truth values, or nothing but gaps."""
    types = pa.types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_null(kind)
