"""Files of statistical packages: labels, dates, missing values, missing packages."""

import numpy as np
import pandas as pd
import pyreadr
import pyreadstat
import pytest

from aliquot.cohort import infer_schema, read_patients, read_table
from aliquot.cohort.tables import packages
from aliquot.errors import FileError

FRAME = pd.DataFrame(
    {
        "age": [61.0, 74.0, -9.0, np.nan],
        "sex": [1.0, 2.0, 2.0, np.nan],
        "ward": ["icu", "hdu", "icu", "ed"],
        "seen": pd.to_datetime(["2024-01-31", "2024-02-01", "2024-02-02", "2024-02-03"]),
    }
)
LABELS = {"sex": {1: "male", 2: "female"}, "age": {-9: "not known"}}


def check(frame, *, dated=True):
    assert frame["age"].tolist()[:3] == [61, 74, -9]  # a label of some values alone leaves numbers
    assert frame["age"].isna().tolist() == [False, False, False, True]
    assert frame["sex"].astype(object).tolist()[:3] == ["male", "female", "female"]
    assert frame["sex"].isna().tolist() == [False, False, False, True]
    assert frame["ward"].tolist() == ["icu", "hdu", "icu", "ed"]
    kinds = infer_schema(frame)
    assert kinds["sex"].kind == "categorical"
    assert not dated or kinds["seen"].kind == "date"


def test_stata(tmp_path):
    pyreadstat.write_dta(FRAME, str(tmp_path / "t.dta"), variable_value_labels=LABELS)
    check(read_table(tmp_path / "t.dta"), dated=False)
    FRAME[["age", "seen"]].to_stata(tmp_path / "d.dta", write_index=False, convert_dates={"seen": "td"})
    stays = read_patients(tmp_path / "d.dta")
    assert infer_schema(stays.frame)["seen"].kind == "date"
    assert stays.found.format == "Stata"


def test_stata_with_one_label_for_two_values(tmp_path):
    same = FRAME.assign(sex=[1.0, 2.0, 3.0, 3.0])
    labels = {"sex": {1: "male", 2: "female", 3: "female"}}
    pyreadstat.write_dta(same, str(tmp_path / "t.dta"), variable_value_labels=labels)
    assert read_table(tmp_path / "t.dta")["sex"].tolist() == ["male", "female", "female", "female"]


@pytest.mark.parametrize("name", ["t.sav", "t.zsav"])
def test_spss(name, tmp_path):
    pyreadstat.write_sav(FRAME, str(tmp_path / name), variable_value_labels=LABELS, compress=name.endswith("zsav"))
    check(read_table(tmp_path / name))
    assert read_patients(tmp_path / name).found.format == "SPSS"


def test_spss_values_that_the_file_declares_missing(tmp_path):
    ranges = {"age": [{"lo": -9, "hi": -9}]}
    pyreadstat.write_sav(FRAME, str(tmp_path / "t.sav"), missing_ranges=ranges)
    assert read_table(tmp_path / "t.sav")["age"].isna().tolist() == [False, False, True, True]


def test_sas_transport(tmp_path):
    pyreadstat.write_xport(FRAME[["age", "ward"]], str(tmp_path / "t.xpt"), file_format_version=5)
    stays = read_patients(tmp_path / "t.xpt")
    assert stays.frame["age"].tolist()[:3] == [61, 74, -9]
    assert stays.frame["ward"].tolist() == ["icu", "hdu", "icu", "ed"]
    assert stays.found.format == "SAS transport"


@pytest.mark.parametrize("name", ["t.rds", "t.RData"])
def test_r(name, tmp_path):
    frame = FRAME.assign(sex=pd.Categorical(["male", "female", "female", None]))
    if name == "t.rds":
        pyreadr.write_rds(str(tmp_path / name), frame)
    else:
        pyreadr.write_rdata(str(tmp_path / name), frame, df_name="stays")
    check(read_table(tmp_path / name), dated=False)
    assert read_patients(tmp_path / name).found.sheet == (None if name == "t.rds" else "stays")


@pytest.mark.parametrize(("module", "name"), [("pyreadstat", "t.sav"), ("pyreadr", "t.rds")])
def test_a_missing_package_is_named_with_what_to_install(module, name, tmp_path, raises, monkeypatch):
    def absent(asked):
        raise ImportError(asked)

    monkeypatch.setattr(packages, "import_module", absent)
    (tmp_path / name).write_bytes(b"")
    with raises(FileError, module, 'pip install "aliquot[files]"'):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["t.dta", "t.sas7bdat", "t.xpt", "t.sav", "t.zsav", "t.rds", "t.RData"])
def test_a_damaged_file(name, tmp_path, raises, sentinel):
    (tmp_path / name).write_text(sentinel * 50)
    with raises(FileError, name):
        read_table(tmp_path / name)
