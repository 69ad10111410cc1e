import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import infer_schema, profile

N = 60


def one(cells, patients=None):
    frame = pd.DataFrame({"x": cells})
    return profile(frame, infer_schema(frame), patients)[0]


def test_ranges_have_ten_patients_at_either_end():
    assert one(np.arange(N)).content == "10 to 50"
    assert one(np.arange(N), np.arange(N) // 3).content == "28 to 32"
    assert one(np.arange(N), np.arange(N) // 6).content == ""
    assert one([3.5] * 50 + [7.5] * 9 + [2.0]).content == "3.5"


def test_levels_have_ten_patients():
    found = one(["icu"] * 20 + ["ward"] * 30 + ["hermit"] * 9 + ["other"])
    assert found.content == "ward, icu and 2 rarer"
    patients = np.r_[np.zeros(20, int), np.arange(1, 41)]
    assert one(["icu"] * 20 + ["ward"] * 40, patients).content == "ward and 1 rarer"
    many = one(np.repeat([f"level {place}" for place in range(8)], 10))
    assert many.content == "level 0, level 1, level 2, level 3, level 4, level 5 and 2 more"


@pytest.mark.parametrize(
    ("gaps", "share", "said"),
    [
        (0, 0.0, "none"),
        (1, 0.1, "<10 rows"),
        (9, 0.1, "<10 rows"),
        (10, 0.1, "10 %"),
        (33, 0.33, "33 %"),
        (95, 0.9, "all but <10 rows"),
        (100, 1.0, "100 %"),
    ],
)
def test_gaps_do_not_tell_counts_under_ten(gaps, share, said):
    found = one([None] * gaps + list(np.arange(100.0 - gaps)))
    assert (found.missing, found.gaps) == (share, said)


def test_small_shares_of_many_rows():
    found = one([np.nan] * 12 + list(np.arange(9988.0)))
    assert (found.missing, found.gaps) == (0.0, "<1 %")


VERDICTS = {
    "feature": (np.arange(N), "feature", ""),
    "dates": (pd.date_range("2024-01-01", periods=N), "left out", "dates"),
    "identifiers": (np.arange(N) + 10_000, "left out", "identifiers, not features"),
    "text": ([f"note {row}" for row in range(N)], "left out", "free text"),
    "constant": (["icu"] * N, "left out", "the same value in every row"),
    "empty": ([None] * N, "left out", "no value in any row"),
    "infinite": ([np.inf, *np.arange(N - 1.0)], "decide", "'x' has 1 infinite cell"),
    "mixed": (["1.5", *["low"] * (N - 1)], "decide", "numbers and text mixed"),
}


@pytest.mark.parametrize(("cells", "verdict", "why"), VERDICTS.values(), ids=VERDICTS.keys())
def test_verdicts(cells, verdict, why):
    found = one(cells)
    assert found.verdict == verdict
    assert found.why.startswith(why)
    assert verdict == "feature" or found.content == ""
