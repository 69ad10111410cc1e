"""What leaves with a release of real patients: curves, bins and distances that show no single one."""

import dataclasses

import jax
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from aliquot.cohort import Encoder, infer_schema
from aliquot.disclosure import rounded
from aliquot.evaluate.bins import count_in, edges_of
from aliquot.evaluate.copying import nearest_distances
from aliquot.evaluate.distributions import column_distributions, outside_range
from aliquot.evaluate.ranking_curves import ranking_curves


@pytest.fixture(scope="module")
def scored():
    rng = np.random.default_rng(0)
    labels = (rng.random(3000) < 0.3).astype(int)
    return labels, rng.normal(size=(4, 3000)) + labels


def test_the_curves_enclose_the_reported_areas(scored):
    labels, logits = scored
    curves = ranking_curves(labels, logits)
    grid, true = np.r_[0, curves.grid], np.r_[0, curves.sensitivity.mean]
    auroc = np.mean([roc_auc_score(labels, one) for one in logits])
    auprc = np.mean([average_precision_score(labels, one) for one in logits])
    assert np.trapezoid(true, grid) == pytest.approx(auroc, abs=0.01)
    assert np.mean(curves.precision.mean) == pytest.approx(auprc, abs=0.02)


def test_a_curve_has_ten_patients_of_each_class_between_points(scored):
    labels, logits = scored
    few = np.r_[np.flatnonzero(labels == 1)[:60], np.flatnonzero(labels == 0)[:500]]
    found = ranking_curves(labels[few], logits[:, few])
    assert len(found.grid) == 6
    for band in (found.sensitivity, found.precision):  # half of what is between two points
        assert np.allclose(np.array(band.mean) * 12, np.round(np.array(band.mean) * 12), atol=1e-3)
    fewer = few[20:]
    assert ranking_curves(labels[fewer], logits[:, fewer]) is None


@given(st.lists(st.floats(-1e4, 1e4), min_size=0, max_size=300), st.booleans(), st.booleans())
def test_every_bin_holds_ten_patients(values, whole, log):
    values = np.array(values)
    edges = edges_of(values, whole=whole, log=log)
    assert (np.diff(edges) > 0).all()
    if len(edges):
        assert np.bincount(count_in(values, edges), minlength=len(edges) + 1).min() >= 10


def test_edges_are_round_numbers_inside_the_extremes():
    values = np.random.default_rng(0).normal(37.123456, 1.7, 500)
    edges = edges_of(values)
    assert values.min() < edges[0] < edges[-1] < values.max()
    assert np.allclose(edges, edges.round(1))


def test_counts_are_to_the_nearest_ten():
    assert rounded([0, 9, 10, 14, 15, 26]) == ["<10", "<10", 10, 10, 20, 30]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "ph": rng.normal(7.4, 0.1, 400).round(2),
            "sex": rng.choice(["f", "m"], 400),
            "ward": ["rare place"] * 4 + ["icu"] * 196 + ["hdu"] * 200,
            "dead": [True] * 5 + [False] * 395,
        }
    )


def test_columns_show_patients_in_bins_only(table):
    encoder = Encoder.fit(table, infer_schema(table))
    found = column_distributions(table, table.iloc[:100], np.full(100, 0.01), encoder.columns)
    entries = {entry.name: entry for entry in found}
    assert "rare place" not in str(found)
    assert entries["dead"].patients == (400, "<10")
    for entry in found:
        assert all(n == "<10" or (n >= 10 and n % 10 == 0) for n in entry.patients)
        assert sum(entry.rows) == pytest.approx(1, abs=1e-3)
    assert [entry.difference for entry in found] == sorted((entry.difference for entry in found), reverse=True)


def test_values_out_of_the_range_that_patients_back_are_counted_per_column(table):
    """The extremes of a column are a patient's, and out of range."""
    codes = [code for code in Encoder.fit(table, infer_schema(table)).columns if code.name == "ph"]
    ph = codes[0]
    edges = np.array([ph.row_low, ph.row_high, np.nan], np.float32)  # as a column of float32 holds them
    assert outside_range({"ph": edges}, codes).to_json() == {"values": 0, "of": 2, "columns": {}}
    extremes = np.array([table["ph"].min(), 7.4, table["ph"].max()])
    assert outside_range({"ph": extremes}, codes).to_json() == {"values": 2, "of": 3, "columns": {"ph": 2}}
    old = [dataclasses.replace(ph, row_low=None, row_high=None)]
    assert outside_range({"ph": extremes}, old).of == 0


def test_copies_are_nearer_than_patients_are():
    rng = np.random.default_rng(0)
    train, held_out = (rng.normal(size=(n, 6)).astype(np.float32) for n in (2000, 400))
    key = jax.random.key(0)
    copies = nearest_distances(train[:50], train, held_out, key=key)
    others = nearest_distances(held_out[:50], train, held_out, key=key)
    assert (copies.equal, copies.nearer) == (50, 50)
    assert (others.equal, others.nearer <= 8) == (0, True)
    assert sum(others.histogram.rows) == 50
    assert all(n == "<10" or n % 10 == 0 for n in others.histogram.held_out)


def test_too_few_patients_have_no_quantiles():
    x = np.zeros((50, 2), np.float32)
    assert nearest_distances(x, x, x, key=jax.random.key(0)) is None
