import numpy as np
import pandas as pd
import pytest

from aliquot.cohort.code_lists import chapter_of, groups_of_codes, key_of, scheme_of
from aliquot.cohort.fitting_lists import fit_list
from aliquot.cohort.schema import Column


def fitted(levels, counts, fewest=10, most=30, patients=None):
    cells = pd.Series(np.repeat(np.array(levels, dtype=object), counts))
    return fit_list(Column(name="dx", kind="code"), cells, patients, fewest=fewest, most=most)


SCHEMES = {
    "ICD-9": (["250", "428", "V45", "E888", "401.9", "8"], "icd9"),
    "ICD-9 without dots": (["25000", "4280", "V4581", "E8889"], "icd9"),
    "ICD-10": (["I21.4", "J18.9", "K70", "i48", "Z99.2"], "icd10"),
    "ICD-10-CM": (["S52.521A", "E1165", "T84.50XA"], "icd10"),
    "ATC": (["B01AC06", "C07AB02", "N02BE01"], "prefix"),
    "wards": (["W1", "W2", "ICU"], "prefix"),
    "numbers alone": (["250", "428", "401"], "prefix"),
}


@pytest.mark.parametrize(("levels", "scheme"), SCHEMES.values(), ids=SCHEMES.keys())
def test_classifications_are_known_by_their_codes(levels, scheme):
    assert scheme_of(levels, np.ones(len(levels))) == scheme


@pytest.mark.parametrize(
    ("code", "key"),
    [("I21.4", "I214"), (" i214 ", "I214"), ("I21.-", "I21"), ("8", "008"), ("8.45", "00845"), ("0389", "0389")],
)
def test_keys(code, key):
    assert key_of(code, padded=True) == key


@pytest.mark.parametrize(
    ("scheme", "code", "chapter"),
    [
        ("icd9", "250.02", "240-279"),
        ("icd9", "8", "001-139"),
        ("icd9", "0389", "001-139"),
        ("icd9", "V45", "V01-V91"),
        ("icd9", "E888.9", "E00-E99"),
        ("icd10", "I21.4", "I00-I99"),
        ("icd10", "D50.0", "D50-D89"),
        ("icd10", "D48", "C00-D49"),
        ("icd10", "H60", "H60-H95"),
        ("icd10", "C4A.0", "C00-D49"),
    ],
)
def test_chapters(scheme, code, chapter):
    padded = scheme == "icd9"
    groups = groups_of_codes([key_of(code, padded=padded)], np.zeros(10, int), None, scheme=scheme, fewest=10, most=0)
    assert [name for name, _, _ in groups.chapters] == [chapter]
    assert chapter_of(key_of(code, padded=padded), groups.chapters) == chapter


def test_a_rare_code_counts_as_its_longest_prefix_that_ten_patients_share():
    code = fitted(["I21.4", "I21.0", "I21.1", "I24.0", "I25.9", "A01", "Z99"], [20, 6, 6, 7, 5, 9, 3])
    assert code.named == ("I21.4", "I2-", "I21.-")
    bins = [code.bins[place] for place in code.places(["I21.4", "I21.9", "I21", "I24.0", "I21.-", "I20", "A01", "x"])]
    assert bins == ["I21.4", "I21.-", "I21.-", "I2-", "I21.-", "I2-", "(rare)", "(rare)"]


def test_then_as_its_chapter():
    code = fitted(["250", "V45", "260", "276", "410"], [20, 10, 6, 7, 5])
    assert code.named == ("250", "V45", "240-279")
    assert [code.bins[place] for place in code.places(["276.1", "240-279", "411"])] == ["240-279", "240-279", "(rare)"]


def test_the_most_frequent_stay_and_prefixes_are_no_more():
    levels = [f"{letter}{number:02}" for letter in "ABCDEFGHIJ" for number in range(60)]
    counts = [10 + place // 60 + (place % 7 == 6) for place in range(600)]
    code = fitted(levels, counts, most=30)
    assert len(code.levels) == 30
    assert set(code.levels) <= {level for level, count in zip(levels, counts, strict=True) if count > 16}
    assert 10 < len(code.parents) <= 30


def test_patients_are_counted_not_rows():
    patients = np.r_[np.arange(20), [0] * 20, np.arange(40) // 4]
    code = fitted(["W1", "W2", "X1", "X2"], [20, 20, 20, 20], patients=patients)
    assert code.named == ("W1", "X-")


def test_codes_that_a_file_may_exchange_are_not_kept():
    code = fitted(["0389", "389", "V45"], [20, 20, 20])
    assert code.named == ("V45", "038.-", "389.-")
    assert [code.bins[place] for place in code.places(["0389", "389"])] == ["038.-", "389.-"]


def test_reading_does_not_depend_on_the_order_of_rows():
    levels, counts = ["I21.4", "I21.0", "I48", "J18", "J19"], [10, 10, 10, 5, 5]
    assert fitted(levels, counts) == fitted(levels[::-1], counts[::-1])
