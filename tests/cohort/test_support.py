import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Cohort, EncoderSettings, encode_parts
from aliquot.cohort.support import is_supported, supported
from aliquot.errors import SchemaError, TooFewPatientsError

N = 200


def cohort_of(patient=None, **columns) -> Cohort:
    table = pd.DataFrame({"age": np.linspace(20, 90, N), "died": np.arange(N) % 2, **columns})
    if patient is None:
        return Cohort.from_frame(table, target="died")
    return Cohort.from_frame(table.assign(pid=patient), target="died", patient_id="pid")


def encoded(cohort: Cohort, **settings):
    return encode_parts(cohort, seed=0, settings=EncoderSettings(**settings), rows_per_class=5)


@pytest.mark.parametrize(("measured", "kept"), [(9, False), (20, True)])
def test_a_column_needs_ten_patients_with_a_value(measured, kept):
    values = np.where(np.arange(N) < measured, np.linspace(1, 2, N), np.nan)
    found, notes = supported(cohort_of(pcr=values))
    assert ("pcr" in found.schema.names) == kept
    assert bool(notes) != kept


@pytest.mark.parametrize("few", [5, 9, 10])
def test_a_column_needs_ten_patients_that_differ(few):
    different = np.arange(N) < few
    for cells in (different, np.where(different, "a", "b"), np.where(different, 1e6, 0.0)):
        assert is_supported(pd.Series(cells), None) == (few >= 10)
    patients = np.arange(N) // 2
    assert not is_supported(pd.Series(different), patients)


@pytest.mark.parametrize("rows", [30, 120])  # some, or most of all
def test_many_rows_of_one_patient_support_nothing(rows):
    patient = np.where(np.arange(N) < rows, 7, np.arange(N) + 1000)
    alone = np.where(np.arange(N) < rows, "Wxq", "icu")
    parts = encoded(cohort_of(patient, ward=alone, gap=np.where(np.arange(N) < rows, np.nan, np.arange(N) % 17.0)))
    assert not [name for name in parts.encoder.feature_names if "Wxq" in name or "ward" in name or "missing" in name]
    assert parts.notes == (
        "left out 'ward': fewer than 10 training patients have a value, or another one than the others",
    )


def test_a_level_of_one_patient_with_many_rows_is_rare():
    patient = np.where(np.arange(N) < 30, 7, np.arange(N) + 1000)
    ward = np.where(np.arange(N) < 30, "Wxq", np.where(np.arange(N) % 2, "icu", "hdu"))
    names = encoded(cohort_of(patient, ward=ward)).encoder.feature_names
    assert [name for name in names if name.startswith("ward")] == ["ward=hdu", "ward=icu", "ward=(rare)"]


def test_channels_of_few_are_counted_and_not_named():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(N, 3, 3)).astype(np.float32)
    values[3:, :, 1], values[:, :, 2] = np.nan, 0.0
    values[:4, 0, 2] = 1.0
    cohort = Cohort.from_arrays(values, np.arange(N) % 2, names=["hr", "Wxq", "Wyq"])
    parts = encoded(cohort)
    assert parts.encoder.channel_names == ("hr",)
    assert parts.notes == ("left out 2 channels measured in fewer than 10 patients",)
    assert parts.train.x.shape[1:] == (3, 1)


def test_nothing_left_is_an_error():
    with pytest.raises(SchemaError, match="no column is left that 10 training patients stand behind"):
        supported(Cohort.from_frame(pd.DataFrame({"hiv": np.arange(N) == 3, "died": np.arange(N) % 2}), target="died"))
    one = np.full((N, 2, 1), np.nan, np.float32)
    one[:3] = np.arange(6).reshape(3, 2, 1)
    with pytest.raises(SchemaError, match="no channel was measured in 10 training patients"):
        supported(Cohort.from_arrays(one, np.arange(N) % 2))


@pytest.mark.parametrize("few", [3, 9])
def test_a_class_of_few_patients_is_refused_without_its_name(few):
    table = pd.DataFrame({"age": np.linspace(20, 90, N), "end": np.where(np.arange(N) < few, "Wxq", "home")})
    table["end"] = table["end"].where(np.arange(N) % 3 > 0, "died")
    with pytest.raises(TooFewPatientsError, match=r"10 patients in the training part|no patient in the part") as error:
        encoded(Cohort.from_frame(table, target="end"))
    assert "Wxq" not in str(error.value)


def test_rare_levels_are_named_only_with_a_note():
    cohort = cohort_of(ward=np.where(np.arange(N) < 4, "Wxq", np.where(np.arange(N) % 2, "icu", "hdu")))
    assert encoded(cohort).notes == ()
    (note,) = encoded(cohort, rare_below=2).notes
    assert note == "LEVELS AND GAPS OF FEWER THAN 10 PATIENTS ARE SHOWN, as rare_below = 2 asks"
