"""``aliquot.condense`` end to end on small data: two and three classes, learned labels, saving."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import aliquot
import aliquot.cohort
from aliquot.errors import AliquotError

QUICK = {
    "network": {"hidden": [8]},
    "expert": {"count": 2, "epochs": 3, "pilots": 1},
    "curve": {"steps": 20},
    "match": {"iterations": 10, "judge_every": 5, "student_steps": 3},
    "evaluation": {"final_networks": 2, "full_epochs": 4, "final_epochs": 20, "search_epochs": 5},
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    severity = rng.normal(size=400)
    return pd.DataFrame(
        {
            "lactate": np.where(rng.random(400) < 0.2, np.nan, np.exp(severity / 2).round(2)),
            "age": (60 + 10 * rng.normal(size=400)).round().astype(int),
            "ward": rng.choice(["icu", "hdu"], 400),
            "weight": rng.normal(80, 10, 400).round(1),
            "triage": np.digitize(severity, [-0.5, 0.8]),
        }
    )


@pytest.fixture(scope="module")
def three(frame):
    soft = {**QUICK, "slots": {"labels": "learned"}}
    return aliquot.condense(frame, "triage", rows_per_class=3, budget="smoke", settings=soft)


def test_three_classes_with_learned_labels(three, tmp_path):
    assert three.x.shape == (9, 7)
    assert three.soft
    assert len(three.rows) == len(three.labels) == len(three.weights) > 9
    assert three.recipe["labels"]["weight"] == "weight_"  # the patients' own is a column already
    assert three.recipe["training"]["steps"] == three.recipe["training"]["epochs"] == 20
    assert three.recipe["calibration"]["logit_scale"] == three.metrics["calibration"]["scale"] > 0
    assert three.recipe["calibration"]["logit_offset"] == three.metrics["calibration"]["offset"]
    assert len(three.recipe["calibration"]["logit_offset"]) == 3
    back = aliquot.read_release(three.save(tmp_path / "release"))
    assert np.array_equal(back.x, three.x)
    assert np.array_equal(back.targets, three.targets)
    table = pd.read_parquet(tmp_path / "release" / "rows.parquet")
    assert list(table.columns[-5:]) == ["triage=0", "triage=1", "triage=2", "triage", "weight_"]


def test_readable_rows_have_the_columns_and_types_of_the_source(three, frame):
    readable = three.readable
    assert list(readable.columns) == [*frame.columns[:-1], *three.table.columns[-5:]]
    assert readable["age"].dtype == frame["age"].dtype
    assert set(readable["triage"]) <= {0, 1, 2}


def test_encode_keeps_order_and_index(three, frame):
    encoded = three.encode(frame.iloc[10:20])
    assert list(encoded.index) == list(range(10, 20))
    assert list(encoded.columns) == list(three.rows.columns)


def test_repr_for_notebooks(three):
    assert "AUPRC" in three._repr_html_()
    assert len(repr(three)) < 300


def test_save_refuses_to_overwrite(three, tmp_path):
    three.save(tmp_path / "release")
    with pytest.raises(AliquotError, match="another folder"):
        three.save(tmp_path / "release")


def test_files_arrays_and_frames_with_a_column_apart_are_the_same_patients(frame, tmp_path):
    quick = {"rows_per_class": 2, "method": "kmeans", "budget": "smoke", "settings": QUICK}
    numbers = frame[["age", "weight"]].astype(float)
    frame[["age", "weight", "triage"]].to_parquet(tmp_path / "table.parquet")
    results = [
        aliquot.condense(str(tmp_path / "table.parquet"), "triage", **quick),
        aliquot.condense(numbers, frame["triage"], **quick),
        aliquot.condense(numbers.to_numpy(), frame["triage"].to_numpy(), **quick),
    ]
    for result in results:
        assert result.results.data.patients == 400
        np.testing.assert_allclose(result.x, results[0].x, atol=1e-6)


@pytest.mark.parametrize(
    ("patients", "words", "said"),
    [
        ({"age": [1]}, {"target": "died"}, "asked to condense a dict; pass a DataFrame or the path"),
        (np.ones((40, 2)), {}, "without its outcome; pass y"),
        (np.ones((40, 2)), {"target": np.arange(40) % 2, "drop": ["x0"]}, "pass a DataFrame"),
        ("absent.csv", {"target": "died"}, "'absent.csv' does not exist"),
        ("absent.csv", {"target": [0, 1]}, "name a column of it"),
        (pd.DataFrame({"age": [1, 2]}), {}, "pass target=…"),
        (pd.DataFrame({"age": [1, 2]}), {"target": [0, 1, 1]}, "one label per row"),
        (
            pd.DataFrame({"seen": pd.date_range("2020", periods=40), "y": [0, 1] * 20}),
            {"target": "y"},
            "no column left as a feature",
        ),
        (aliquot.cohort.Cohort.from_arrays(np.arange(40.0)[:, None], np.arange(40) % 2), {"target": "y"}, "its own"),
    ],
)
def test_what_cannot_be_condensed_is_met_with_what_can(patients, words, said):
    with pytest.raises(AliquotError, match=re.escape(said)) as found:
        aliquot.condense(patients, **words)
    assert "--" not in str(found.value)


def test_errors_come_before_work(frame):
    with pytest.raises(AliquotError, match="triage"):
        aliquot.condense(frame, "triag")
    with pytest.raises(AliquotError, match="known"):
        aliquot.condense(frame, "triage", preset="best")


def test_import_is_light():
    code = "import sys, aliquot; print([m for m in ('jax', 'matplotlib', 'sklearn', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_real_patients_are_saved_only_where_that_is_meant(frame, tmp_path):
    result = aliquot.condense(frame, "triage", rows_per_class=3, method="random", budget="smoke", settings=QUICK)
    with pytest.raises(AliquotError, match="real patients"):
        result.save(tmp_path / "release")
    assert not (tmp_path / "release").exists()
    folder = result.save(tmp_path / "release", allow_real_rows=True)
    assert "THESE ROWS ARE REAL PATIENTS" in (folder / "card.md").read_text("utf-8")
