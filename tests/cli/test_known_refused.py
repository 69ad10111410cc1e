"""Known datasets through the real command: malformed trees and wrong options end with one sentence."""

from pathlib import Path

import pytest

from aliquot.registry import READERS

from .known_trees import LABELS, SMALL, TINY, asked, builders

SECRET = "Zebrafish"  # planted as a file's content; must never be printed
MALFORMED = [
    pytest.param(cohort, change, words, id=f"{cohort}, {name}")
    for cohort, small in SMALL.items()
    if cohort != "eicu"  # read as fiddle is
    for name, (change, words) in builders(small.reader).MALFORMED.items()
]


@pytest.mark.parametrize("name", [name for name in READERS if READERS[name].files])
def test_every_entry_has_a_tree_to_spoil(name):
    assert name in SMALL


@pytest.fixture
def refused(tell, tmp_path):
    """Asserts that a folder is refused in the proper way, and returns the sentence."""

    def check(cohort: str, folder: Path, *words: str, read: tuple[str, ...] | None = None) -> str:
        small = SMALL[cohort]
        code, printed, said = tell(*asked(cohort, folder, small.read if read is None else read, tmp_path / "run"))
        assert (code, printed) == (2, ""), said
        assert said.count("\n") == 1, said
        assert said.startswith("aliquot: ")
        assert "Traceback" not in said
        assert "synthetic rows per class" not in said  # else the reader took it
        shown = said.replace(str(tmp_path), "").replace("1_episode1_timeseries.csv", "")  # an example in a message
        for secret in (SECRET, builders(small.reader).SENTINEL, "77001", "_episode"):
            assert secret not in shown
        for word in words:
            assert word in said
        assert not (tmp_path / "run").exists()
        return said

    return check


@pytest.mark.parametrize(("cohort", "change", "words"), MALFORMED)
def test_malformed_trees_are_refused(cohort, change, words, refused, tmp_path):
    refused(cohort, SMALL[cohort].write(tmp_path / "data", change), *words)


def removed(path: Path) -> None:
    path.unlink()


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwritten(path: Path) -> None:
    path.write_text(f"{SECRET},{SECRET}\n{SECRET},1\n")


def scrambled(path: Path) -> None:
    path.write_bytes(b"\x00\xff" * 60 + SECRET.encode())


def turned(path: Path) -> None:
    """Into a folder."""
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [removed, emptied, halved, overwritten, scrambled, turned])
@pytest.mark.parametrize("cohort", SMALL)
def test_every_file_is_needed_whole(cohort, harm, refused, tmp_path):
    files = sorted(SMALL[cohort].write(tmp_path / "whole").rglob("*"))
    names = [str(path.relative_to(tmp_path / "whole")) for path in files if path.is_file()]
    assert names
    for place, name in enumerate(names):
        if not (name in SMALL[cohort].optional and harm in (removed, turned)):
            folder = SMALL[cohort].write(tmp_path / str(place))
            harm(folder / name)
            refused(cohort, folder, "no .csv file" if (cohort, harm) == ("curial", removed) else str(folder))


@pytest.mark.parametrize("cohort", SMALL)
def test_folders_that_hold_something_else(cohort, refused, tmp_path):
    refused(cohort, tmp_path / "nowhere", READERS[cohort].files)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text(SECRET)
    refused(cohort, tmp_path / "other", "no .csv file" if cohort == "curial" else str(tmp_path / "other"))
    refused(cohort, tmp_path / "other" / "notes.txt", "is no folder")


@pytest.mark.parametrize(
    ("cohort", "read", "words"),
    [
        ("physionet2012", ("hours=48",), "its options are: none"),
        ("mimic3", ("colums=raw",), "its options are: columns, masks"),
        ("mimic3", ("columns=both",), "known: merged, raw, codes"),
        ("mimic3", ("fill=next",), "known: previous, none"),
        ("mimic3", ("balance=smote",), "known: none, under, over"),
        ("fiddle", (), "add --read task=VALUE"),
        ("fiddle", ("task=sepsis",), "one of its tasks ('ARF_4h')"),
        ("fiddle", ("task=ARF_4h", "summary=median"), "summary cannot be 'median'"),
        ("fiddle", ("task=ARF_4h", "features=("), "not a regular expression"),
        ("fiddle", ("task=ARF_4h", "features=nothing"), "no feature is left"),
        ("fiddle", ("task=ARF_4h", "minimum_share=2"), "choose it from 0 to 1"),
        ("eicu", (), "one of its tasks ('ARF_4h')"),
        ("curial", (), "add --read empty_label=VALUE"),
        ("curial", ("empty_label=yes",), "empty_label cannot be 'yes'"),
        ("curial", ("empty_label=drop", "features=all"), "features cannot be 'all'"),
        ("curial", ("empty_label=drop", "arrived_from=31/03/2020"), "write it like 2020-03-31"),
        ("curial", ("empty_label=drop", "arrived_until=2020"), "write it like 2020-03-31"),
        ("yaib", ("hours=0",), "ask for a whole number from 1"),
        ("yaib", ("hours=2.5",), "ask for a whole number from 1"),
        ("meds", (LABELS,), "add --read hours=VALUE"),
        ("meds", ("hours=4",), "add --read labels=VALUE"),
        ("meds", ("labels={folder}/nowhere.parquet", "hours=4"), "is missing"),
        ("meds", (LABELS, "hours=4", "step_hours=3"), "one or more whole steps"),
        ("meds", (LABELS, "hours=4", "minimum_share=2"), "ask for one from 0 to 1"),
        ("meds", (LABELS, "hours"), "--read NAME=VALUE"),
    ],
)
def test_wrong_options_are_refused(cohort, read, words, refused, tmp_path):
    refused(cohort, SMALL[cohort].write(tmp_path / "data"), words, read=read)


