"""Records points_around around the rows: valid, labelled by networks, the same for the same seed."""

import dataclasses
import io

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot import read_release
from aliquot.cohort import Cohort, Encoder, Layout, SeriesEncoder, infer_schema, valid_rows
from aliquot.errors import SettingsError
from aliquot.evaluate import Training
from aliquot.matching import project
from aliquot.networks import TrainSettings, get_network
from aliquot.release import expand as module
from aliquot.release.expand import as_records, column_of, opinion, points_around, records_around
from aliquot.release.spreadsheet import csv


@pytest.fixture(scope="module", autouse=True)
def two_networks_and_small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "OPINIONS", 2)
        patch.setattr(module, "BLOCK", 20)
        yield


@pytest.fixture(scope="module")
def expansion(two_classes):
    return two_classes.expand(60, seed=1)


def read_back(table: pd.DataFrame) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(csv(table)))


def test_every_record_is_valid_and_what_its_cells_encode_to(two_classes, expansion):
    encoder = two_classes.encoder
    valid = np.asarray(project(valid_rows(encoder), jnp.asarray(expansion.x)))
    np.testing.assert_allclose(valid, expansion.x, atol=1e-5)
    features = expansion.table[list(encoder.column_names)].to_numpy()
    np.testing.assert_array_equal(encoder.transform(read_back(expansion.readable)), features)
    assert len(np.unique(expansion.x, axis=0)) > 50


def test_the_table_has_features_probabilities_class_and_weight(two_classes, expansion):
    table, target = expansion.table, two_classes.target
    labels = [f"{target}=0", f"{target}=1", target, "weight"]
    assert list(table.columns) == [*two_classes.encoder.column_names, *labels]
    assert list(expansion.readable.columns)[-4:] == labels
    assert np.array_equal(read_back(expansion.readable)["weight"].round(5), table["weight"].astype(float).round(5))
    np.testing.assert_allclose(table[f"{target}=0"] + table[f"{target}=1"], 1, atol=1e-6)
    own = np.where(table[target] == 1, table[f"{target}=1"], table[f"{target}=0"])
    np.testing.assert_array_equal(own, table["weight"])
    assert table["weight"].sum() == pytest.approx(60, abs=0.06)
    assert table["weight"].min() > 0.001


def test_three_classes_have_a_probability_each(three_classes):
    made = three_classes.expand(20)
    assert made.targets.shape == (20, 3)
    np.testing.assert_allclose(made.targets.sum(axis=1), 1, atol=1e-5)
    assert set(made.table["outcome"]) <= set(three_classes.classes)


def test_the_seed_decides_everything(two_classes, expansion):
    again, other = two_classes.expand(60, seed=1), two_classes.expand(60, seed=2)
    assert again.table.equals(expansion.table)
    assert not np.array_equal(other.x, expansion.x)


def test_a_release_expands_as_the_condensation_did(two_classes, expansion, tmp_path):
    two_classes.save(tmp_path / "release")
    assert read_release(tmp_path / "release").expand(60, seed=1).table.equals(expansion.table)


