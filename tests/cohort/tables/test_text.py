"""Text as people have it: encodings, separators, decimal marks, titles, and what is refused."""

import gzip

import pandas as pd
import pytest

from aliquot.cohort import read_patients, read_table
from aliquot.errors import FileError, SchemaError

GERMAN = "Alter;Temperatur;Station\n61;36,5;Übergang\n74;37;Chirurgie\n58;38,25;Chirurgie\n"
AS_READ = pd.DataFrame(
    {"Alter": [61, 74, 58], "Temperatur": [36.5, 37, 38.25], "Station": ["Übergang", "Chirurgie", "Chirurgie"]}
)


def read(folder, content, name="t.csv"):
    """The table of a text and what was found."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    stays = read_patients(path)
    return stays.frame, stays.found


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16"),
        ("cp1252", "Windows-1252"),
        ("latin-1", "Windows-1252"),  # these letters are the same in both
    ],
)
def test_every_encoding_gives_the_same_table(encoding, said, tmp_path):
    frame, found = read(tmp_path, GERMAN.encode(encoding))
    pd.testing.assert_frame_equal(frame, AS_READ)
    assert (found.encoding, found.separator, found.decimal, found.header) == (said, ";", ",", 1)
    assert (found.rows, found.columns) == (3, 3)


def test_what_is_no_windows_text_is_latin(tmp_path):
    frame, found = read(tmp_path, b"age,ward\n61,\xfcber\x81\n74,b\n")
    assert found.encoding == "Latin-1"
    assert frame["ward"].tolist() == ["über\x81", "b"]


def test_an_umlaut_far_behind_the_sample_is_seen(tmp_path):
    lines = "".join(f"{number},icu\n" for number in range(60_000))
    frame, found = read(tmp_path, f"age,ward\n{lines}61,Ü\n".encode("cp1252"))
    assert (len(frame), found.encoding, frame["ward"].iloc[-1]) == (60_001, "Windows-1252", "Ü")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.csv.gz"])
def test_separators_are_found_whatever_the_ending(separator, name, frame, tmp_path):
    content = frame.to_csv(index=False, sep=separator).encode()
    got, found = read(tmp_path, gzip.compress(content) if name.endswith("gz") else content, name)
    pd.testing.assert_frame_equal(got, frame, check_dtype=False)
    assert found.separator == separator


def test_other_separators_in_the_cells_do_not_mislead(tmp_path):
    frame, found = read(tmp_path, 'name,notes\n61,"a;b;c"\n74,"d;e;f"\n')
    assert (found.separator, frame.shape) == (",", (2, 2))
    frame, found = read(tmp_path, "temp;crp;ph\n36,5;1,2;7,4\n37,5;3,4;7,3\n")
    assert (found.separator, frame.shape) == (";", (2, 3))


def test_the_line_that_tells_spreadsheets_the_separator(tmp_path):
    frame, found = read(tmp_path, "sep=|\r\nage|ward\r\n61|a,b\r\n74|c,d\r\n")
    assert (found.separator, found.header, frame.columns.tolist()) == ("|", 2, ["age", "ward"])


def test_titles_and_blank_lines_above_the_names(tmp_path):
    frame, found = read(tmp_path, "Export of May;;\n\n;;\n" + GERMAN)
    pd.testing.assert_frame_equal(frame, AS_READ)
    assert found.header == 4


def test_a_single_column_has_no_separator(tmp_path):
    frame, found = read(tmp_path, "age\n61\n74\n")
    assert (frame["age"].tolist(), found.separator) == ([61, 74], None)


def test_thousands_are_read_where_the_file_shows_its_mark(tmp_path):
    frame, _ = read(tmp_path, "a;b;c;d\n1.234,5;150.000;0,5;1'200\n2,5;90.000;1,5;900\n")
    assert frame.to_numpy().tolist() == [[1234.5, 150000, 0.5, 1200], [2.5, 90000, 1.5, 900]]
    frame, _ = read(tmp_path, 'a,b\n"1,234.5",0.5\n"2,000.0",1.5\n')
    assert frame["a"].tolist() == [1234.5, 2000.0]


def test_three_decimals_with_a_point_stay_decimals(tmp_path):
    frame, _ = read(tmp_path, "ph,k\n7.412,4.1\n7.385,3.9\n")
    assert frame["ph"].tolist() == [7.412, 7.385]


def test_decimal_commas_in_a_file_of_commas(tmp_path):
    frame, found = read(tmp_path, 'temp,ward\n"36,5",a\n"37,2",b\n')
    assert (frame["temp"].tolist(), found.decimal) == ([36.5, 37.2], ",")


def test_censored_and_odd_cells_keep_their_words_but_not_their_commas(tmp_path):
    frame, _ = read(tmp_path, 'tn;ph\n<0,2;7,4\n1,5;7,3\n"haemolysed";7,2\n0,9;7,1\n')
    assert frame["tn"].tolist() == ["<0.2", "1.5", "haemolysed", "0.9"]


def test_codes_and_dates_stay_as_they_are(tmp_path):
    frame, _ = read(tmp_path, "icd;seen;temp\nV45;01.02.2024;36,5\n250;03.02.2024;37,5\nE888;04.02.2024;38,5\n")
    assert frame["icd"].tolist() == ["V45", "250", "E888"]
    assert frame["seen"].tolist() == ["01.02.2024", "03.02.2024", "04.02.2024"]


def test_ragged_lines_far_behind_the_sample(tmp_path, raises, sentinel):
    lines = "".join(f"{number},icu\n" for number in range(60_000))
    with raises(FileError, "<10 lines with more or fewer cells than its 2 column names"):
        read(tmp_path, f"age,ward\n{lines}61,{sentinel},x\n")


@pytest.mark.parametrize(
    "content",
    [
        "61,36.5,SENTINEL,0\n74,37.1,b,1\n58,38.0,c,0\n",
        "SENTINEL;36,5;0\nab;37,5;1\ncd;38,5;0\n",
        "1,2020-01-01,SENTINEL\n2,2020-01-02,b\n3,2020-01-03,c\n",
        "SENTINEL,f,yes\nicu,f,no\nSENTINEL,m,yes\n",
        "61,,SENTINEL\n74,1,b\n58,2,c\n",
    ],
)
def test_a_file_without_names_is_refused_and_nothing_of_it_is_said(content, tmp_path, raises, sentinel):
    with raises(SchemaError, "t.csv", "looks like data"):
        read(tmp_path, content.replace("SENTINEL", sentinel))


def test_a_title_above_data_without_names_is_not_taken_for_names(tmp_path, raises, sentinel):
    with raises(SchemaError, "2 columns without a name"):
        read(tmp_path, f"Ward of May,,\n61,36.5,{sentinel}\n74,37.1,b\n58,38.0,c\n")


def test_numbers_in_equal_steps_are_names(tmp_path):
    frame, _ = read(tmp_path, "0,1,2,3,died\n7.1,7.2,7.3,7.4,0\n7.0,7.2,7.1,7.3,1\n")
    assert frame.columns.tolist() == ["0", "1", "2", "3", "died"]


def test_years_beside_other_names_are_names(tmp_path):
    frame, _ = read(tmp_path, "id,age,2019,2020\n1,61,3,4\n2,74,5,7\n")
    assert frame.columns.tolist() == ["id", "age", "2019", "2020"]


def test_a_text_with_control_characters_is_none(tmp_path, raises):
    with raises(FileError, "not text"):
        read(tmp_path, b"a,b\n\x01\x02,3\n4,5\n")


def test_reading_twice_gives_the_same(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    pd.testing.assert_frame_equal(read_table(path), read_table(path))
    assert read_patients(path).found == read_patients(path).found
