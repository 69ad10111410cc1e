"""SUPPORT2, a real table of 9,105 seriously ill patients which ships with the package; see NOTICE."""

from importlib.resources import as_file, files

import pandas as pd

from aliquot.cohort.cohort import Cohort
from aliquot.cohort.read import read_table

TARGET = "died_within_30_days"


def support2_frame() -> pd.DataFrame:
    """The table as it ships: one row per patient, gaps as they were recorded.

    >>> support2_frame().shape
    (9105, 31)
    """
    with as_file(files(__name__).joinpath("support2.parquet")) as path:
        return read_table(path)


def support2() -> Cohort:
    """The table as a cohort, with death within 30 days of study entry as the outcome.

    >>> cohort = support2()
    >>> cohort.target, cohort.classes, round(cohort.prevalence[1], 3)
    ('died_within_30_days', (0, 1), 0.271)
    """
    return Cohort.from_frame(support2_frame(), target=TARGET)