@pytest.fixture(scope="module")
def blobs():
    """Rows of two classes around two points of a table, a network for them, and the table's encoder."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(60, 10, 400).round(), "ward": rng.choice(["icu", "hdu", "er"], 400)})
    encoder = Encoder.fit(frame, infer_schema(frame))
    x = encoder.transform(frame.sort_values("age").iloc[::20])
    training = Training(get_network("mlp", encoder.shape, 2, (8,), 0.0), TrainSettings(epochs=60, learning_rate=0.1))
    return training, encoder, (x, (np.arange(20) >= 10).astype(np.float32))


def test_labels_are_what_the_networks_think(blobs):
    training, encoder, rows = blobs
    x, targets = records_around(training, encoder, rows, 300, key=jax.random.key(3))
    thetas = training.train(*rows, networks=2, key=jax.random.split(jax.random.key(3))[0])
    np.testing.assert_allclose(opinion(training.network, thetas, x), targets, atol=1e-6)
    age = x[:, 0]
    assert targets[age > np.median(rows[0][:, 0]) + 0.5].mean() > 0.8
    assert targets[age < np.median(rows[0][:, 0]) - 0.5].mean() < 0.2


@settings(max_examples=15, deadline=None)
@given(n=st.integers(1, 60), seed=st.integers(0, 2**31))
def test_any_number_of_records_are_the_first_of_more(blobs, n, seed):
    training, encoder, rows = blobs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Training, "train", lambda self, *rows, networks, key: jnp.zeros((2, self.network.n_parameters)))
        x, targets = records_around(training, encoder, rows, n, key=jax.random.key(seed))
        more, _ = records_around(training, encoder, rows, n + 25, key=jax.random.key(seed))
    assert x.shape == (n, *encoder.shape)
    assert targets.tolist() == [0.5] * n
    np.testing.assert_array_equal(more[:n], x)
    assert (x[:, 1:].sum(axis=1) == 1).all()  # one level each
    assert (x[:, encoder.feature_names.index("ward=(rare)")] == 0).all()


def test_a_column_is_taken_whole_from_one_row(blobs, monkeypatch):
    _, encoder, (x, _) = blobs
    monkeypatch.setattr(module, "NOISE", 0.0)
    points = points_around(x, column_of(encoder), 200, np.random.default_rng(0))
    assert {tuple(one) for one in points[:, 1:]} <= {tuple(one) for one in x[:, 1:]}
    assert set(points[:, 0]) <= set(x[:, 0])
    assert not {tuple(one) for one in points} <= {tuple(one) for one in x}


def test_series_are_valid_at_every_step(stays):
    encoder, x = stays
    points = points_around(x, column_of(encoder), 40, np.random.default_rng(0))
    records = as_records(encoder, points)
    valid = np.asarray(project(valid_rows(encoder), jnp.asarray(records)))
    np.testing.assert_allclose(valid, records, atol=1e-5)
    np.testing.assert_array_equal(encoder.transform(*encoder.inverse(records)), records)
    assert column_of(encoder).tolist() == [0, 1, 0, 1, 2]


def test_a_stay_appears_once_per_class_and_is_numbered(stays):
    encoder, x = stays
    targets = np.array([0.25, 1.0], np.float32)
    made = module.Expansion(x[:2], targets, "died", (0, 1), encoder, "weight")
    assert made.table.shape == (3, 4 * 5 + 4)
    assert made.table["weight"].tolist() == [0.75, 0.25, 1.0]
    lines = made.readable
    assert lines["row"].unique().tolist() == [0, 1, 2]
    assert lines.loc[lines["variable"] == "weight", "value"].tolist() == [0.75, 0.25, 1.0]


def test_a_column_named_weight_keeps_its_name(two_classes):
    labels = {name: value for name, value in two_classes.recipe["labels"].items() if name != "weight"}
    hard = dataclasses.replace(two_classes, recipe=two_classes.recipe | {"labels": labels})
    assert hard.expand(1).weight == "weight"
    named = two_classes.recipe | {"labels": labels | {"weight": "weight_"}}
    assert list(dataclasses.replace(two_classes, recipe=named).expand(1).table)[-1] == "weight_"


def test_what_cannot_be_expanded_is_said(two_classes):
    with pytest.raises(SettingsError, match="at least one"):
        two_classes.expand(0)
    recipe = two_classes.recipe | {"network": two_classes.recipe["network"] | {"kind": "own"}}
    with pytest.raises(SettingsError, match="somebody's own"):
        dataclasses.replace(two_classes, recipe=recipe).expand(5)


@pytest.fixture(scope="module")
def stays():
    """An encoder of two channels with gaps and an age, and four stays of four hours."""
    rng = np.random.default_rng(0)
    lines = pd.DataFrame({"id": np.repeat(np.arange(60), 4), "hour": np.tile(np.arange(4), 60)})
    for name in ("hr", "ph"):
        lines[name] = rng.normal(80, 10, 240).round(1)
        lines.loc[rng.random(240) < 0.3, name] = np.nan
    lines["age"] = np.repeat(rng.integers(20, 90, 60), 4)
    lines["died"] = np.repeat(np.arange(60) % 2, 4)
    cohort = Cohort.from_events(lines, layout=Layout("id", "hour"), target="died")
    encoder = SeriesEncoder.fit(cohort.series, cohort.frame, cohort.schema)
    return encoder, encoder.transform(cohort.series, cohort.frame)[:4]
