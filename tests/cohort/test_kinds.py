import datetime

import numpy as np
import pandas as pd
import pytest

from aliquot.cohort.kinds import kind_of

CASES = {
    "boolean dtype": ("x", [True, False], "boolean"),
    "boolean with gap": ("x", [True, None, False], "boolean"),
    "yes and no": ("x", ["Yes", "no", None], "boolean"),
    "only yes": ("x", ["yes", "yes"], "categorical"),
    "zero and one": ("x", [0, 1, 1], "boolean"),
    "zero and one as floats": ("x", [0.0, np.nan, 1.0], "boolean"),
    "integers": ("x", [3, 1, 2], "integer"),
    "whole floats": ("x", [3.0, np.nan, 2.0], "integer"),
    "floats": ("x", [3.5, np.nan], "numeric"),
    "infinite": ("x", [3.0, np.inf], "numeric"),
    "all missing": ("x", [np.nan, np.nan], "numeric"),
    "numbers as text": ("x", ["3.5", None, "4"], "numeric"),
    "whole numbers as text": ("x", ["3", None, "4"], "integer"),
    "mixed": ("x", ["3.5", "n/d"], None),
    "mixed objects": ("x", [3.5, "n/d"], None),
    "timestamps": ("x", pd.to_datetime(["2024-01-31", None]), "date"),
    "date objects": ("x", [datetime.date(2024, 1, 31), None], "date"),
    "ISO dates": ("x", ["2024-01-31", "2024-02-01T10:30:00Z"], "date"),
    "European dates": ("x", ["31/01/2024", "01.02.2024 10:30"], "date"),
    "nearly all dates": ("x", ["2024-01-31"] * 19 + ["unknown"], "date"),
    "many dates": ("x", ["2024-01-31"] * 9 + ["unknown"], "categorical"),
    "unique words": ("x", [f"p{row}" for row in range(20)], "identifier"),
    "few unique words": ("x", [f"p{row}" for row in range(19)], "categorical"),
    "unique sentences": ("x", [f"note {row}" for row in range(20)], "categorical"),
    "unique integers": ("x", [7, 8, 9], "integer"),
    "unique integers called id": ("Stay_ID", [7, 8, 9], "identifier"),
    "repeated integers called id": ("stay_id", [7, 8, 8], "integer"),
    "words": ("x", ["a", "b", "a"], "categorical"),
    "decimal commas": ("x", ["36,5", "37,25"], "numeric"),
    "thousands or decimals": ("x", ["1,250", "2,500"], None),
    "bounds": ("x", ["<0.2", "5", "7.5"], "numeric"),
    "mostly bounds": ("x", [">90", ">90", "60", "70", "<15"], "numeric"),
    "only bounds": ("x", ["<5", ">5"], "categorical"),
    "bounds and words": ("x", ["<0.2", "5", "lost"], None),
    "ICD-9": ("x", ["250", "V45", "E888", "250.02"], "code"),
    "ICD-9 and a mark": ("x", ["250"] * 10 + ["V45"] * 10 + ["?"], "code"),
    "beds": ("x", ["3", "3a"], "code"),
    "numbers with a flag": ("x", ["1.5", "2.5H"], None),
    "many codes": ("x", [f"I{row % 210:03}" for row in range(500)], "code"),
    "many words": ("x", [f"seen on {row % 210}" for row in range(500)], "text"),
    "many categories": ("x", pd.Categorical([f"seen on {row % 210}" for row in range(500)]), "text"),
    "large unique integers": ("account", np.arange(20) + 10_000, "identifier"),
    "large repeated integers": ("platelets", np.resize([150_000, 300_000], 20), "integer"),
    "numbers of eight digits": ("x", [40_000_001, 40_000_001], "identifier"),
    "repeated patients": ("patient_nbr", [7, 7, 8], "identifier"),
    "NHS Number": ("NHS Number", ["943 476 5919", "943 476 5919"], "identifier"),
    "MRN": ("MRN", ["A1", "A1", "B2"], "identifier"),
    "categorical dtype": ("x", pd.Categorical([1, 2, 1]), "categorical"),
    "nullable integers": ("x", pd.array([3, None, 2], dtype="Int64"), "integer"),
}


@pytest.mark.parametrize(("name", "cells", "kind"), CASES.values(), ids=CASES.keys())
def test_kind(name, cells, kind):
    assert kind_of(name, pd.Series(cells)) == kind
