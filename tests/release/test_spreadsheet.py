"""rows.csv: nothing in it runs as a formula, and nothing but text is changed."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aliquot.release.bundle import read_release
from aliquot.release.spreadsheet import csv, guarded

SIGNS = "=+-@＝＋－＠\t\r\n"
WORDS = st.text(st.sampled_from(SIGNS + "a1 ;,'\"\u200b\ufeff"), max_size=8) | st.text(max_size=8)


@given(WORDS)
def test_no_cell_begins_with_a_formula(word):
    for cell in guarded(word).replace("\t", ";").replace("\r", ";").replace("\n", ";").split(";"):
        assert cell.strip(" \u200b\ufeff")[:1] not in tuple("=+-@＝＋－＠")
    assert guarded(word)[:1] not in ("\t", "\r", "\n")


@given(WORDS)
def test_only_apostrophes_are_added_and_only_once(word):
    assert guarded(guarded(word)) == guarded(word)
    assert guarded(word).replace("'", "") == word.replace("'", "")


@given(st.text(st.characters(categories=("L", "N")), min_size=1))
def test_plain_words_stay(word):
    assert guarded(word) == word


@given(st.lists(st.floats(allow_nan=True, width=32), min_size=1, max_size=5), st.lists(st.integers(), max_size=5))
def test_numbers_stay_as_they_are(numbers, whole):
    table = pd.DataFrame({"x": pd.Series(numbers), "mixed": pd.Series(numbers, dtype=object)})
    table = table.join(pd.DataFrame({"n": pd.Series(whole, dtype=object)}))
    assert csv(table) == table.to_csv(index=False).encode()


def test_names_and_categories_are_guarded_and_gaps_stay():
    table = pd.DataFrame({"=cmd": [-1.5, 2.0], "ward": pd.Categorical(["@a", "b"]), "note": ["-x", None]})
    assert csv(table).decode().splitlines() == ["'=cmd,ward,note", "-1.5,'@a,'-x", "2.0,b,"]


@pytest.mark.parametrize("sign", ["=", "＝"])
def test_a_release_is_guarded_in_rows_csv_only(sign, two_classes, change, tmp_path):
    name = f"{sign}died"
    recipe = {**two_classes.recipe, "labels": {**two_classes.recipe["labels"], "target": name, "classes": [name, "b"]}}
    result = change(two_classes, {"data.classes": [name, "b"]}, target=name, classes=(name, "b"), recipe=recipe)
    folder = tmp_path / "release"
    result.save(folder)
    shown = pd.read_csv(io.BytesIO((folder / "rows.csv").read_bytes()))
    assert shown.columns[-1] == f"'{name}"
    assert set(shown.iloc[:, -1]) == {f"'{name}", "b"}
    assert pd.read_parquet(folder / "rows.parquet").columns[-1] == name
    release = read_release(folder)
    assert np.array_equal(release.x, result.x)
    assert np.array_equal(release.targets, result.targets)
