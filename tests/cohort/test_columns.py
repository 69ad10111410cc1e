"""What the columns of a table mean: given as a value, by name, or both."""

import pandas as pd
import pytest

from aliquot.cohort import Cohort, Column, Columns, Records, Schema
from aliquot.errors import SchemaError, SettingsError, TargetError


def test_a_value_and_names_give_the_same_cohort(frame):
    one = Cohort.from_frame(frame, Columns(target="died", drop=["crp"], licence="ours"))
    two = Cohort.from_frame(frame, Columns(target="age", licence="ours"), target="died", drop={"crp"})
    pd.testing.assert_frame_equal(one.frame, two.frame)
    assert one.target == two.target == "died"
    assert one.licence == two.licence == "ours"


def test_columns_can_be_a_key():
    schema = Schema((Column(name="age", kind="integer"),))
    assert len({Columns(drop=["age"]), Columns(drop=("age",)), Columns(schema=schema)}) == 2


def test_an_unknown_name_is_met_with_the_nearest(frame, raises):
    with raises(SettingsError, "did you mean 'patient_id'?", "known: target"):
        Cohort.from_frame(frame, target="died", pateint_id="age")


def test_the_outcome_is_needed(frame, raises):
    with raises(TargetError, "not told its outcome", "target=…"):
        Cohort.from_frame(frame)


def test_one_column_has_one_meaning(frame, raises):
    with raises(SchemaError, "two of target, patient identifier and split"):
        Cohort.from_frame(frame, target="died", patient_id="died")


def test_a_schema_is_read_from_its_file(frame, tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text('[columns.age]\nkind = "ignore"\n')
    assert "age" not in Cohort.from_frame(frame, target="died", schema=path).frame
    assert "age" not in Cohort.from_frame(frame, target="died", schema=str(path)).frame


@pytest.mark.parametrize("named", [{"target": "age"}, {"patient_id": "age"}, {"schema": Schema(())}])
def test_records_bring_their_own(named, frame, raises):
    records = Records(frame["died"].to_numpy("int8"), frame.index.astype(str).to_numpy(), frame.drop(columns="died"))
    assert Cohort.from_records(records, drop=["age"]).frame.columns[0] == "crp"
    with raises(SettingsError, "bring their own"):
        Cohort.from_records(records, **named)
