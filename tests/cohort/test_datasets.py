"""Known datasets: every reader is there, options are checked, mistakes are told before anything is read."""

import inspect
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Records
from aliquot.cohort.datasets import read_dataset
from aliquot.cohort.readers.fiddle import FIDDLE
from aliquot.errors import FileError, SettingsError
from aliquot.registry import READERS
from aliquot.run.source import Source


@pytest.mark.parametrize("name", READERS)
def test_every_reader_is_there_and_takes_its_options(name):
    dataset = READERS[name]
    parameters = inspect.signature(dataset.read).parameters
    assert dataset.name == name
    assert set(dataset.options) <= set(parameters)
    wanted = [one.name for one in parameters.values() if one.default is one.empty][bool(dataset.files) :]
    assert set(wanted) <= set(dataset.needed)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("mimic4", {}, "known: physionet2012"),
        ("mimic3", {"colums": "raw"}, "its options are: columns, masks"),
        ("physionet2012", {"x": "1"}, "its options are: none"),
        ("meds", {"hours": "48"}, "--read labels=VALUE"),
    ],
)
def test_mistakes_name_what_is_known(name, options, words, tmp_path):
    with pytest.raises(SettingsError, match=words):
        read_dataset(name, tmp_path, options)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match=r"set-a\.tar\.gz"):
        read_dataset("physionet2012", tmp_path / "absent")


def test_options_arrive_as_numbers_truths_and_words(tmp_path, monkeypatch):
    told = {}

    def reader(path, task, **options):
        told.update(options, path=path, task=task)
        return Records(np.array([0, 1]), np.array(["a", "b"]), pd.DataFrame({"age": [61, 70]}))

    monkeypatch.setattr("aliquot.cohort.readers.fiddle.FIDDLE", replace(FIDDLE, read=reader))
    read_dataset("fiddle", tmp_path, {"task": "ARF_4h", "minimum_share": "0.25", "summary": "any"})
    assert told == {"path": tmp_path, "task": "ARF_4h", "minimum_share": 0.25, "summary": "any"}
    source = Source(file=str(tmp_path), cohort="fiddle", read_options=(("task", "ARF_4h"),))
    cohort = source.read()
    assert cohort.n == 2
    assert cohort.fingerprint == source.read().fingerprint


def test_simulated_cohorts_need_no_folder_and_say_what_they_are():
    source = Source(file="simulated:puh", cohort="simulated:puh", read_options=(("fraction", "0.02"), ("seed", "3")))
    cohort = source.read()
    assert 700 < cohort.n < 900
    assert "simulated" in cohort.notes[0]
    assert "simulated" in cohort.target
    with pytest.raises(SettingsError, match="fraction, seed"):
        read_dataset("simulated:puh", None, {"size": "1"})
