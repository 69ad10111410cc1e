import pandas as pd
import pytest

from aliquot.cohort import Column, Schema, infer_schema
from aliquot.cohort.schema import complete_schema
from aliquot.errors import FileError, SchemaError


@pytest.fixture
def toml(tmp_path):
    def write(text: str):
        path = tmp_path / "schema.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_toml_round_trip_keeps_everything(toml):
    schema = Schema(
        (
            Column(name="a b=é", kind="numeric", unit="mg/dl", log=True, low=0, high=10.5),
            Column(name="ward", kind="categorical", gap_values=("?", -9)),
            Column(name="pain", kind="ordinal", levels=("mild", "severe")),
            Column(name="diagnosis", kind="code", scheme="icd10"),
            Column(name="discharged", kind="date", days_from="admitted", day_first=False),
        )
    )
    assert Schema.from_toml(toml(schema.to_toml())) == schema


def test_given_columns_override_inference_one_by_one(frame):
    given = Schema((Column(name="age", kind="categorical"),))
    schema = complete_schema(frame, given, exclude=("died",))
    assert schema["age"].kind == "categorical"
    assert schema["crp"].kind == "numeric"
    assert "died" not in schema


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[columns.a]\nkind = "words"', ["'a'", "numeric, integer"]),
        ('[columns.a]\nkind = "numeric"\nunits = "mg"', ["'units'", "kind, unit, log, low, high"]),
        ('[columns.a]\nunit = "mg"', ["'a'", "no kind"]),
        ('[columns.a]\nkind = "numeric"\nlow = "x"\nlog = 1', ["low of column 'a'", "log of column 'a'"]),
        ('[columns.a]\nkind = "numeric"\nlow = nan', ["low of column 'a'"]),
        ('[columns.a]\nkind = "numeric"\nlow = 2\nhigh = 1', ["'a'", "low"]),
        ('[columns.a]\nkind = "categorical"\nlog = true', ["'a'", "numeric or integer"]),
        ('[columns.a]\nkind = "numeric"\nlevels = ["mild", "severe"]', ["'a'", "levels", "ordinal"]),
        ('[columns.a]\nkind = "ordinal"\nlevels = [1, 2]', ["levels of column 'a'", "text in quotes"]),
        ('[columns.a]\nkind = "ordinal"', ["'a'", "two or more different levels"]),
        ('[columns.a]\nkind = "ordinal"\nlevels = ["1", "1.0"]', ["'a'", "two or more different levels"]),
        ('[columns.a]\nkind = "code"\ncodes = "opcs"', ["'a'", "icd9, icd10, prefix"]),
        ('[columns.a]\nkind = "integer"\ndays_from = "b"', ["'a'", "days_from", "date"]),
        ('[columns.a]\nkind = "integer"\nmissing = -999', ["missing of column 'a'"]),
        ('[columns.a]\nkind = "integer"\nmissing = [true]', ["missing of column 'a'"]),
        ('[columns]\na = "numeric"', ["'a'"]),
        ('[column.a]\nkind = "numeric"', ["[columns.NAME]"]),
    ],
)
def test_wrong_entries(text, words, toml, raises):
    with raises(SchemaError, *words):
        Schema.from_toml(toml(text))


def test_unreadable_schema_files(toml, tmp_path, raises):
    with raises(FileError, "absent.toml"):
        Schema.from_toml(tmp_path / "absent.toml")
    with raises(FileError, "line 2"):
        Schema.from_toml(toml("[columns.a]\nkind = numeric\n"))


def test_unknown_columns(frame, raises):
    schema = Schema((Column(name="agee", kind="integer"),))
    with raises(SchemaError, "'agee'", "did you mean 'age'?"):
        complete_schema(frame, schema)
    with raises(SchemaError, "'weight'", "'agee'"):
        schema["weight"]


def test_a_column_has_one_entry(raises):
    with raises(SchemaError, "twice"):
        Schema((Column(name="a", kind="ignore"), Column(name="a", kind="integer")))


def test_inference_does_not_touch_the_frame(frame):
    before = frame.copy(deep=True)
    infer_schema(frame)
    pd.testing.assert_frame_equal(frame, before)
