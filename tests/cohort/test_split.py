import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot.cohort import HELD_OUT, ROLES, TRAIN, TUNING, Cohort, split_patients
from aliquot.errors import SettingsError, TooFewPatientsError


def cohort_of(labels, patient=None) -> Cohort:
    labels = np.asarray(labels)
    return Cohort.from_arrays(np.arange(labels.size, dtype=float)[:, None], labels, patient=patient)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), per_patient=st.integers(1, 4), n=st.integers(120, 300))
def test_no_patient_is_divided_and_the_seed_decides(seed, per_patient, n):
    patient = np.arange(n) // per_patient
    cohort = cohort_of(np.random.default_rng(seed).permutation(n) % 2, patient)
    roles = split_patients(cohort, seed=seed)
    assert roles.dtype == np.int8
    assert all(np.unique(roles[patient == one]).size == 1 for one in np.unique(patient))
    assert np.array_equal(roles, split_patients(cohort, seed=seed))
    for code in range(len(ROLES)):
        assert set(cohort.labels[roles == code]) == {0, 1}


def test_shares_hold_within_each_class():
    labels = np.arange(1000) % 10 == 0
    roles = split_patients(cohort_of(labels), seed=1, tuning=0.2, held_out=0.1)
    for label in (False, True):
        shares = np.bincount(roles[labels == label]) / (labels == label).sum()
        assert np.allclose(shares, [0.7, 0.2, 0.1], atol=0.01)


def test_seeds_differ():
    cohort = cohort_of(np.arange(100) % 2)
    assert not np.array_equal(split_patients(cohort, seed=0), split_patients(cohort, seed=1))


def test_a_part_of_a_cohort_can_be_split():
    cohort = cohort_of(np.arange(100) % 2, patient=np.arange(100))
    assert split_patients(cohort.take(np.arange(50, 100)), seed=0).shape == (50,)


def test_the_users_split_stays(frame):
    parts = np.repeat(["train", "val", "test"], 20)
    cohort = Cohort.from_frame(frame.assign(part=parts), target="died", split="part")
    assert split_patients(cohort, seed=0).tolist() == [TRAIN] * 20 + [TUNING] * 20 + [HELD_OUT] * 20


def test_every_class_in_every_part(frame, raises):
    with raises(TooFewPatientsError, "1 of the 2 classes", "'tuning'"):
        split_patients(cohort_of([1, 1] + [0] * 38), seed=0)
    with raises(TooFewPatientsError, "'tuning'"):
        split_patients(cohort_of([1] * 20 + [0] * 20, patient=[0] * 20 + list(range(1, 21))), seed=0)
    by_outcome = frame.sort_values("died").assign(part=np.repeat(["test", "val", "train"], 20))
    with raises(TooFewPatientsError, "classes of 'died'"):
        split_patients(Cohort.from_frame(by_outcome, target="died", split="part"), seed=0)


@pytest.mark.parametrize(("tuning", "held_out"), [(0, 0.1), (0.5, 0.5), (-0.1, 0.2), (0.1, float("nan"))])
def test_shares_must_leave_something(tuning, held_out, raises):
    with raises(SettingsError, "tuning"):
        split_patients(cohort_of(np.arange(40) % 2), seed=0, tuning=tuning, held_out=held_out)
