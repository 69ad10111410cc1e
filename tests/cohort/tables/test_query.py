"""Databases: one SELECT, read-only; no password in what is kept or said."""

import sqlite3
from contextlib import closing

import duckdb
import pandas as pd
import pytest
import sqlalchemy

from aliquot.cohort import Query, read_patients
from aliquot.cohort.tables import query as queries
from aliquot.errors import FileError, SettingsError

SELECT = "SELECT age, ward, seen FROM stays WHERE age > 20"


@pytest.fixture(params=["duckdb", "sqlite"])
def database(request, tmp_path, sentinel):
    """A database of 40 stays, as it is named on the command line."""
    frame = pd.DataFrame({"age": range(20, 60), "ward": ["icu", sentinel] * 20, "seen": ["2024-01-31"] * 40})
    path = tmp_path / f"stays.{request.param}"
    if request.param == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE stays AS SELECT age, ward, CAST(seen AS DATE) AS seen FROM frame")
        return str(path)
    with closing(sqlite3.connect(path)) as connection:
        frame.to_sql("stays", connection, index=False)
        connection.commit()
    return f"sqlite:///{path}"


def ask(sql, database):
    return read_patients(Query(sql, database))


def test_the_answer_is_a_table(database):
    stays = ask(SELECT, database)
    assert stays.frame.columns.tolist() == ["age", "ward", "seen"]
    assert sorted(stays.frame["age"]) == list(range(21, 60))
    assert (stays.found.format, stays.found.rows) == ("database", 39)


def test_rows_come_in_one_order_whatever_the_database_does(database):
    up, down = (ask(f"{SELECT} ORDER BY age {way};", database).frame for way in ("ASC", "DESC"))
    pd.testing.assert_frame_equal(up, down)


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE stays",
        "SELECT 1 AS a; DROP TABLE stays",
        "WITH gone AS (DELETE FROM stays RETURNING age) SELECT * FROM gone",
        "SELECT * INTO copied FROM stays",
        "COPY stays TO 'SECRET.csv'",
        "PRAGMA query_only = OFF",
        "ATTACH 'SECRET.db' AS other",
        "/* SELECT */ UPDATE stays SET age = 0",
        "EXPLAIN SELECT * FROM stays",
        "",
    ],
)
def test_nothing_but_one_select_is_run(sql, database, raises):
    with raises(SettingsError, "not one SELECT"):
        ask(sql.replace("SECRET", "Zq7_secret"), database)
    assert len(ask(SELECT, database).frame) == 39


def test_words_in_texts_names_and_comments_are_no_commands(database):
    sql = "WITH a AS (SELECT age AS \"update\" FROM stays WHERE ward <> 'drop; it') -- delete\nSELECT * FROM a"
    assert ask(sql, database).frame.columns.tolist() == ["update"]


def test_what_goes_wrong_quotes_neither_statement_nor_cell(database, raises, sentinel):
    for sql in (f"SELECT {sentinel} FROM nowhere", f"SELECT CAST('{sentinel}' AS INTEGER) + no FROM stays"):
        with raises(FileError, "did not answer", "ALIQUOT_DATABASE_PASSWORD"):
            ask(sql, database)


def test_a_database_that_is_not_there(tmp_path, raises):
    for place in (str(tmp_path / "no.duckdb"), f"sqlite:///{tmp_path / 'no.db'}"):
        with raises(FileError, "does not exist"):
            ask(SELECT, place)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ana:Zq7_secret@db.local/icu",
        "postgresql://ana@db.local/icu",
        "postgresql://ana:Zq7/secret@db.local/icu",
        "postgresql://db.local/icu?password=Zq7_secret",
        "postgresql://db.local/icu?user=Zq7_secret",
        "mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BUID%3Dana%3BPWD%3DZq7_secret",
        "snowflake://db.local/icu?token=Zq7_secret",
    ],
)
def test_an_address_with_a_user_or_password_is_refused(address, raises):
    with raises(SettingsError, "ALIQUOT_DATABASE_USER", "ALIQUOT_DATABASE_PASSWORD"):
        Query(SELECT, address)


def test_user_and_password_come_from_the_environment(monkeypatch):
    monkeypatch.setenv(queries.USER, "ana")
    monkeypatch.setenv(queries.PASSWORD, "p@ss/word")
    query = Query(SELECT, "postgresql+psycopg2://db.local:5432/icu")
    address = queries._with_user(sqlalchemy.make_url(query.database))
    assert (address.username, address.password, address.host) == ("ana", "p@ss/word", "db.local")
    assert "ana" not in repr(query)


def test_files_are_kept_by_their_whole_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("stays.duckdb", "duckdb:///stays.duckdb", f"duckdb:///{tmp_path}/stays.duckdb"):
        query = Query(SELECT, place)
        assert query.file == tmp_path / "stays.duckdb"
        assert Query(query.sql, query.database) == query
    assert Query(SELECT, "sqlite:///a/b.db").file == tmp_path / "a" / "b.db"


def test_a_missing_package_is_named_with_what_to_install(database, raises, monkeypatch):
    def absent(asked):
        raise ImportError(asked)

    monkeypatch.setattr(queries, "import_module", absent)
    with raises(FileError, 'pip install "aliquot[sql]"'):
        ask(SELECT, database)
