"""The cells of one column, read as levels, as numbers or as truth values.

All three readings treat missing cells alike and never raise on odd content: a cell that cannot be read so
becomes missing in the result, and the caller counts the difference.
"""

import re

import numpy as np
import pandas as pd

LARGEST = 1e30  # beyond this, float32 scores could overflow; no measurement gets there
YES_NO_PAIRS = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1"))

_SIGNED = re.compile(r"\s*(<=|>=|[<>≤≥])\s*")
_COMMA = re.compile(r"\s*[-+]?(\d+),(\d+)\s*")
_TRUTH = {word: float(value) for pair in YES_NO_PAIRS for value, word in enumerate(pair)}


def levels_of(cells: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Code of each cell (-1 where missing) and the text of each distinct level, in order of appearance.

    Whole numbers are spelt without a decimal point, so that a column of codes reads the same with and without
    gaps.

    >>> codes, levels = levels_of(pd.Series([2.0, None, 1.0, 2.0]))
    >>> codes.tolist(), levels
    ([0, -1, 1, 0], ['2', '1'])
    """
    try:
        codes, distinct = pd.factorize(cells)
    except TypeError:  # lists or dictionaries in the cells, as in nested Parquet columns
        codes, distinct = pd.factorize(cells.map(str, na_action="ignore"))
    if len(distinct) == 0:
        return codes, []
    merged, levels = pd.factorize(np.array([spelt(value) for value in distinct], dtype=object))
    return np.where(codes < 0, -1, merged[codes]), list(levels)


def numbers(cells: pd.Series) -> np.ndarray:
    """Each cell as float64, of ``<0.2`` and the like the bound; missing where it is empty or not a number.

    >>> numbers(pd.Series(["1.5", None, "high", ">90"])).tolist()
    [1.5, nan, nan, 90.0]
    """
    if is_numeric(cells):
        return cells.to_numpy(dtype="float64", na_value=np.nan)
    codes, levels = levels_of(cells)
    return np.append(written_numbers(levels), np.nan)[codes]


def signs(cells: pd.Series) -> np.ndarray:
    """The sign before each cell's number, "" where there is none.

    >>> signs(pd.Series(["<0.2", "≥ 7", "5", None])).tolist()
    ['<', '≥', '', '']
    """
    if is_numeric(cells):
        return np.full(len(cells), "", dtype=object)
    codes, levels = levels_of(cells)
    return np.array([*unsigned(levels)[0], ""], dtype=object)[codes]


def unsigned(levels: list[str]) -> tuple[list[str], list[str]]:
    """The sign <, <=, ≤, >, >= or ≥ before each text, "" where there is none, and the rest.

    >>> unsigned(["<=5", "36.5"])
    (['<=', ''], ['5', '36.5'])
    """
    found = [_SIGNED.match(level) for level in levels]
    return (
        ["" if one is None else one[1] for one in found],
        [level if one is None else level[one.end() :] for level, one in zip(levels, found, strict=True)],
    )


def level_numbers(levels: list[str]) -> np.ndarray:
    """Each text as float64, missing where it does not write a number."""
    parsed = pd.to_numeric(pd.Series(levels, dtype=object), errors="coerce")
    return parsed.to_numpy(dtype="float64", na_value=np.nan)


def written_numbers(levels: list[str]) -> np.ndarray:
    """Each text as float64, also with a sign before it or a decimal comma; missing where it does not write a number.

    Commas are decimal marks where one of the texts can be nothing else; "1,250" alone may be a thousand and is none.

    >>> written_numbers(["36,5", "1,250", "<0.2"]).tolist(), written_numbers(["1,250"]).tolist()
    ([36.5, 1.25, 0.2], [nan])
    """
    rest = unsigned(levels)[1]
    parsed = level_numbers(rest).copy()
    if _has_decimal_comma(rest):
        for place in np.flatnonzero(np.isnan(parsed)):
            if _COMMA.fullmatch(rest[place]):
                parsed[place] = float(rest[place].replace(",", "."))
    return parsed


def truths(cells: pd.Series) -> np.ndarray:
    """Each cell as 0.0 or 1.0; missing where it is empty or neither yes-like nor no-like.

    >>> truths(pd.Series(["Yes", "no", None, "perhaps"])).tolist()
    [1.0, 0.0, nan, nan]
    """
    codes, levels = levels_of(cells)
    meanings = [_TRUTH.get(level.strip().lower(), np.nan) for level in levels]
    return np.array([*meanings, np.nan])[codes]


def unreadable(cells: pd.Series, values: np.ndarray) -> int:
    """How many cells hold something that the reading ``values`` could not take.

    >>> cells = pd.Series(["1.5", None, "high"])
    >>> unreadable(cells, numbers(cells))
    1
    """
    return int(np.count_nonzero(np.isnan(values) & cells.notna().to_numpy()))


def infinite(values: np.ndarray) -> int:
    """How many values are infinite or beyond ``LARGEST``."""
    return int(np.count_nonzero(np.abs(values) > LARGEST))


def is_numeric(cells: pd.Series) -> bool:
    """Whether the column's type, not just its content, is a real number or a truth value."""
    types = pd.api.types
    return types.is_numeric_dtype(cells.dtype) and not types.is_complex_dtype(cells.dtype)


def loose_spelling(level: str) -> str:
    """A level's text as it may come back from a file that does not know it for text.

    There, apostrophes guard what a spreadsheet would run, and numbers and truth values lose their spelling.

    >>> [loose_spelling(level) for level in ("'=A", "007", "1.50", "TRUE", "ICU")]
    ['=A', '7', '1.5', 'true', 'ICU']
    """
    text = level.replace("'", "")
    if text.lower() in ("true", "false"):
        return text.lower()
    try:
        return spelt(float(text))
    except ValueError:
        return text


def spelt(value: object) -> str:
    """A cell as text, a whole number without a decimal point."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _has_decimal_comma(levels: list[str]) -> bool:
    found = [_COMMA.fullmatch(level) for level in levels]
    return any(one is not None and (len(one[2]) != 3 or int(one[1]) == 0) for one in found)
