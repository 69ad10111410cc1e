"""NumPy archives: ``X`` of two dimensions is a table, of three it is series over time."""

from pathlib import Path

import numpy as np
import pandas as pd

from aliquot.cohort.checks import check_names
from aliquot.cohort.found import Found
from aliquot.cohort.series import Series
from aliquot.cohort.stays import Stays
from aliquot.cohort.tables.table import Table
from aliquot.cohort.values import infinite
from aliquot.errors import SchemaError
from aliquot.loading import arrays_in


def read_npz(path: Path) -> Table:
    """The table or series in an archive, with ``y`` and ``ids`` as the columns ``y`` and ``id``."""
    arrays = arrays_in(path)
    stored = {key: arrays[key] for key in ("X", "y", "names", "ids") if key in arrays}
    values = stored.get("X")
    if values is None or values.ndim not in (2, 3) or values.dtype.kind not in "biuf":
        raise SchemaError(f"the file {str(path)!r} has no array X of numbers with two or three dimensions; store one")
    for key, length in (("y", len(values)), ("ids", len(values)), ("names", values.shape[-1])):
        if key in stored and stored[key].shape != (length,):
            raise SchemaError(
                f"the file {str(path)!r} has {key} of shape {stored[key].shape}; with X of shape "
                f"{values.shape} it must be ({length},)"
            )
    names = [str(name) for name in stored.get("names", [f"x{place}" for place in range(values.shape[-1])])]
    extra = {column: pd.Series(stored[key]) for key, column in (("y", "y"), ("ids", "id")) if key in stored}
    check_names([*names, *extra])
    found = Found(format="NumPy arrays")
    if values.ndim == 2:
        return Table(pd.concat([pd.DataFrame(values, columns=pd.Index(names)), pd.DataFrame(extra)], axis=1), found)
    if values.dtype.kind == "f" and infinite(values):
        raise SchemaError(f"the file {str(path)!r} has X with infinite numbers; store NaN where nothing was measured")
    table = pd.DataFrame(extra, index=range(len(values)))
    series = Series(values.astype(np.float32), tuple(names))
    return Table(Stays(table, series, "id" if "id" in extra else None), found)
