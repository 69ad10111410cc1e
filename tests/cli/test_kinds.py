"""A table as a hospital has it, by the schema that ``aliquot check`` writes, to rows that can be encoded again."""

import numpy as np
import pandas as pd
import pytest

N = 1500
TINY = [
    *("--budget", "smoke", "--rows-per-class", 4, "--set", "match.iterations=4", "--set", "expert.epochs=2"),
    *("--set", "match.student_steps=10", "--set", "match.window=5", "--set", "evaluation.final_epochs=10"),
]


@pytest.fixture(scope="module")
def admissions(tmp_path_factory):
    """Readmissions with three diagnoses of 700 codes, bounds, dates, notes and numbers of patients."""
    rng = np.random.default_rng(0)
    codes = [f"{code}" for code in range(100, 700)] + [f"V{code}" for code in range(10, 60)]
    codes = np.array(codes + [f"E{code}" for code in range(850, 900)], dtype=object)
    shares = 1 / np.arange(1, len(codes) + 1)
    diagnoses = {f"diag_{place}": rng.choice(rng.permutation(codes), N, p=shares / shares.sum()) for place in (1, 2, 3)}
    crp = rng.gamma(2, 2, N).round(1)
    died = rng.random(N) < 0.2 + 0.3 * (crp > 6)
    table = pd.DataFrame(
        {
            "patient_nbr": rng.permutation(N) + 4_000_000,
            **diagnoses,
            "crp": np.where(crp < 1, "<1", crp.astype(str)),
            "temperature": np.where(rng.random(N) < 0.1, -999.0, rng.normal(37, 1, N).round(1)),
            "admitted": "2024-01-31",
            "note": [f"seen on day {day}" for day in range(N)],
            "died": np.where(died, "yes", "no"),
        }
    )
    path = tmp_path_factory.mktemp("data") / "admissions.csv"
    table.to_csv(path, index=False)
    return path


def test_a_table_of_diagnoses_is_condensed_by_the_schema_as_it_was_written(admissions, aliquot, tmp_path):
    schema, run = tmp_path / "schema.toml", tmp_path / "run"
    assert aliquot("check", admissions, "--schema-out", schema)[0] == 0
    assert "# decide; a mark of gaps? then: missing = [-999]" in schema.read_text("utf-8")
    code, out, err = aliquot("condense", admissions, "--schema", schema, "--target", "died", "--out", run, *TINY)
    assert code == 0, err
    left_out = ("'patient_nbr': identifiers", "'admitted': dates", "'note': free text")
    card, report = ((run / "release" / name).read_text("utf-8") for name in ("card.md", "report.html"))
    for text in (" ".join(out.split()), card.replace("\\", ""), report.replace("&#39;", "'")):
        assert all(f"left out {words}" in text for words in left_out)
    rows = pd.read_parquet(run / "release" / "rows.parquet")
    assert {"crp=(below)", "diag_1=140-239", "diag_1=(rare)"} <= {*rows.columns}
    again = tmp_path / "again.parquet"
    assert aliquot("encode", "--release", run, run / "release" / "rows.csv", "--out", again)[0] == 0
    encoded = pd.read_parquet(again)
    np.testing.assert_array_equal(encoded, rows[encoded.columns])
    assert "seen on day" not in card + report + out
