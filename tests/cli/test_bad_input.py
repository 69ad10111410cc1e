"""Bad input through the command: exit code 2, one sentence, no cell value, nothing left behind."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from aliquot.run.private import locked

SECRET = "Zebrafish"  # planted as a cell value; must never be printed
SECRET_NUMBER = "424242.5"


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.normal(60, 10, 300).round(1),
            "ward": rng.choice(["icu", "hdu", SECRET], 300),
            "lactate": np.where(rng.random(300) < 0.1, np.nan, rng.lognormal(size=300).round(2)),
            "died": rng.integers(0, 2, 300),
        }
    )


@pytest.fixture
def refused(aliquot, tmp_path):
    """Asserts that condensing a table is refused in the proper way, and returns the sentence."""

    def check(table, *words, target="died", file="table.csv", out="run"):
        path = tmp_path / file
        if isinstance(table, pd.DataFrame):
            table.to_csv(path, index=False)
        elif table is not None:
            path.write_bytes(table)
        before = sorted(tmp_path.rglob("*"))
        code, printed, said = aliquot("condense", path, "--target", target, "--out", tmp_path / out, "--quiet", *words)
        assert code == 2, said
        assert printed == ""
        assert said.count("\n") == 1, said
        assert said.startswith("aliquot: ")
        assert SECRET not in said
        assert SECRET_NUMBER not in said
        assert "Traceback" not in said
        assert sorted(tmp_path.rglob("*")) == before
        return said

    return check


def test_missing_file(refused):
    assert "table.csv" in refused(None)


@pytest.mark.parametrize(
    "content", [b"\x00\xff\xfe\x01" * 50, b"a,b\n1,2,3\n4\n", b""], ids=["bytes", "ragged", "empty"]
)
def test_not_a_table(refused, content):
    refused(content)


def test_not_what_its_name_says(refused):
    refused(b"age,died\n1,0\n", file="table.parquet")
    refused(b"age,died\n1,0\n", file="table.npz")
    refused(b"age,died\n1,0\n", file="table.docx")


def test_unknown_target_suggests_a_near_one(refused, table):
    assert "'died'" in refused(table, target="dead")


def test_target_with_one_class(refused, table):
    refused(table.assign(died=1))


def test_target_with_missing_values(refused, table):
    refused(table.assign(died=table.died.where(table.index > 3)))


def test_target_with_too_many_classes(refused, table):
    refused(table.assign(died=np.arange(300) + 0.5))


def test_fewer_patients_than_rows_asked(refused, table):
    assert "at most" in refused(table, "--rows-per-class", "200")


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values(refused, table, value):
    table.loc[3, "age"] = value
    assert "'age'" in refused(table)


def test_duplicate_column_names(refused, table):
    content = table.to_csv(index=False).replace("age,ward", "age,age").encode()
    assert "'age'" in refused(content)


def test_patient_on_two_sides_of_the_users_split(refused, table):
    roles = np.resize(["train", "train", "tuning", "held_out"], 300)
    table = table.assign(who=np.arange(300) // 2, part=roles)
    refused(table, "--patient-id", "who", "--split", "part")


@pytest.mark.parametrize(
    "words",
    [
        ("--rows-per-class", "200"),  # more than there are patients in the rarest class
        ("--rows-per-class", "200", "--method", "kmeans"),
        ("--positive", "nobody"),
        ("--split", "part"),
        ("--schema", "schema.toml"),
        ("--subgroup", "place"),
        ("--patient-id", "ward"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("rare", [3, 14, 40])
def test_classes_and_levels_are_never_named(refused, table, tmp_path, monkeypatch, words, rare):
    """Of the outcome, of features, of the user's split and of subgroups."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.toml").write_text("[columns.ward]\nkind = 'numeric'\n")
    died = np.where(np.arange(300) < rare, f"{SECRET}1", np.where(np.arange(300) < 150, f"{SECRET}2", f"{SECRET}3"))
    part, place = np.resize(["train", "tuning", SECRET], 300), [f"{SECRET}{i % 30}" for i in range(300)]
    refused(table.assign(died=died, part=part, place=place), *words)


def test_what_looks_like_a_patient_in_the_first_line_is_not_named(refused, table):
    cells = table.assign(age=table.age.round(), sex=SECRET)
    content = cells.to_csv(index=False, header=False).encode()
    refused(content)
    refused(content, target=SECRET.lower())
    doubled = pd.concat([cells, cells[["sex"]]], axis=1).to_csv(index=False, header=False).encode()
    refused(doubled)


