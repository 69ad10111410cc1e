"""Workbooks: sheets, titles, dates, and errors that name no cell."""

import datetime

import openpyxl
import pandas as pd
import pytest

from aliquot.cohort import infer_schema, read_patients, read_table
from aliquot.errors import FileError, SchemaError

ROWS = [
    ["mrn", "age", "seen", "ward", "temp", "smoker"],
    [1, 61, datetime.date(2024, 1, 31), "icu", "36,5", True],
    [2, 74.5, datetime.datetime(2024, 2, 1), "hdu", "37,1", False],
    [3, None, None, "#N/A", "38,0", True],
]


def workbook(path, **sheets):
    """A workbook with these rows; a name with a leading underscore is hidden."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name.strip("_"))
        sheet.sheet_state = "hidden" if name.startswith("_") else "visible"
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_types_are_those_of_the_cells(tmp_path):
    stays = read_patients(workbook(tmp_path / "t.xlsx", data=ROWS))
    frame, found = stays.frame, stays.found
    assert frame["mrn"].tolist() == [1, 2, 3]
    assert frame["mrn"].dtype == "int64"
    assert frame["age"].isna().tolist() == [False, False, True]
    assert frame["temp"].tolist() == [36.5, 37.1, 38.0]
    assert frame["ward"].isna().tolist() == [False, False, True]
    assert frame["smoker"].dtype == "bool"
    assert frame["seen"].dt.strftime("%d.%m.%Y").tolist()[:2] == ["31.01.2024", "01.02.2024"]
    assert infer_schema(frame)["seen"].kind == "date"
    assert (found.format, found.sheet, found.header, found.rows, found.columns) == ("workbook", "data", 1, 3, 6)


def test_titles_blank_rows_and_columns_around_the_table(tmp_path):
    rows = [["Ward 3"], [], *([None, *row] for row in ROWS[:2]), [], *([None, *row] for row in ROWS[2:])]
    stays = read_patients(workbook(tmp_path / "t.xlsx", data=rows))
    assert stays.frame.columns.tolist() == ROWS[0]
    assert (len(stays.frame), stays.found.header) == (3, 3)


def test_the_only_sheet_with_a_table_is_taken(tmp_path):
    notes = [["read this first"], ["made in May"]]
    path = workbook(tmp_path / "t.xlsx", notes=notes, data=ROWS, empty=[], _codes=ROWS)
    assert read_patients(path).found.sheet == "data"
    assert read_table(path, "codes").shape == (3, 6)  # hidden, but named


def test_several_tables_need_a_name(tmp_path, raises, sentinel):
    path = workbook(tmp_path / "t.xlsx", first=ROWS, second=[["a", "b"], [sentinel, 1], [2, 3]])
    with raises(FileError, "'first', 'second'", "sheet=…"):
        read_table(path)
    with raises(FileError, "did you mean 'second'?"):
        read_table(path, "secnd")
    with raises(FileError, "is empty"):
        read_table(workbook(tmp_path / "e.xlsx", empty=[], data=ROWS), "empty")
    with raises(FileError, "no sheet with a table"):
        read_table(workbook(tmp_path / "n.xlsx", empty=[]))


def test_a_sheet_without_names_is_refused(tmp_path, raises, sentinel):
    rows = [[61, sentinel, 0.5], [74, "b", 1.5], [58, "c", 2.5]]
    with raises(SchemaError, "looks like data"):
        read_table(workbook(tmp_path / "t.xlsx", data=rows))


def test_mixed_cells_become_texts(tmp_path):
    rows = [["tn", "x"], [0.5, 1], ["<0.2", 2], [3.0, 3]]
    assert read_table(workbook(tmp_path / "t.xlsx", data=rows))["tn"].tolist() == ["0.5", "<0.2", "3"]


def test_a_sheet_of_another_format_is_an_error(tmp_path, raises, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)
    with raises(FileError, "leave out sheet=…"):
        read_table(tmp_path / "t.csv", "data")


def test_open_document(tmp_path):
    path = tmp_path / "t.ods"
    pd.DataFrame(ROWS[1:], columns=ROWS[0]).drop(columns="smoker").to_excel(path, index=False, engine="odf")
    frame = read_table(path)
    assert frame["mrn"].tolist() == [1, 2, 3]
    assert infer_schema(frame)["seen"].kind == "date"


@pytest.mark.parametrize("ending", ["xlsx", "xls", "ods"])
def test_a_damaged_workbook(ending, tmp_path, raises, sentinel):
    path = tmp_path / f"t.{ending}"
    path.write_text(sentinel)
    with raises(FileError, path.name):
        read_table(path)
