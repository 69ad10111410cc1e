"""What a reader returns."""

from typing import NamedTuple

import pandas as pd

from aliquot.cohort.found import Found
from aliquot.cohort.stays import Stays


class Table(NamedTuple):
    """The cells, or series with what does not change beside them, and what the file turned out to be."""

    patients: pd.DataFrame | Stays
    found: Found
