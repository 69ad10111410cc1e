"""What is said of a table before anything is done with it, and the schema that is always accepted."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aliquot.cohort import Cohort, Columns, Found, Schema, Stays, take_in
from aliquot.errors import AliquotError

ROWS = 60
NOBODY = "the table has no column left as a feature"  # the one reason that is not a column's

CELLS = {
    "numbers": st.floats(-1e9, 1e9) | st.sampled_from([-999.0, np.nan]),
    "odd numbers": st.floats(),
    "whole": st.integers(-(2**40), 2**40),
    "few": st.integers(0, 3),
    "truths": st.booleans() | st.none(),
    "dates": st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
    "written dates": st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)).map(str),
    "words": st.sampled_from(["icu", "hdu", "ed", None]),
    "free text": st.text(max_size=30),
    "mixed": st.sampled_from(["1.5", "<0,2", ">90", "36,5", "haemolysed", "7", None, "5 mg"]),
    "codes": st.sampled_from(["250", "V45", "E888", "401.9", "I21.4", None]),
    "nothing": st.none(),
    "objects": st.one_of(st.integers(0, 5), st.text(max_size=3), st.dates(), st.none()),
}


@st.composite
def tables(draw):
    """Tables with columns of any kind, an outcome, and names that TOML must quote."""
    names = draw(st.lists(st.text(min_size=1, max_size=8).filter(str.strip), min_size=1, max_size=5, unique=True))
    columns = {
        name: draw(st.lists(CELLS[draw(st.sampled_from(sorted(CELLS)))], min_size=ROWS, max_size=ROWS))
        for name in names
        if name != "died"
    }
    return pd.DataFrame({**columns, "died": [0, 1] * (ROWS // 2)})


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(frame=tables())
def test_the_schema_is_accepted_as_it_stands(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("schema") / "schema.toml"
    columns = Columns(target="died")
    path.write_text(take_in(Stays(frame), columns).schema, encoding="utf-8")
    assert set(Schema.from_toml(path).names) == set(frame.columns)
    try:
        reason = f"{Cohort.from_frame(frame, columns, schema=path).n} rows are taken"
    except AliquotError as error:
        reason = str(error)
    assert reason == f"{ROWS} rows are taken" or NOBODY in reason


def table(**columns):
    return pd.DataFrame({**{"died": [0, 1] * 60}, **columns})


def verdicts(frame, **named):
    return {one.name: one for one in take_in(Stays(frame), Columns(target="died", **named)).columns}


def test_what_the_columns_are_for_is_left_out():
    frame = table(mrn=np.arange(120), age=np.arange(120) % 50 + 20, part=["train"] * 120, note=["x"] * 120)
    found = verdicts(frame, patient_id="mrn", split="part", drop=["note"])
    assert list(found) == ["age"]


def test_levels_need_ten_patients_where_patients_are_named():
    who = np.append(np.zeros(60, dtype=int), np.arange(1, 61))
    frame = table(mrn=who, ward=["lonely"] * 60 + ["icu"] * 30 + ["hdu"] * 30)
    alone = take_in(Stays(frame), Columns(target="died", patient_id="mrn"))
    assert "lonely" not in repr(alone.columns)
    assert "lonely" not in alone.schema
    assert "icu" in alone.columns[0].content
    assert "lonely" in take_in(Stays(frame), Columns(target="died")).columns[1].content


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["5 mg", "2 g", "7 mg", "1 g"] * 30, "units"),
        ([f"{number / 10}mg/dL" for number in range(60)] * 2, "units"),
        ([f"{number / 10}" for number in range(114)] + ["haemolysed"] * 6, "numbers"),
    ],
)
def test_numbers_that_are_no_numbers_are_to_be_decided(cells, words):
    found = verdicts(table(lab=cells, age=np.arange(120) % 50))["lab"]
    assert found.verdict == "decide"
    assert words in found.why


@pytest.mark.parametrize("cells", [["250", "V45", "E888", "401"] * 30, ["3a", "3b", "2"] * 40, ["icu", "hdu"] * 60])
def test_codes_and_words_are_features(cells):
    assert verdicts(table(code=cells))["code"].verdict == "feature"


def test_the_format_is_passed_on():
    found = Found(format="text", rows=120, columns=2)
    assert take_in(Stays(table(age=np.arange(120) % 50), found=found), Columns()).found == found
    assert Found(format="text", rows=7, columns=2).sentence == "text; <10 rows × 2 columns"


def test_an_unknown_column_is_met_with_the_nearest(raises):
    with raises(AliquotError, "did you mean 'died'?"):
        take_in(Stays(table(age=np.arange(120))), Columns(target="dyed"))