@pytest.mark.parametrize(
    ("cohort", "read", "words"),
    [
        ("mimic3", ("seed=abc",), "seed takes a whole number from 0"),
        ("mimic3", ("seed=-1",), "seed takes a whole number from 0"),
        ("mimic3", ("seed=1.5",), "seed takes a whole number from 0"),
        ("mimic3", ("masks=maybe",), "masks takes true or false"),
        ("mimic3", ("masks=1",), "masks takes true or false"),
        ("fiddle", ("task=5",), "one of its tasks ('ARF_4h')"),
        ("fiddle", ("task=",), "task takes a word"),
        ("fiddle", ("task=ARF_4h", "features=5"), "no feature is left"),
        ("fiddle", ("task=ARF_4h", "minimum_share=abc"), "minimum_share takes a number"),
        ("curial", ("empty_label=drop", "site_roles=OUH"), "site_roles takes pairs"),
        ("yaib", ("hours=abc",), "hours takes a number"),
        ("yaib", ("hours=1e300",), "hours takes a number"),
        ("meds", (LABELS, "hours=abc"), "hours takes a number"),
        ("meds", (LABELS, "hours=inf"), "hours takes a number"),
        ("meds", (LABELS, "hours=nan"), "hours takes a number"),
        ("meds", (LABELS, "hours="), "hours takes a number"),
        ("meds", (LABELS, "hours=4", "step_hours=abc"), "step_hours takes a number"),
        ("meds", (LABELS, "hours=4", "step_hours=1e-12"), "one or more whole steps"),
        ("meds", (LABELS, "hours=4", "minimum_share=abc"), "minimum_share takes a number"),
        ("meds", ("hours=4", "labels="), "labels takes a path"),
    ],
)
def test_values_of_another_kind_are_refused(cohort, read, words, refused, tmp_path):
    refused(cohort, SMALL[cohort].write(tmp_path / "data"), words, read=read)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("fraction=abc", "fraction takes a number"),
        ("fraction=nan", "fraction takes a number"),
        ("fraction=2", "choose it from"),
        ("seed=-1", "seed takes a whole number from 0"),
        ("size=1", "its options are: fraction, seed"),
    ],
)
def test_simulated_cohorts_take_the_same_kinds(option, words, tell, tmp_path):
    code, _, said = tell("condense", "--cohort", "simulated:puh", "--read", option, "--out", tmp_path / "run", *TINY)
    assert code == 2
    assert words in said
    assert said.count("\n") == 1


@pytest.fixture
def asking(tell, tmp_path):
    """Asks a command for a known dataset with more words; returns the sentence in which it is refused."""

    def ask(command: str, *words: str) -> str:
        folder = SMALL["yaib"].write(tmp_path / "data")
        place = ("--release", tmp_path) if command == "evaluate" else ("--out", tmp_path / "run")
        code, printed, said = tell(command, *words, "--cohort", "yaib", "--path", folder, *place)
        assert (code, printed) == (2, ""), said
        assert said.count("\n") == 1, said
        assert not (tmp_path / "run").exists()
        return said

    return ask


@pytest.mark.parametrize("option", ["--target", "--patient-id", "--split", "--positive", "--schema"])
@pytest.mark.parametrize("command", ["condense", "compare"])
def test_a_known_dataset_brings_its_own(command, option, asking):
    assert f"asked for {option} with a known dataset, which brings its own" in asking(command, option, "age")


@pytest.mark.parametrize("command", ["condense", "compare"])
def test_columns_to_drop_must_be_there(command, asking):
    assert "'ages' is not a column of the table; did you mean 'age'?" in asking(command, "--drop", "ages")


def test_other_patients_of_a_known_dataset_bring_their_own(asking):
    assert "asked for --patient-id with a known dataset" in asking("evaluate", "--patient-id", "age")


@pytest.mark.parametrize("command", ["condense", "compare"])
def test_a_file_and_a_known_dataset_are_one_too_many(command, asking):
    assert "both a FILE and the cohort 'yaib'" in asking(command, "table.csv")


@pytest.mark.parametrize("command", ["condense", "compare"])
@pytest.mark.parametrize("words", [("--path", "data"), ("--read", "hours=4"), ("table.csv", "--read", "hours=4")])
def test_options_of_readers_need_a_known_dataset(command, words, tell, tmp_path):
    code, _, said = tell(command, *words, "--out", tmp_path / "run")
    assert code == 2
    assert "without --cohort; add --cohort NAME" in said


def test_the_embedded_cohort_brings_its_own_too(tell, tmp_path):
    code, _, said = tell("compare", "--out", tmp_path / "run", "--target", "age")
    assert code == 2
    assert "asked for --target with a known dataset" in said
    code, _, said = tell("compare", "--out", tmp_path / "run", "--drop", "ages")
    assert code == 2
    assert "did you mean 'age_years'?" in said
