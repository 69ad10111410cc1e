"""Series begin as often measured as patients are; rows that are a patient by chance are moved until they are nobody."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot.cohort import Encoder, Schema, Series, SeriesEncoder, infer_schema, settled, valid_rows
from aliquot.matching import project
from aliquot.methods import measured_as_often, unlike_patients
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


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 999), st.floats(0.02, 0.9))
def test_means_of_series_are_measured_as_often_as_patients(seed, share):
    rng = np.random.default_rng(seed)
    values = rng.normal(80, 10, (40, 12, 2)).astype(np.float32).round(1)
    values[:, :, 1][rng.random((40, 12)) > share] = np.nan
    values[0, 0] = 70, 90
    encoder = SeriesEncoder.fit(Series(values, ("hr", "lactate")), pd.DataFrame(index=range(40)), Schema(()))
    valid, flag = valid_rows(encoder), encoder.feature_names.index("lactate=(measured)")
    means = encoder.transform(Series(values, ("hr", "lactate")), pd.DataFrame(index=range(40))).reshape(4, 10, 12, -1)
    means = means.mean(axis=1)
    moved = measured_as_often(valid, means)
    hours = np.asarray(project(valid, moved))[:, :, flag].sum(axis=1)
    np.testing.assert_array_equal(hours, np.round(means[:, :, flag].astype(float).sum(axis=1)))
    np.testing.assert_array_equal(np.delete(moved, flag, axis=2), np.delete(means, flag, axis=2))


def test_tables_have_no_hours(table):
    encoder, patients = table
    assert measured_as_often(valid_rows(encoder), patients) is patients
