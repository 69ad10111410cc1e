"""A reader of another package: one entry point, and its dataset is listed, read and condensed by name."""

import sys
from importlib.metadata import EntryPoint

import numpy as np
import pandas as pd
import pytest

from aliquot import registry
from aliquot.cli import main
from aliquot.cohort import Columns
from aliquot.cohort.datasets import Dataset
from aliquot.cohort.options import Option
from aliquot.errors import SettingsError
from aliquot.run.source import Source

MODULE = """
from pathlib import Path

import numpy as np
import pandas as pd

from aliquot.cohort import Records
from aliquot.cohort.datasets import Dataset
from aliquot.cohort.options import Option


def read(folder: Path, *, oldest: float = 130.0) -> Records:
    table = pd.read_csv(folder / "patients.csv")
    table = table[table["age"] <= oldest]
    return Records(table["died"].to_numpy(np.int8), table["id"].astype(str).to_numpy(), table[["age", "sex"]])


WARD = Dataset(
    name="ward",
    title="patients of a ward",
    files="patients.csv",
    licence="ours",
    read=read,
    options={"oldest": Option("age in years", float)},
)
"""
ENTRY = "[aliquot.readers]\nward = ward_reader:WARD\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with patients; an installed package can read it."""
    package = tmp_path / "site"
    about = package / "ward_reader-1.0.dist-info"
    about.mkdir(parents=True)
    (package / "ward_reader.py").write_text(MODULE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ward-reader\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY)
    monkeypatch.syspath_prepend(str(package))
    registry._added.cache_clear()
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 120)
    data = tmp_path / "data"
    data.mkdir()
    ages = (60 + 10 * died + rng.normal(0, 10, 120)).round()
    table = pd.DataFrame({"id": np.arange(120), "age": ages, "sex": np.resize(["f", "m"], 120), "died": died})
    table.to_csv(data / "patients.csv", index=False)
    yield data
    registry._added.cache_clear()
    sys.modules.pop("ward_reader", None)


def test_it_is_listed(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["aliquot", "cohorts"])
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr().out
    assert "ward: patients of a ward\n  files: patients.csv\n  from: ours\n  --read oldest=…: age in years\n" in said


def test_it_is_read_by_a_source(folder):
    source = Source(file=str(folder), cohort="ward", read_options=(("oldest", "65"),), columns=Columns(drop=("sex",)))
    cohort = source.read()
    assert list(cohort.frame) == ["age"]
    assert cohort.frame["age"].max() <= 65
    assert cohort.licence == "ours"
    assert source.read().fingerprint == cohort.fingerprint


def test_it_is_condensed_by_name(folder, tmp_path, monkeypatch, capsys):
    words = ["condense", "--cohort", "ward", "--path", folder, "--out", tmp_path / "run", "--method", "kmeans"]
    words += ["--rows-per-class", "3", "--budget", "smoke", "--set", "network.hidden=[4]", "--quiet"]
    monkeypatch.setattr(sys, "argv", ["aliquot", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code, capsys.readouterr().err
    assert len(pd.read_parquet(tmp_path / "run" / "release" / "rows.parquet")) == 6


def test_mistakes_name_it(folder, monkeypatch):
    broken = EntryPoint("broken", "ward_reader:NONE", "aliquot.readers")
    monkeypatch.setitem(registry._added("aliquot.readers"), "broken", broken)
    with pytest.raises(SettingsError, match="did you mean 'ward'"):
        Source(file=str(folder), cohort="wards").read()
    with pytest.raises(SettingsError, match="oldest takes a number"):
        Source(file=str(folder), cohort="ward", read_options=(("oldest", "old"),)).read()
    with pytest.raises(SettingsError, match="reinstall that package"):
        Source(file=str(folder), cohort="broken").read()


def test_a_dataset_may_need_no_folder():
    def read(*, seed: int = 0):
        return seed

    dataset = Dataset(name="x", title="x", licence="", read=read, options={"seed": Option("of chance", int)})
    assert dataset.records(None, {"seed": "4"}) == 4
