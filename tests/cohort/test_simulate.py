import numpy as np
import pytest

from aliquot.cohort import Cohort
from aliquot.cohort.readers.curial import DEVICE, FEATURES
from aliquot.cohort.readers.mimic3 import CHANNELS, HOURS
from aliquot.cohort.simulate import COHORTS, simulate
from aliquot.errors import SettingsError

SMALL = {"ouh": 0.02, "puh": 0.05, "uhb": 0.03, "eicu": 0.02, "mimic3": 0.01}
SITES = ("ouh", "puh", "uhb")


@pytest.fixture(scope="module")
def small():
    return {name: simulate(name, fraction=fraction) for name, fraction in SMALL.items()}


@pytest.mark.parametrize("name", COHORTS)
def test_a_seed_decides_everything(name, small):
    again, other = (simulate(name, seed=seed, fraction=SMALL[name]) for seed in (0, 1))
    assert np.array_equal(again.labels, small[name].labels)
    assert again.frame.equals(small[name].frame)
    assert not np.array_equal(other.labels, small[name].labels)
    if again.series is not None:
        assert again.series.tobytes() == small[name].series.tobytes()
        assert other.series is not None
        assert not np.array_equal(other.series, small[name].series)
    else:
        assert not other.frame.equals(small[name].frame)


@pytest.mark.parametrize("name", COHORTS)
def test_a_fraction_keeps_the_prevalence(name, small):
    shape, records = COHORTS[name], small[name]
    assert len(records.labels) == round(shape.n * SMALL[name])
    assert records.labels.sum() == round(shape.positives * SMALL[name])


@pytest.mark.parametrize(
    ("name", "n", "prevalence"),
    [
        ("ouh", 161_955, 0.017),
        ("puh", 38_717, 0.052),
        ("uhb", 98_750, 0.008),
        ("eicu", 49_305, 0.09),
        ("mimic3", 21_139, 0.132),
    ],
)
def test_sizes_are_the_papers(name, n, prevalence):
    assert COHORTS[name].n == n
    assert COHORTS[name].positives / n == pytest.approx(prevalence, abs=5e-4)


@pytest.mark.parametrize("name", COHORTS)
def test_everything_says_simulated(name, small):
    records = small[name]
    assert records.notes[0].startswith("simulated patients")
    assert records.target.startswith("simulated_")
    assert all(one.startswith("simulated-") for one in records.ids)
    cohort = Cohort.from_records(records)
    assert cohort.notes[: len(records.notes)] == records.notes


@pytest.mark.parametrize("name", SITES)
def test_sites_have_the_columns_of_the_reader(name, small):
    frame = small[name].frame
    assert tuple(frame.columns) == FEATURES["lab"]
    assert frame[DEVICE].dtype == "Int8"
    assert (frame.drop(columns=DEVICE).dtypes == "float64").all()
    kinds = {column.name: column.kind for column in Cohort.from_records(small[name]).schema}
    assert set(kinds) == set(FEATURES["lab"])
    assert set(kinds.values()) <= {"numeric", "integer"}


@pytest.mark.parametrize("name", SITES)
def test_laboratory_values_are_plausible(name, small):
    frame = small[name].frame
    assert set(frame[DEVICE]) == {0, 1, 2, 3}
    assert (frame.min() >= 0).all()
    assert frame["Vital_Sign Oxygen Saturation"].max() <= 100
    assert 60 < frame["Blood_Test CREATININE"].median() < 100
    assert 4 < frame["Blood_Test WHITE CELLS"].median() < 11
    assert frame["Blood_Test CRP"].skew() > 2
    assert frame["Blood_Test HAEMOGLOBIN"].corr(frame["Blood_Test HAEMATOCRIT"]) > 0.7


def test_sites_differ(small):
    ouh, puh = (small[name].frame.drop(columns=DEVICE).median() for name in ("ouh", "puh"))
    assert not np.allclose(ouh, puh, rtol=0.01)


def test_severe_patients_have_more_gaps():
    records = simulate("puh", fraction=0.3)
    gaps = records.frame.drop(columns=DEVICE).isna().mean(axis=1)
    breathing = records.frame["Vital_Sign Oxygen Saturation"]
    assert gaps[records.labels == 1].mean() > 1.1 * gaps[records.labels == 0].mean()
    assert gaps[breathing < 93].mean() > 1.1 * gaps[breathing > 97].mean()


def test_intensive_care_flags_are_0_and_1(small):
    frame = small["eicu"].frame
    assert frame.shape[1] == 402
    assert set(np.unique(frame.to_numpy())) == {0, 1}
    assert {column.kind for column in Cohort.from_records(small["eicu"]).schema} == {"boolean"}
    lactate = frame.filter(regex=r"^labs\|lactate_value_\(")
    assert lactate.shape[1] == 5
    assert np.array_equal(lactate.sum(axis=1), frame["labs|lactate_mask"])
    assert (frame.filter(regex="^unittype_value:").sum(axis=1) == 1).all()


def test_stays_have_the_columns_of_the_reader(small):
    records = small["mimic3"]
    series, channels = records.series, records.channels
    assert series is not None
    assert series.shape[1:] == (HOURS, 60)
    assert channels[-17:] == tuple(f"mask->{channel}" for channel in CHANNELS)
    assert np.isfinite(series).all()
    flags = ["->" in channel for channel in channels]
    assert sum(flags) == 48
    assert set(np.unique(series[..., flags])) == {0, 1}
    total = [channel.startswith("Glascow coma scale total->") for channel in channels]
    assert (series[..., total].sum(axis=-1) == 1).all()


def test_vital_signs_follow_each_other():
    records = simulate("mimic3", fraction=0.05)
    assert records.series is not None
    rate = records.series[..., records.channels.index("Heart Rate")]
    assert np.corrcoef(rate[:, 30], rate[:, 31])[0, 1] > np.corrcoef(rate[:, 0], rate[:, 31])[0, 1] > 0.3
    measured = records.series[..., -17:].mean(axis=(1, 2))
    assert measured[records.labels == 1].mean() > measured[records.labels == 0].mean()


def test_an_unknown_name_lists_the_known():
    with pytest.raises(SettingsError, match="known: ouh, puh, uhb, eicu, mimic3"):
        simulate("bh")


@pytest.mark.parametrize("fraction", [0.0, 1e-4, 1.5, float("nan")])
def test_a_fraction_without_patients_is_refused(fraction):
    with pytest.raises(SettingsError, match="fraction"):
        simulate("puh", fraction=fraction)
