"""The commands that use a finished run."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

from aliquot import read_release
from aliquot.cli import main

TINY = {
    "--budget": "smoke",
    "--rows-per-class": "4",
    "--set": "match.iterations=4",
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(2)
    died = rng.integers(0, 2, 240)
    table = pd.DataFrame(
        {
            "age": rng.normal(60, 10, 240) + 8 * died,
            "ward": rng.choice(["icu", "hdu"], 240),
            "outcome": np.where(died, "died", "left"),
        }
    )
    path = tmp_path_factory.mktemp("data") / "table.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def run(table, tmp_path_factory):
    """A run folder made by the command from string labels."""
    out = tmp_path_factory.mktemp("runs") / "run"
    options = [word for pair in TINY.items() for word in pair]
    command("condense", table, "--target", "outcome", "--positive", "died", "--out", out, "--quiet", *options)
    return out


def command(*words):
    before = sys.argv
    sys.argv = ["aliquot", *map(str, words)]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code  # noqa: PT017
    finally:
        sys.argv = before


def test_encode_writes_the_features_of_rows_in_input_order(run, table, tmp_path, capsys):
    command("encode", "--release", run, table, "--out", tmp_path / "new.parquet")
    new = pd.read_parquet(tmp_path / "new.parquet")
    rows = pd.read_parquet(run / "release" / "rows.parquet")
    assert [*new.columns, "outcome=left", "outcome=died", "outcome", "weight"] == list(rows.columns)
    source = pd.read_csv(table)
    assert len(new) == len(source)
    assert np.corrcoef(new["age"], source["age"])[0, 1] > 0.999
    assert "240 patients" in capsys.readouterr().out


def test_encode_counts_levels_not_seen(run, table, tmp_path, capsys):
    changed = pd.read_csv(table).assign(ward="hospice")
    changed.to_csv(tmp_path / "t.csv", index=False)
    command("encode", "--release", run, tmp_path / "t.csv", "--out", tmp_path / "new.parquet")
    assert "240 cells of 'ward'" in " ".join(capsys.readouterr().out.split())


def test_evaluate_trains_on_the_rows_and_scores_others(run, table, capsys):
    command("evaluate", "--release", run, "--data", table, "--networks", "2")
    said = capsys.readouterr().out
    assert "240 patients" in said
    assert re.search(r"AUROC\s+0\.\d{3}", said)
    assert "before correction" in said


def test_expand_writes_labelled_records_as_features_or_in_the_units_of_the_source(run, tmp_path, capsys):
    files = tmp_path / "records.parquet", tmp_path / "records.csv"
    for file in files:
        command("expand", run / "release", "--rows", "30", "--out", file, "--seed", "2", "--quiet", "--json")
        said = json.loads(capsys.readouterr().out)
        assert (said["records"], said["file"]) == (30, str(file))
    features, source = pd.read_parquet(files[0]), pd.read_csv(files[1])
    assert len(features) == len(source) == said["lines"]
    rows = pd.read_parquet(run / "release" / "rows.parquet")
    labels = ["outcome=left", "outcome=died", "outcome", "weight"]
    assert [*features.columns] == [*rows.columns.drop(labels, errors="ignore"), *labels]
    assert [*source.columns] == ["age", "ward", *labels]
    encoded = read_release(run).encoder.transform(source)
    np.testing.assert_array_equal(features.drop(columns=labels).to_numpy(), encoded)
    assert set(source["ward"]) <= {"icu", "hdu"}


def test_expand_says_which_files_it_writes(run, tmp_path, capsys):
    with pytest.raises(AssertionError):
        command("expand", run, "--out", tmp_path / "records.xlsx")
    assert "records.xlsx; choose a name that ends in .parquet or .csv" in " ".join(capsys.readouterr().err.split())


def test_inspect_shows_numbers_of_a_run_and_of_a_release(run, capsys):
    for folder in (run, run / "release"):
        command("inspect", folder)
        said = capsys.readouterr().out
        assert "Held-out patients" in said
        assert "gradient boosting" in said


def test_version(capsys):
    command("version")
    assert "jax " in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["", "demo", "condense", "resume", "encode", "expand", "evaluate", "check", "inspect", "version"]
)
def test_help_is_there_for_all(name, capsys):
    command(*name.split(), "--help")
    assert "Usage" in capsys.readouterr().out


def test_a_release_reads_back_with_string_labels(run):
    release = read_release(run)
    assert release.recipe["labels"]["classes"] == ["left", "died"]
    assert release.targets.shape == (8,)
    rows = pd.read_csv(run / "release" / "rows.csv")
    assert rows["outcome"].tolist() == ["left", "died"] * 8
    assert rows["weight"].to_numpy().reshape(8, 2).sum(axis=1) == pytest.approx(1)
    np.testing.assert_allclose(rows["weight"][1::2], release.targets, rtol=1e-6)
    assert set(rows["ward"]) <= {"icu", "hdu"}
