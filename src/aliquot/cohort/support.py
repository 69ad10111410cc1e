"""Which columns and channels ten training patients stand behind; the others are no features of a release."""

from dataclasses import replace

import numpy as np
import pandas as pd

from aliquot.cohort.cohort import Cohort
from aliquot.cohort.schema import Schema
from aliquot.cohort.series import Series, few_channels
from aliquot.cohort.values import is_numeric, levels_of
from aliquot.cohort.wording import quoted
from aliquot.disclosure import SUPPORT, patients_in, patients_per
from aliquot.errors import SchemaError


def supported(train: Cohort) -> tuple[Cohort, tuple[str, ...]]:
    """The training patients with the columns and channels that ten of them stand behind, and notes on the others.

    Ten patients must have a value, and ten another one than the others. Channels are counted, not named: in a table
    with one measurement per line their names are cells, which may be one patient's.

    >>> frame = pd.DataFrame({"age": range(40), "pcr": [1.5, 2.5] + [None] * 38, "hiv": [1] * 3 + [0] * 37})
    >>> found, notes = supported(Cohort.from_frame(frame.assign(died=[0, 1] * 20), target="died"))
    >>> found.schema.names, notes
    (('age',), ("left out 'pcr', 'hiv': fewer than 10 training patients have a value, or another one than the others",))
    """
    few = [column.name for column in train.schema if not is_supported(train.frame[column.name], train.patient)]
    series, notes = (None, ()) if train.series is None else _measured(train.series, train.patient)
    if few:
        why = f"fewer than {SUPPORT} training patients have a value, or another one than the others"
        notes = (*notes, f"left out {quoted(few)}: {why}")
    schema = Schema(tuple(column for column in train.schema if column.name not in few))
    if series is None and not len(schema.names):
        raise SchemaError(
            f"no column is left that {SUPPORT} training patients stand behind; pass a table of more patients"
        )
    return replace(train, frame=train.frame[list(schema.names)], schema=schema, series=series), notes


def is_supported(cells: pd.Series, patients: np.ndarray | None) -> bool:
    """Whether ten patients have a value, and ten another one than that of most patients.

    >>> is_supported(pd.Series([0] * 50 + [1] * 9), None), is_supported(pd.Series([0] * 50 + [1] * 10), None)
    (False, True)
    """
    codes = pd.factorize(cells)[0] if is_numeric(cells) else levels_of(cells)[0]
    counts = patients_per(codes, patients)
    return bool(counts.size) and patients_in((codes >= 0) & (codes != counts.argmax()), patients) >= SUPPORT


def _measured(series: Series, patients: np.ndarray | None) -> tuple[Series, tuple[str, ...]]:
    """The channels with support."""
    stays = np.arange(len(series.values)) if patients is None else patients
    whose = np.repeat(stays, series.values.shape[1])
    columns = (pd.Series(series.values[:, :, place].ravel()) for place in range(len(series.channels)))
    kept = [place for place, cells in enumerate(columns) if is_supported(cells, whose)]
    few = len(series.channels) - len(kept)
    if not few:
        return series, ()
    if not kept:
        raise SchemaError(f"no channel was measured in {SUPPORT} training patients; pass series of more patients")
    return series.of_channels(kept), (f"left out {few_channels(few)}",)
