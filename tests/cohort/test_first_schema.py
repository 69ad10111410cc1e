import re

import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Cohort, Schema, infer_schema, schema_file


@pytest.fixture
def read_back(tmp_path):
    def read(text: str) -> Schema:
        path = tmp_path / "schema.toml"
        path.write_text(text, encoding="utf-8")
        return Schema.from_toml(path)

    return read


@pytest.fixture
def dirty(frame, sentinel) -> pd.DataFrame:
    """A table with a column of each sort that cannot be used."""
    n = len(frame)
    return frame.assign(
        mixed=["1.5"] + [sentinel] * (n - 1),
        infinite=[np.inf] + [1.5] * (n - 1),
        empty=np.nan,
        same=sentinel,
        admitted=pd.date_range("2024-01-01", periods=n),
        story=[f"{sentinel} {row}" for row in range(n)],
        nhsnumber=np.arange(n) + 4_000_000_000,
    )


def test_a_schema_file_can_be_read_back(frame, read_back):
    assert read_back(schema_file(frame)) == infer_schema(frame)


def test_condense_takes_the_schema_as_it_was_written(dirty, frame, read_back):
    cohort = Cohort.from_frame(dirty, target="died", schema=read_back(schema_file(dirty)))
    assert cohort.schema.names == tuple(frame.columns[:-1])
    assert {name for note in cohort.notes for name in re.findall("'(.*?)'", note)} == {*dirty} - {*frame}


def test_each_column_has_a_comment_without_cells_of_few_patients(dirty, sentinel):
    text = schema_file(dirty)
    assert sentinel not in text
    lines = text.splitlines()
    said = {line: lines[place - 1] for place, line in enumerate(lines) if line.startswith("[columns.")}
    assert len(said) == len(dirty.columns)
    assert said["[columns.mixed]"].startswith("# decide; numbers and text mixed")
    assert said["[columns.infinite]"] == "# decide; 'infinite' has 1 infinite cell; none missing"
    assert said["[columns.ward]"] == "# feature; none missing; icu, medical, surgical"
    assert said["[columns.lactate]"].startswith("# feature; 20 % missing; ")
