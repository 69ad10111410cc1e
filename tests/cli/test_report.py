"""``aliquot condense --subgroup`` and ``aliquot report``."""

import numpy as np
import pandas as pd
import pytest

from aliquot.release.bundle import read_release

TINY = ("--budget", "smoke", "--rows-per-class", 4, "--set", "match.iterations=4", "--quiet")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(2)
    died = rng.integers(0, 2, 400)
    frame = pd.DataFrame(
        {"lactate": rng.normal(2, 1, 400) + died, "ward": rng.choice(["icu", "hdu"], 400), "died": died}
    )
    path = tmp_path_factory.mktemp("data") / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_run_tells_subgroups_apart_and_its_report_is_written_again(tell, table, tmp_path):
    out = tmp_path / "run"
    code, _, said = tell(
        *("condense", table, "--target", "died", "--out", out, "--drop", "ward", "--subgroup", "ward", *TINY)
    )
    assert (code, said) == (0, "")
    groups = read_release(out).metrics["subgroups"]["ward"]
    assert [group["name"] for group in groups] == ["hdu", "icu"]
    page = (out / "release" / "report.html").read_bytes()
    (out / "release" / "report.html").unlink()
    code, said, _ = tell("report", out)
    assert code == 0
    assert "report.html" in said
    assert (out / "release" / "report.html").read_bytes() == page


@pytest.mark.parametrize(
    ("words", "why"), [(("--subgroup", "wart"), "did you mean 'ward'"), (("--subgroup", "lactate"), "at most 20")]
)
def test_impossible_subgroups_end_with_one_sentence(tell, table, tmp_path, words, why):
    code, _, said = tell("condense", table, "--target", "died", "--out", tmp_path / "run", *words, *TINY)
    assert code == 2
    assert why in said
    assert not (tmp_path / "run").exists()


def test_without_a_release_there_is_no_report(tell, tmp_path):
    code, _, said = tell("report", tmp_path)
    assert code == 2
    assert "there is none" in said
