"""Files of statistical packages: Stata, SAS, SPSS and R. Value labels become levels."""

import warnings
from collections.abc import Hashable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from aliquot.cohort.checks import check_names
from aliquot.cohort.found import Found
from aliquot.cohort.tables.cells import tidy
from aliquot.cohort.tables.sheets import chosen
from aliquot.cohort.tables.table import Table
from aliquot.errors import FileError

Labels = Mapping[Hashable, str]  # the text of each labelled value


def read_stata(path: Path) -> Table:
    """The table in a .dta file."""
    opened: Any = pd.read_stata(path, iterator=True, convert_categoricals=False)
    with opened as reader:
        frame, labels = reader.read(), reader.value_labels()
        sets = dict(zip(frame.columns, reader._lbllist, strict=True))  # which of the labels a column has
    return _table(frame, {name: labels[one] for name, one in sets.items() if one in labels}, "Stata")


def read_sas(path: Path) -> Table:
    """The table in a .sas7bdat or transport (.xpt) file."""
    transport = path.name.lower().endswith(".xpt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they may quote cells
        if transport:
            frame = pd.read_sas(path, format="xport", encoding="utf-8")
        else:
            frame = pd.read_sas(path, format="sas7bdat", encoding="infer")
    return _table(frame, {}, "SAS transport" if transport else "SAS")


def read_spss(path: Path) -> Table:
    """The table in a .sav or .zsav file; values that the file declares as missing are missing."""
    frame, meta = needed("pyreadstat", path).read_sav(str(path))
    return _table(frame, meta.variable_value_labels, "SPSS")


def read_r(path: Path, sheet: str | None) -> Table:
    """The data frame in an .rds or .RData file: the one named, or the only one."""
    objects = needed("pyreadr", path).read_r(str(path))
    frames = {name: one for name, one in objects.items() if isinstance(one, pd.DataFrame)}
    if None in frames:  # .rds: one object without a name
        return _table(frames[None], {}, "R")
    name = chosen(path, "data frame", sheet, list(frames), list(frames))
    table = _table(frames[name], {}, "R")
    return Table(table.patients, Found(format="R", sheet=name))


def needed(package: str, path: Path) -> ModuleType:
    """An optional package; an error that says how to install it where it is missing."""
    try:
        return import_module(package)
    except ImportError:
        raise FileError(
            f'the file {path.name!r} needs {package}; install it with: pip install "aliquot[files]"'
        ) from None


def _table(frame: pd.DataFrame, labels: Mapping[str, Labels], format: str) -> Table:
    check_names([str(name) for name in frame.columns])
    named = {name: _levels(frame[name], labels[name]) for name in frame.columns if labels.get(name)}
    return Table(tidy(frame.assign(**named).reset_index(drop=True)), Found(format=format))


def _levels(cells: pd.Series, labels: Labels) -> pd.Series:
    """The labels of the values, if all have one; numbers of which only some have one, such as -9, stay numbers.

    >>> _levels(pd.Series([1.0, 2.0, None]), {1: "male", 2: "female"}).tolist()
    ['male', 'female', nan]
    >>> _levels(pd.Series([61.0, -9.0]), {-9: "not known"}).tolist()
    [61.0, -9.0]
    """
    present = set(cells.dropna().unique())
    if not present <= labels.keys():
        return cells
    kept = dict.fromkeys(text for value, text in labels.items() if value in present)
    return pd.Series(pd.Categorical(cells.map(labels), categories=list(kept)), index=cells.index, name=cells.name)
