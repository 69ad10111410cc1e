"""Soft labels as lines with a class and a weight, and the rows found again in them."""

import dataclasses
import hashlib
import io

import jax.numpy as jnp
import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from aliquot.cohort import Encoder, Schema, Series, SeriesEncoder, infer_schema, settled, valid_rows
from aliquot.evaluate.labels import LEAST_WEIGHT, begins_row, lines_of, probabilities_of, weight_column
from aliquot.matching import project
from aliquot.release.bundle import condensation_of, read_release

FEW = st.sampled_from([0.0, 0.0005, 0.4, 1.0])  # so that neighbours are often equal


@st.composite
def labelled(draw):
    n, n_classes = draw(st.integers(1, 6)), draw(st.sampled_from([2, 3]))
    x = np.array(draw(st.lists(FEW, min_size=n, max_size=n)), np.float32)[:, None]
    if n_classes == 2:
        return x, np.array(draw(st.lists(FEW, min_size=n, max_size=n)), np.float32)
    one = st.lists(FEW, min_size=3, max_size=3).filter(lambda p: sum(p) > 0.3)
    p = np.array(draw(st.lists(one, min_size=n, max_size=n)), np.float32)
    return x, p / p.sum(axis=1, keepdims=True)


@settings(max_examples=200, deadline=None)
@given(labelled())
def test_rows_are_found_again_in_their_lines(drawn):
    x, targets = drawn
    lines, p = lines_of(targets), probabilities_of(targets)
    values = np.hstack([x, p])[lines.row]
    first = begins_row(values, lines.code)
    assert np.array_equal(values[first], np.hstack([x, p]))
    assert (lines.weight > LEAST_WEIGHT).all()
    assert np.array_equal(lines.weight, p[lines.row, lines.code])
    assert sorted(zip(lines.row, lines.code, strict=True)) == list(zip(lines.row, lines.code, strict=True))


def test_equal_neighbours_stay_two_rows():
    for targets, count in ((np.full(2, 0.4), 4), (np.full(2, 0.9999), 2)):
        lines = lines_of(targets)
        assert len(lines.row) == count
        assert begins_row(np.zeros((count, 1)), lines.code).sum() == 2


def test_hard_labels_take_one_line_of_weight_1():
    for targets in (np.array([1.0, 0.0]), np.eye(3)[[1, 0]]):
        lines = lines_of(targets)
        assert (lines.row.tolist(), lines.code.tolist(), lines.weight.tolist()) == ([0, 1], [1, 0], [1.0, 1.0])


def test_weights_have_a_name_of_their_own():
    assert weight_column(["weight", "weight_", "age"]) == "weight__"


def test_hard_rows_have_no_weight_column(two_classes):
    assert list(two_classes.table.columns) == [*two_classes.encoder.feature_names, two_classes.target]
    assert two_classes.weights.tolist() == [1.0] * len(two_classes.x)


def test_rows_labels_and_weights_fit_any_model(soft):
    assert len(soft.rows) == len(soft.labels) == len(soft.weights) == 2 * len(soft.x) - 1
    LogisticRegression(max_iter=1000).fit(soft.rows, soft.labels, sample_weight=soft.weights)
    table = soft.table
    p = table[[f"{soft.target}=0", f"{soft.target}=1"]].to_numpy()
    assert np.array_equal(table["weight"], p[np.arange(len(p)), table[soft.target]])
    assert np.array_equal(soft.readable.iloc[:, -4:], table.iloc[:, -4:])


def test_a_release_of_soft_labels_is_read_as_it_was(soft, tmp_path):
    twins = np.repeat(np.arange(len(soft.x)), 2)  # every row has an equal neighbour
    result = dataclasses.replace(soft, x=soft.x[twins], targets=soft.targets[twins])
    release = read_release(result.save(tmp_path / "release"))
    assert np.array_equal(release.x, result.x)
    assert np.array_equal(release.targets, result.targets)
    again = condensation_of(release)
    pd.testing.assert_frame_equal(again.table, result.table)


def test_soft_labels_of_0_1_are_read(soft, tmp_path):
    folder = soft.save(tmp_path / "release")
    table = pd.DataFrame(soft.x, columns=list(soft.encoder.column_names))
    p = probabilities_of(soft.targets)
    table = table.assign(**{f"{soft.target}={c}": p[:, c] for c in (0, 1)}, **{soft.target: soft.codes})
    recipe = (folder / "recipe.toml").read_text("utf-8")
    replace_file(folder, "recipe.toml", recipe.replace('weight = "weight"\n', "").encode())
    content = io.BytesIO()
    table.to_parquet(content, index=False)
    replace_file(folder, "rows.parquet", content.getvalue())
    release = read_release(folder)
    assert np.array_equal(release.x, soft.x)
    assert np.array_equal(release.targets, soft.targets)


def replace_file(folder, name, content):
    """Another content, and its checksum."""
    old = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / name).write_bytes(content)
    described = (folder / "croissant.json").read_text("utf-8")
    (folder / "croissant.json").write_text(described.replace(old, hashlib.sha256(content).hexdigest()), "utf-8")


def test_either_file_of_valid_rows_is_the_data_set(soft, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "lactate": np.where(rng.random(400) < 0.2, np.nan, rng.normal(3, 1, 400).round(2)),
            "coma_score": np.maximum(0, rng.normal(0, 20, 400).round()),
            "ward": rng.choice(["icu", "hdu"], 400),
        }
    )
    encoder = Encoder.fit(frame, infer_schema(frame))
    wild = 3 * rng.normal(size=(len(soft.x), *encoder.shape))
    x = settled(encoder, np.asarray(project(valid_rows(encoder), jnp.asarray(wild, jnp.float32))))
    recipe = {**soft.recipe, "network": {**soft.recipe["network"], "inputs": x.shape[1]}}
    data = dataclasses.replace(soft.results.data, features=x.shape[1])
    results = dataclasses.replace(soft.results, data=data)
    result = dataclasses.replace(soft, encoder=encoder, x=x, recipe=recipe, results=results)
    folder = result.save(tmp_path / "release")
    shown, rows = pd.read_csv(folder / "rows.csv"), pd.read_parquet(folder / "rows.parquet")
    target = result.target
    assert list(shown.columns) == [*frame.columns, f"{target}=0", f"{target}=1", target, "weight"]
    assert (shown["coma_score"] == 0).any()
    assert "-0.0" not in (folder / "rows.csv").read_text().replace("\n", ",").split(",")
    assert np.array_equal(result.encode(shown), rows[list(encoder.column_names)])
    assert np.array_equal(shown.iloc[:, -4:].to_numpy(np.float32), rows.iloc[:, -4:].to_numpy(np.float32))
    release = read_release(folder)
    assert np.array_equal(release.x, x)
    assert np.array_equal(release.targets, result.targets)


def test_series_show_each_row_once_with_its_probabilities(soft):
    values = np.random.default_rng(0).normal(size=(40, 3, 2)).astype(np.float32)
    series, nothing = Series(values, ("hr", "ph")), pd.DataFrame(index=range(40))
    encoder = SeriesEncoder.fit(series, nothing, Schema(()))
    result = dataclasses.replace(soft, encoder=encoder, x=encoder.transform(series, nothing))
    assert len(result.rows) == len(result.weights) > len(result.x) == 40
    shown = result.readable
    fixed = shown[shown["hour"].isna()]
    assert fixed["variable"].tolist() == [f"{soft.target}=0", f"{soft.target}=1", soft.target] * 40
    assert fixed["value"].tolist()[1::3] == result.targets.tolist()
    assert fixed["value"].tolist()[2::3] == result.codes.tolist()
