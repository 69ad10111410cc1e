"""Series through the real command: condense, resume, encode and evaluate, from all layouts."""

import json
import re
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

from aliquot import read_release
from aliquot.cli import main
from aliquot.cohort import Columns, Layout, SeriesEncoder, on_grid, read_patients, read_table
from aliquot.identity import checksum_text
from aliquot.run.folder import read_plan
from aliquot.run.source import Source

SECRET = "Zebrafish"
TINY = [
    *("--budget", "smoke", "--rows-per-class", "3", "--quiet", "--set", "evaluation.search_epochs=2"),
    *("--set", "evaluation.final_epochs=2", "--set", "evaluation.final_networks=2"),
    *("--set", "evaluation.search_networks=1", "--set", "evaluation.full_epochs=2"),
]
MATCHED = ["--method", "dm", "--set", "distribution.iterations=4", "--set", "distribution.judge_every=2"]
MEANS = ["--method", "kmeans"]  # nothing to compile but the evaluation
SERIES = ["--network", "lstm-1"]
LONG = ["--patient-id", "id", "--time", "hour", "--variable", "name", "--value", "value"]
WIDE = ["--stay-id", "id", "--time", "hour"]
KNOWN = ["--cohort", "simulated:ouh", "--read", "fraction=0.006"]


@pytest.fixture(scope="module")
def run(files, tmp_path_factory):
    """A run condensed from measurements, one per line, and a table of outcomes."""
    words = [files / "long.csv", "--outcomes", files / "stays.csv", "--target", "died", *LONG, "--hours", "6"]
    return condensed(tmp_path_factory.mktemp("runs") / "long", *words, *MATCHED, *SERIES)


@pytest.fixture(scope="module")
def array_run(files, tmp_path_factory):
    """A run condensed from an array with three dimensions."""
    words = [files / "array.npz", "--target", "y", "--patient-id", "id"]
    return condensed(tmp_path_factory.mktemp("runs") / "array", *words, *MEANS, *SERIES)


@pytest.fixture(scope="module")
def table_run(tmp_path_factory):
    """A run condensed from a known table."""
    return condensed(tmp_path_factory.mktemp("runs") / "table", *KNOWN, *MEANS)


def condensed(out, *words):
    before = sys.argv
    sys.argv = ["aliquot", "condense", *map(str, words), "--out", str(out), *TINY]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code  # noqa: PT017
    finally:
        sys.argv = before
    return out


def encoder_of(run) -> SeriesEncoder:
    encoder = read_release(run).encoder
    assert isinstance(encoder, SeriesEncoder)
    return encoder


def test_lines_and_outcomes_are_condensed(run):
    release = read_release(run)
    assert release.x.shape == (6, 6, 5)
    assert encoder_of(run).channel_names == ("hr", "ph")
    assert encoder_of(run).feature_names == ("hr", "ph", "hr=(measured)", "ph=(measured)", "age")
    long = pd.read_csv(run / "release" / "rows.csv")
    assert set(long["variable"]) <= {"hr", "ph", "age", "died"}


def test_all_layouts_give_the_same_patients(files):
    columns = Columns(target="died", patient_id="id")
    lines = Layout("id", "hour", "name", "value", outcomes=f"{files}/stays.csv")
    sources = {
        "long": Source(file=f"{files}/long.csv", columns=columns, layout=lines),
        "wide": Source(file=f"{files}/wide.csv", columns=columns, layout=Layout("id", "hour")),
        "array": Source(file=f"{files}/array.npz", columns=Columns(target="y", patient_id="id")),
    }
    cohorts = {name: source.read() for name, source in sources.items()}
    one = cohorts["long"]
    assert one.series is not None
    for cohort in cohorts.values():
        np.testing.assert_array_equal(cohort.labels, one.labels)
        assert cohort.series is not None
        assert cohort.series.channels == one.series.channels
        np.testing.assert_array_equal(cohort.series.values, one.series.values)
    pd.testing.assert_frame_equal(cohorts["wide"].frame, one.frame)
    assert cohorts["array"].frame.shape == (90, 0)


def test_columns_and_arrays_are_condensed(files, array_run, tmp_path):
    wide = [files / "wide.csv", "--target", "died", *WIDE]
    for run in (condensed(tmp_path / "run", *wide, *MEANS, *SERIES), array_run):
        assert read_release(run).x.shape[:2] == (6, 6)
        assert encoder_of(run).channel_names == ("hr", "ph")


def test_a_finished_run_is_resumed_by_its_plan(run, tell):
    rows = (run / "release" / "rows.parquet").stat().st_mtime_ns
    code, said, _ = tell("resume", run)
    assert code == 0
    assert "release:" in said
    assert (run / "release" / "rows.parquet").stat().st_mtime_ns == rows


