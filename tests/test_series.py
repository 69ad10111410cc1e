"""Series from arrays to a release and back."""

import numpy as np
import pandas as pd
import pytest

import aliquot
from aliquot.cohort import Cohort, Series, Stays
from aliquot.errors import SchemaError, SettingsError

QUICK = {
    "network": {"kind": "lstm-1"},
    "expert": {"count": 2, "epochs": 2, "length": "fixed"},
    "curve": {"steps": 10, "check_every": 0},
    "match": {"iterations": 4, "judge_every": 2, "student_steps": 2},
    "evaluation": {"search_epochs": 2, "search_networks": 1, "final_epochs": 2, "final_networks": 2, "full_epochs": 2},
}


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 160)
    x = rng.normal(size=(160, 5, 3)) + died[:, None, None] * [1.0, 0.0, 0.0]
    x[rng.random(x.shape) < 0.2] = np.nan
    return Cohort.from_arrays(x, died, names=("hr", "ph", "lactate"))


@pytest.fixture(scope="module")
def result(cohort):
    return aliquot.condense(cohort, rows_per_class=4, budget="smoke", settings=QUICK)


def test_rows_are_series(result):
    assert result.x.shape == (8, 5, 6)
    assert result.rows.shape == (16, 30)  # a line for each class of each row
    assert result.rows.columns[0] == "hr@0"
    assert result.metrics["data"]["steps"] == 5
    assert result.labels.tolist() == [0, 1] * 8
    assert result.weights.reshape(8, 2).sum(axis=1) == pytest.approx(1)


def test_a_release_of_series_comes_back(result, tmp_path):
    folder = result.save(tmp_path / "release")
    back = aliquot.read_release(folder)
    np.testing.assert_array_equal(back.x, result.x)
    assert back.recipe["network"] == {"kind": "lstm-1", "inputs": 30, "steps": 5, "outputs": 1}  # nothing of an MLP
    long = pd.read_csv(folder / "rows.csv")
    assert long.columns.tolist() == ["row", "hour", "variable", "value"]
    assert set(long["variable"]) <= {"hr", "ph", "lactate", "y", "y=0", "y=1"}
    assert (long["variable"] == "y").sum() == 8


@pytest.mark.slow
def test_small_experts_are_told_and_the_rows_are_for_the_network_itself(cohort):
    result = aliquot.condense(cohort, rows_per_class=4, budget="smoke", settings=QUICK | {"network": {"kind": "tcn"}})
    experts, checkpoints = 2, 3
    small = result.metrics["storage_bytes"]["trajectories_if_dense"] / (experts * checkpoints * 4)
    (note,) = [note for note in result.notes if "small networks" in note]
    assert f"({small:,.0f} parameters)" in note
    assert result.recipe["network"]["kind"] == "tcn"
    wide = int(note.rsplit("(", 1)[1].rstrip(")").replace(",", ""))
    assert wide > 6 * small


def test_a_table_network_is_refused_before_any_work(cohort):
    with pytest.raises(SettingsError, match="on series"):
        aliquot.condense(cohort, rows_per_class=4, settings={"network": {"kind": "mlp-1"}})


def test_the_cards_program_encodes_as_we_do(result, cohort, tmp_path, monkeypatch):
    folder = result.save(tmp_path / "release")
    text = (folder / "card.md").read_text("utf-8")
    program = next(part.split("```")[0] for part in text.split("```python\n")[1:] if "def encode(" in part)
    monkeypatch.chdir(folder)
    names: dict = {}
    exec(program, names)
    values, frame = cohort.series.values, cohort.frame
    expected = result.encoder.transform(cohort.series, frame)
    np.testing.assert_allclose(names["encode"](values, frame), expected, rtol=1e-5, atol=1e-6)


def test_new_stays_are_encoded_like_the_rows(result, cohort):
    expected = result.encoder.transform(cohort.series, cohort.frame)
    encoded = result.encode(cohort)
    assert encoded.columns.tolist() == result.rows.columns.tolist()
    np.testing.assert_array_equal(encoded.to_numpy().reshape(-1, *result.encoder.shape), expected)
    turned = Series(cohort.series.values[:, :, ::-1], cohort.series.channels[::-1])
    pd.testing.assert_frame_equal(result.encode(Stays(pd.DataFrame(index=range(160)), turned)), encoded)
    with pytest.raises(SchemaError, match="found a table"):
        result.encode(pd.DataFrame({"hr": [80.0]}))
