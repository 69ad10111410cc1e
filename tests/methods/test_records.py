"""Valid rows that are a patient by chance are moved until they are nobody."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot.cohort import Encoder, infer_schema, settled, valid_rows
from aliquot.matching import project
from aliquot.methods import unlike_patients
from aliquot.methods.centroids import is_patient


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    lactate = np.where(rng.random(300) < 0.3, np.nan, rng.gamma(2, 1, 300).round(1))
    frame = pd.DataFrame({"age": rng.integers(40, 90, 300), "lactate": lactate, "ward": rng.choice(["a", "b"], 300)})
    encoder = Encoder.fit(frame, infer_schema(frame))
    return encoder, encoder.transform(frame)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 299), min_size=1, max_size=8))
def test_patients_become_nobody_and_stay_records(table, chosen):
    encoder, patients = table
    valid = valid_rows(encoder)
    inside = np.asarray(project(valid, patients))  # the range of rows is narrower than that of patients
    moved = unlike_patients(valid, inside[chosen], patients)
    assert not is_patient(settled(encoder, moved), patients).any()
    np.testing.assert_allclose(project(valid, moved), moved, atol=1e-6)


def test_who_is_nobody_stays(table):
    encoder, patients = table
    valid = valid_rows(encoder)
    rows = unlike_patients(valid, np.asarray(project(valid, patients[:20])), patients)
    assert (unlike_patients(valid, rows, patients) == rows).all()


def test_where_everybody_near_is_a_patient_the_row_stays():
    frame = pd.DataFrame({"age": np.repeat(np.arange(3), 20)})
    encoder = Encoder.fit(frame, infer_schema(frame))
    patients = encoder.transform(frame)
    assert is_patient(unlike_patients(valid_rows(encoder), patients[:1], patients), patients).all()