@pytest.mark.parametrize("name", ["long.csv", "stays.csv"])
def test_both_files_are_watched(name, run, files, tell):
    path = files / name
    content = path.read_bytes()
    try:
        path.write_bytes(
            content.replace(b"501,", b"502,", 1) if name == "long.csv" else content.replace(b",0\n", b",1\n", 1)
        )
        code, _, said = tell("resume", run)
        assert (code, "its data has changed" in said) == (2, True)
        path.unlink()
        code, _, said = tell("resume", run)
        assert (code, "no longer where it was" in said) == (2, True)
    finally:
        path.write_bytes(content)


def test_a_run_that_knew_no_series_is_resumed(table_run, tell, tmp_path):
    shutil.copytree(table_run, tmp_path / "run")
    path = tmp_path / "run" / "private" / "plan.json"
    plan = read_plan(tmp_path / "run")
    assert plan["source"].pop("layout") is None
    plan["source"] |= {**plan["source"].pop("columns"), "target": "died_within_30_days"}  # as all sources had it
    path.write_text(json.dumps({"plan": plan, "sha256": checksum_text(json.dumps(plan, sort_keys=True))}))
    assert tell("resume", tmp_path / "run")[0] == 0
    assert tell("condense", *KNOWN, *MEANS, *TINY, "--out", tmp_path / "run")[0] == 0
    code, _, said = tell("condense", *KNOWN, *MEANS, *TINY, "--seed", "5", "--out", tmp_path / "run")
    assert (code, "another run is in it" in said) == (2, True)


def test_encode_gives_what_the_encoder_gives_in_the_order_of_the_stays(run, files, tell, tmp_path):
    stays = read_table(files / "stays.csv")[::-1].drop(columns="died")
    stays.to_csv(tmp_path / "new.csv", index=False)
    words = ["encode", "--release", run, files / "long.csv", "--outcomes", tmp_path / "new.csv", *LONG]
    code, said, _ = tell(*words, "--out", tmp_path / "x.parquet")
    assert code == 0
    assert "90 stays × 6 steps × 5 features" in said
    table = pd.read_parquet(tmp_path / "x.parquet")
    assert [*table.columns, "died"] == pd.read_parquet(run / "release" / "rows.parquet").columns.tolist()
    grid = on_grid(read_table(files / "long.csv"), Layout("id", "hour", "name", "value", 6), stays)
    assert grid.series is not None
    expected = encoder_of(run).transform(grid.series, grid.frame)
    np.testing.assert_array_equal(table.to_numpy().reshape(90, 6, 5), expected)


def test_encode_reads_all_layouts_alike(run, files, tell, tmp_path):
    tell("encode", "--release", run, files / "wide.csv", *WIDE, "--out", tmp_path / "wide.parquet")
    words = [files / "long.csv", "--outcomes", files / "stays.csv", *LONG, "--hours", "6", "--step-hours", "1"]
    tell("encode", "--release", run, *words, "--out", tmp_path / "long.parquet")
    one, other = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("wide", "long"))
    pd.testing.assert_frame_equal(one, other)


def test_new_data_may_have_more_channels_longer_stays_and_new_levels(run, files, tell, tmp_path):
    wide = read_table(files / "wide.csv").head(12)
    later = wide.tail(1).assign(hour=9)
    pd.concat([wide, later]).assign(lactate=np.arange(13), note=SECRET).to_csv(tmp_path / "new.csv", index=False)
    code, said, _ = tell("encode", "--release", run, tmp_path / "new.csv", *WIDE, "--out", tmp_path / "x.parquet")
    assert code == 0
    assert "left out 'lactate': no channels of the release" in said
    assert "measurements outside of hours 0 to 6" in said
    assert SECRET not in said


def test_evaluate_scores_series(run, files, tell):
    words = [files / "long.csv", "--outcomes", files / "stays.csv", *LONG]
    code, said, _ = tell("evaluate", "--release", run, "--networks", "2", "--data", *words)
    assert code == 0
    assert "90 patients, 2 networks trained on the rows" in said
    assert re.search(r"AUROC 0\.\d{3}", said)
    code, wide, _ = tell("evaluate", "--release", run, "--networks", "2", "--data", files / "wide.csv", *WIDE)
    assert wide == said


