"""What a release holds, read: the same where it was written so, an error where it does not fit together."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tomli_w

from aliquot.loading import NotAsWrittenError
from aliquot.release import contents
from aliquot.release.bundle import parquet
from aliquot.release.contents import read_results, read_rows
from aliquot.release.recipe import check_shape, read_recipe


def rewritten(table: pa.Table) -> bytes:
    content = io.BytesIO()
    pq.write_table(table, content)
    return content.getvalue()


def read(result, content):
    return read_rows(content, result.encoder.column_names, result.recipe["labels"])


def test_rows_come_back(result):
    x, p = read(result, parquet(result.table))
    assert np.array_equal(x, result.x)
    assert np.allclose(p[:, 1] if p.shape[1] == 2 else p, result.targets)


def test_what_the_file_says_to_pandas_is_not_followed(two_classes):
    table = pa.Table.from_pandas(two_classes.table, preserve_index=False)
    hostile = {"index_columns": ["age_years"], "columns": [{"name": "x", "pandas_type": "y", "numpy_type": "V9"}]}
    for metadata in ({"pandas": json.dumps(hostile)}, {"pandas": "{"}, {"pandas": "[" * 9999}):
        x, _ = read(two_classes, rewritten(table.replace_schema_metadata(metadata)))
        assert np.array_equal(x, two_classes.x)


def spoil(table: pa.Table, name: str, cells: object) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, cells)


def test_rows_that_do_not_fit_are_refused(two_classes):
    table, n = pa.Table.from_pandas(two_classes.table, preserve_index=False), len(two_classes.table)
    feature, target = two_classes.encoder.feature_names[0], two_classes.target
    cells = table[feature].to_numpy().copy()
    wrong = [
        table.drop_columns([feature]),
        table.append_column("more", pa.array([1.0] * n)),
        table.append_column(feature, table[feature]),
        table.slice(0, 0),
        spoil(table, feature, table[feature].cast(pa.float64())),
        spoil(table, target, pa.array([7] * n)),
        spoil(table, target, pa.array([None] * n, pa.int64())),
        spoil(table, target, pa.array([[1]] * n)),
    ]
    for value in (np.nan, np.inf):
        cells[3] = value
        wrong.append(spoil(table, feature, pa.array(cells.copy())))
    for one in wrong:
        with pytest.raises(NotAsWrittenError):
            read(two_classes, rewritten(one))


def test_probabilities_are_probabilities(soft):
    table = pa.Table.from_pandas(soft.table, preserve_index=False)
    name = f"{soft.target}=1"
    for change in (0.5, -2.0, np.nan):
        cells = table[name].to_numpy().copy()
        cells[0] += change
        with pytest.raises(NotAsWrittenError):
            read(soft, rewritten(spoil(table, name, pa.array(cells))))


def test_many_rows_in_a_small_file_are_refused_before_they_are_unpacked(monkeypatch):
    monkeypatch.setattr(contents, "MOST_CELLS", 2**20)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("unpacked"))
    cells = pa.array(np.zeros(2**19 + 1, np.float32))
    content = rewritten(pa.table({"y": cells, "z": cells}))
    assert len(content) < 2**14
    with pytest.raises(NotAsWrittenError):
        read_rows(content, ["z"], {"target": "y", "classes": [0, 1], "kind": "hard"})


WRONG_RECIPES = {
    "no network": {"network": None},
    "other inputs": {"network.inputs": 10**6},
    "too wide": {"network.hidden": [60_000, 60_000]},
    "no width": {"network.hidden": [0]},
    "dropout": {"network.dropout": 1.0},
    "epochs": {"training.epochs": 10**9},
    "not a number": {"training.learning_rate": float("nan")},
    "one class": {"labels.classes": [1]},
    "a class twice": {"labels.classes": [1, 1]},
    "a class twice in text": {"labels.classes": [1, "1"]},
    "three outputs": {"network.outputs": 3},
    "scale": {"calibration.logit_scale": 0.0},
    "offsets": {"calibration.logit_offset": [0.0, 1.0, 2.0]},
    "shares": {"calibration.prevalence": [0.5]},
    "steps": {"network.steps": 4},
}


def changed(document, changes):
    document = json.loads(json.dumps(document))
    for name, value in changes.items():
        *path, last = name.split(".")
        part = document
        for step in path:
            part = part[step]
        if value is None:
            del part[last]
        else:
            part[last] = value
    return document


def test_a_recipe_comes_back(result):
    recipe = read_recipe(tomli_w.dumps(result.recipe).encode())
    check_shape(recipe, result.encoder.shape)
    assert recipe == result.recipe


@pytest.mark.parametrize("changes", WRONG_RECIPES.values(), ids=WRONG_RECIPES.keys())
def test_recipes_of_no_run_are_refused(two_classes, changes):
    content = tomli_w.dumps(changed(two_classes.recipe, changes)).encode()
    with pytest.raises(NotAsWrittenError):
        check_shape(read_recipe(content), two_classes.encoder.shape)


WRONG_RESULTS = {
    "classes": {"data.classes": ["0", "x"]},
    "features": {"data.features": 1},
    "text for a number": {"held_out.aliquot.auroc.mean": "0.7"},
    "yes for a number": {"held_out.aliquot.auroc.n": True},
    "a section's own": {"copying.equal": "none"},
    "no calibration": {"calibration": None},
    "prevalence": {"data.prevalence": [1.0]},
    "counts": {"data.train": 5},
    "slots": {"settings.slots": 5},
    "rows": {"rows_per_class": 0},
}


@pytest.mark.parametrize("changes", WRONG_RESULTS.values(), ids=WRONG_RESULTS.keys())
def test_results_of_no_run_are_refused(two_classes, changes):
    def ask(document):
        return read_results(json.dumps(document).encode(), two_classes.recipe, two_classes.encoder.shape)

    assert ask(two_classes.metrics) == two_classes.results
    with pytest.raises(NotAsWrittenError):
        ask(changed(two_classes.metrics, changes))
