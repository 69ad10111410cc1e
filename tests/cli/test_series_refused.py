"""Series that cannot be condensed: exit code 2, one sentence, no cell value, nothing left behind."""

import pytest

from aliquot.cohort import read_table

SECRET = "Zebrafish"
LONG = ["--patient-id", "id", "--time", "hour", "--variable", "name", "--value", "value"]
WIDE = ["--stay-id", "id", "--time", "hour"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--variable", "name"], "asked for --variable without --time"),
        (["--hours", "6"], "asked for --hours without --time"),
        (["--outcomes", "stays.csv", "--stay-id", "id"], "asked for --stay-id, --outcomes without --time"),
        (["--time", "hour"], "add --stay-id COLUMN or --patient-id COLUMN"),
        (["--time", "hour", "--stay-id", "id", "--variable", "name"], "asked for --variable without --value"),
        (["--time", "hour", "--stay-id", "id", "--value", "value"], "asked for --value without --variable"),
        (["--time", "hour", "--stay-id", "id", "--variable", "hour", "--value", "value"], "two of stay, time"),
        (["--time", "hour", "--stay-id", "id", "--hours", "5", "--step-hours", "2"], "5 hours in steps of 2"),
        (["--time", "hour", "--stay-id", "id", "--hours", "-1"], "asked for -1 hours"),
    ],
)
@pytest.mark.parametrize("command", ["condense", "compare"])
def test_options_that_make_no_sense_together(command, words, hint, files, tell, tmp_path):
    code, said, error = tell(*(command, files / "long.csv", "--target", "died", "--out", tmp_path / "run", *words))
    assert (code, said) == (2, "")
    assert error.count("\n") == 1
    assert hint in error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["long.csv", *LONG, "--target", "died"], "the target 'died' is not a column"),
        (["long.csv", *LONG, "--target", "died", "--outcomes", "half.csv"], "45 of the 90 stays with measurements"),
        (["turn.csv", *WIDE, "--target", "died"], "'died' must be the same throughout a stay"),
        (["array.npz", *WIDE, "--target", "y"], "has series on a grid already"),
        (["array.npz", "--target", "z"], "the target 'z' is not a column"),
    ],
)
def test_malformed_series_end_with_one_sentence(words, hint, files, tell, tmp_path):
    wide = read_table(files / "wide.csv")
    wide.assign(died=wide.index % 2).to_csv(tmp_path / "turn.csv", index=False)
    read_table(files / "stays.csv")[::2].to_csv(tmp_path / "half.csv", index=False)
    words = [next((p for p in (files / w, tmp_path / w) if "." in w and p.exists()), w) for w in words]
    code, said, error = tell("condense", *words, "--out", tmp_path / "run")
    assert (code, said) == (2, "")
    assert error.count("\n") == 1
    assert hint in error
    assert SECRET not in error
    assert not (tmp_path / "run").exists()