def test_an_array_is_encoded_and_scored(array_run, files, tell, tmp_path):
    array = files / "array.npz"
    code, said, _ = tell("encode", "--release", array_run, array, "--out", tmp_path / "x.parquet")
    assert (code, "90 stays × 6 steps × 4 features" in said) == (0, True)
    series = read_patients(array).series
    assert series is not None
    expected = encoder_of(array_run).transform(series, pd.DataFrame(index=range(90)))
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "x.parquet").to_numpy(), expected.reshape(90, -1))
    code, said, _ = tell("evaluate", "--release", array_run, "--data", array, "--networks", "2")
    assert (code, "90 patients" in said) == (0, True)
    code, _, said = tell("encode", "--release", array_run, array, *WIDE, "--out", tmp_path / "y.parquet")
    assert (code, "has series on a grid already; leave out --time" in said) == (2, True)


def test_evaluate_on_a_known_dataset(table_run, tell):
    words = ["evaluate", "--release", table_run, "--networks", "2"]
    code, said, _ = tell(*words, *KNOWN, "--read", "seed=1")
    assert (code, "networks trained on the rows" in said) == (0, True)
    for extra in ([*KNOWN, "--data", "t.csv"], []):
        code, _, said = tell(*words, *extra)
        assert (code, "either --data FILE or --cohort NAME" in said) == (2, True)
    code, _, said = tell(*words, *KNOWN, "--time", "hour")
    assert (code, "--time with a known dataset" in said) == (2, True)


def test_a_table_release_takes_no_series(table_run, files, tell, tmp_path):
    words = ["encode", "--release", table_run, "--out", tmp_path / "x.parquet"]
    code, _, said = tell(*words, files / "wide.csv", *WIDE)
    assert (code, "this release holds a table; leave out --time" in said) == (2, True)
    code, _, said = tell(*words, files / "array.npz")
    assert (code, "asked to encode a table, but found series" in said) == (2, True)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["wide.csv"], "add --stay-id and --time COLUMN"),
        (["wide.csv", *WIDE, "--hours", "12"], "asked for --hours 12, but the release has 6; leave out --hours"),
        (["wide.csv", *WIDE, "--step-hours", "2"], "asked for --step-hours 2, but the release has 1"),
        (["wide.csv", "--stay-id", "id", "--time", "our"], "the time 'our' is not a column of the table"),
        (["other.csv", *WIDE], "lacks channels that the release needs ('ph')"),
        (["moving.csv", *WIDE], "'age' must be the same throughout a stay"),
        (["young.csv", *WIDE], "lacks columns that the encoder needs ('age')"),
        (["long.csv", *LONG, "--outcomes", "absent.csv"], "absent.csv"),
        (["long.csv", "--time", "hour"], "not told whose times"),
        (["short.npz"], "6 steps of 2 channels"),
    ],
)
@pytest.mark.parametrize("command", ["encode", "evaluate"])
def test_new_data_that_do_not_fit(command, words, hint, run, files, tell, tmp_path):
    wide = read_table(files / "wide.csv")
    wide.rename(columns={"ph": SECRET}).to_csv(tmp_path / "other.csv", index=False)
    wide.assign(age=wide.index).to_csv(tmp_path / "moving.csv", index=False)
    wide.drop(columns="age").to_csv(tmp_path / "young.csv", index=False)
    np.savez(tmp_path / "short.npz", X=np.ones((4, 3, 2)), y=[0, 1, 0, 1], names=["hr", "ph"])
    known = {name: files / name for name in ("wide.csv", "long.csv")}
    words = [known.get(word, tmp_path / word if "." in word else word) for word in words]
    place = ["--out", tmp_path / "x.parquet", *words] if command == "encode" else ["--data", *words]
    if command == "evaluate" and "short.npz" in str(words[0]):
        hint = "the target 'died'"
    code, said, error = tell(command, "--release", run, *place)
    assert (code, said) == (2, "")
    assert error.count("\n") == 1
    assert hint in error
    assert SECRET not in error
    assert not (tmp_path / "x.parquet").exists()


def test_a_dropped_column_is_left_out(files, tmp_path):
    wide = read_table(files / "wide.csv")
    wide.assign(note=np.resize([SECRET, "b"], len(wide))).to_csv(tmp_path / "note.csv", index=False)
    columns = Columns(target="died", drop=("note",))
    source = Source(file=f"{tmp_path}/note.csv", columns=columns, layout=Layout("id", "hour"))
    series = source.read().series
    assert series is not None
    assert series.channels == ("hr", "ph")


def test_compare_takes_series(files, tell, tmp_path):
    words = [
        files / "wide.csv",
        *WIDE,
        "--target",
        "died",
        "--methods",
        "random",
        "--seeds",
        "1",
        "--out",
        tmp_path / "c",
    ]
    code, said, error = tell("compare", *words, *TINY, "--set", "network.kind=lstm-1")
    assert code == 0, error
    assert "random" in said