def test_empty_table_and_one_row(refused, table):
    refused(table.iloc[:0])
    refused(table.iloc[:1])


def test_unknown_setting_method_preset_budget(refused, table):
    assert "student_steps" in refused(table, "--set", "match.student_step=3")
    assert "btm" in refused(table, "--method", "btn")
    assert "paper" in refused(table, "--preset", "papers")
    assert "smoke" in refused(table, "--budget", "smok")
    assert "--allow-real-rows" in refused(table, "--method", "random")


TINY = [
    "--budget",
    "smoke",
    "--rows-per-class",
    "2",
    "--quiet",
    "--set",
    "match.iterations=4",
    "--set",
    "expert.count=2",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished small run, made by the command."""
    folder = tmp_path_factory.mktemp("finished")
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"age": rng.normal(size=300), "flat": 1, "died": rng.integers(0, 2, 300)})
    mixed = table.age.round(2).astype(object)
    mixed[::7] = SECRET
    table = table.assign(
        mixed=mixed,
        gap=np.nan,
        seen=pd.date_range("2020-01-01", periods=300).astype(str),
        note=[f"{SECRET} note number {i}" for i in range(300)],
    )
    table.to_csv(folder / "table.csv", index=False)
    words = ["condense", folder / "table.csv", "--target", "died", "--out", folder / "run", *TINY]
    done = subprocess.run(
        [sys.executable, "-m", "aliquot", *map(str, words)], capture_output=True, text=True, check=True
    )
    return folder, words, done


def test_columns_that_cannot_be_features_are_left_out_and_said(finished):
    folder, _, done = finished
    notes = " ".join(done.stdout.split())
    assert all(f"left out '{name}': " in notes for name in ("flat", "mixed", "gap", "seen", "note"))
    assert SECRET not in done.stdout + done.stderr
    features = pd.read_parquet(folder / "run" / "release" / "rows.parquet").columns
    assert not {"flat", "mixed", "gap", "seen", "note"} & {*features}


def test_private_is_for_its_owner_only(finished):
    private = finished[0] / "run" / "private"
    modes = {path.relative_to(private): path.stat().st_mode & 0o777 for path in (private, *private.rglob("*"))}
    assert set(modes.values()) == {0o700, 0o600}
    assert all((found == 0o700) == (private / path).is_dir() for path, found in modes.items())


def test_a_run_whose_private_folder_others_could_enter_is_not_continued(finished, aliquot, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(finished[0] / "run", copy)
    (copy / "private").chmod(0o755)
    code, _, said = aliquot("resume", copy)
    assert (code, said.count("\n")) == (2, 1)
    assert f"chmod 700 {copy / 'private'}" in said


def test_a_folder_in_which_another_process_works_is_refused_at_once(finished, aliquot, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(finished[0] / "run", copy)
    with locked(copy / "private"):
        code, _, said = aliquot("resume", copy)
    assert (code, said.count("\n")) == (2, 1)
    assert "another process is at work" in said


def test_a_network_that_does_not_fit_leaves_no_folder(refused, table):
    assert "'tcn' on a table" in refused(table, "--network", "tcn")


@pytest.mark.parametrize(("name", "read"), [("new.csv", pd.read_csv), ("new.parquet", pd.read_parquet)])
def test_encode_writes_what_the_name_says_for_its_owner_alone(finished, aliquot, tmp_path, name, read):
    out = tmp_path / name
    assert aliquot("encode", "--release", finished[0] / "run", finished[0] / "table.csv", "--out", out)[0] == 0
    assert read(out).shape == (300, 1)
    assert out.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["new.xlsx", "new", "absent/new.csv"])
def test_encode_refuses_other_names_before_any_work(finished, aliquot, tmp_path, name):
    code, printed, said = aliquot("encode", "--release", tmp_path / "absent", "x.csv", "--out", tmp_path / name)
    assert (code, printed, said.count("\n")) == (2, "", 1)
    assert "asked to write" in said
    assert not list(tmp_path.iterdir())


def test_out_is_the_folder_that_one_is_in(finished, aliquot, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["." if word == finished[0] / "run" else word for word in finished[1]]
    assert aliquot(*words, "--method", "kmeans")[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["private", "release"]


@pytest.mark.parametrize("closed", ["2>&-", "2>&- 1>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_are_as_if_nobody_listened(closed, tmp_path):
    command = f'exec "$@" {closed}'
    words = [sys.executable, "-m", "aliquot", "condense", "no.csv", "--target", "died", "--out", tmp_path / "run"]
    done = subprocess.run(["bash", "-c", command, "bash", *map(str, words)], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


def test_terminals_that_know_only_ascii(finished):
    for words in (["inspect", finished[0] / "run"], ["cohorts"], ["condense", "--help"]):
        where = {**os.environ, "PYTHONIOENCODING": "ascii", "LANG": "C"}
        done = subprocess.run([sys.executable, "-m", "aliquot", *map(str, words)], capture_output=True, env=where)
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode("ascii")


def test_same_command_again_does_nothing_and_another_run_is_refused(finished, aliquot):
    folder, words, _ = finished
    rows = (folder / "run" / "release" / "rows.parquet").stat().st_mtime_ns
    assert aliquot(*words)[0] == 0
    assert (folder / "run" / "release" / "rows.parquet").stat().st_mtime_ns == rows
    code, _, said = aliquot(*words, "--seed", "5")
    assert code == 2
    assert "another run" in said


def test_folder_with_other_files_is_refused(finished, aliquot, tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    words = [tmp_path if word == finished[0] / "run" else word for word in finished[1]]
    code, _, said = aliquot(*words)
    assert code == 2
    assert said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_changed_data_is_noticed_on_resume(finished, aliquot, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(finished[0] / "run", copy)
    table = finished[0] / "table.csv"
    text = table.read_text()
    table.write_text(text.replace(",1,1,", ",1,0,", 1))
    try:
        code, _, said = aliquot("resume", copy)
    finally:
        table.write_text(text)
    assert code == 2
    assert "changed" in said


def spoil(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("harm", [spoil, truncate])
@pytest.mark.parametrize("name", ["rows.parquet", "encoder.json", "recipe.toml", "croissant.json"])
def test_tampered_release(finished, aliquot, tmp_path, name, harm):
    copy = tmp_path / "release"
    shutil.copytree(finished[0] / "run" / "release", copy)
    harm(copy / name)
    code, printed, said = aliquot(
        "encode", "--release", copy, finished[0] / "table.csv", "--out", tmp_path / "x.parquet"
    )
    assert (code, printed) == (2, "")
    assert said.count("\n") == 1
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.parametrize("harm", [spoil, truncate])
@pytest.mark.parametrize("name", ["experts", "curves", "matching", "watched", "scores"])
def test_tampered_checkpoint(finished, aliquot, tmp_path, name, harm):
    copy = tmp_path / "run"
    shutil.copytree(finished[0] / "run", copy)
    shutil.rmtree(copy / "release")
    path = next((copy / "private" / "store").glob(f"{name}*.safetensors"))
    harm(path)
    code, printed, said = aliquot("resume", copy, "--quiet")
    assert (code, printed) == (2, "")
    assert said.count("\n") == 1
    assert path.stem in said
    assert not (copy / "release").exists()


def test_tampered_plan(finished, aliquot, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(finished[0] / "run", copy)
    plan = copy / "private" / "plan.json"
    plan.write_text(plan.read_text().replace('"seed": 0', '"seed": 1'))
    assert aliquot("resume", copy)[0] == 2


def test_no_space_left(finished, tmp_path):
    """Files may not grow beyond 3 KiB: the plan fits, the first block of experts does not."""
    words = [tmp_path / "run" if word == finished[0] / "run" else word for word in finished[1]]
    limited = [
        "bash",
        "-c",
        'ulimit -f 3; exec "$@"',
        "bash",
        sys.executable,
        "-m",
        "aliquot",
        *map(str, words),
    ]
    done = subprocess.run(limited, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no space" in done.stderr
    assert not (tmp_path / "run" / "release").exists()
    assert not list(tmp_path.rglob("*.draft"))


def test_too_little_memory_for_compiled_work_is_said_before_it_begins():
    words = ["bash", "-c", 'ulimit -v 2000000; exec "$@"', "bash", sys.executable, "-m", "aliquot", "demo"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "2.0 GB of address space (ulimit -v)" in done.stderr


def test_metrics_are_as_promised(finished):
    metrics = json.loads((finished[0] / "run" / "release" / "metrics.json").read_text())
    assert {
        "method",
        "rows_per_class",
        "seed",
        "versions",
        "data",
        "held_out",
        "transfer",
        "seconds",
        "storage_bytes",
    } <= set(metrics)
    for source in ("aliquot", "random", "full", "full_best_epoch"):
        for metric in ("auroc", "auprc"):
            assert set(metrics["held_out"][source][metric]) == {"mean", "std", "n"}
    assert {"patients", "features", "prevalence"} <= set(metrics["data"])
    assert {"curves", "trajectories_if_dense"} == set(metrics["storage_bytes"])
