"""`aliquot check` on the files that hospitals have, and what `aliquot condense` says of them first."""

import json

import duckdb
import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Schema

ROWS = 240
SECRET = "Zebrafish"  # of one patient; must never be printed


@pytest.fixture(scope="module")
def export():
    """A table as a German laboratory system exports it."""
    rng = np.random.default_rng(0)
    troponin = [f"{value:.2f}".replace(".", ",") for value in rng.lognormal(0, 1, ROWS)]
    return pd.DataFrame(
        {
            "Fallnummer": 10_000_000 + rng.permutation(ROWS),
            "Alter": rng.integers(20, 95, ROWS),
            "Temperatur": rng.normal(37, 1, ROWS).round(1),
            "Troponin": np.where(rng.random(ROWS) < 0.3, "<0,2", troponin),
            "Station": [SECRET, *rng.choice(["Chirurgie", "Übergang"], ROWS - 1)],
            "Diagnose": rng.choice(["250", "V45", "E888"], ROWS),
            "Kreatinin": np.where(rng.random(ROWS) < 0.2, -999, rng.integers(40, 200, ROWS)),
            "Dosis": rng.choice(["5 mg", "2 g", "10 mg"], ROWS),
            "Aufnahme": pd.date_range("2024-01-01", periods=ROWS).strftime("%d.%m.%Y"),
            "Freitext": [f"{SECRET} fühlt sich {number} mal besser" for number in range(ROWS)],
            "verstorben": np.resize([0, 1, 0], ROWS),
        }
    )


@pytest.fixture(scope="module")
def folder(export, tmp_path_factory):
    """The table as text, as a workbook, and in a database."""
    folder = tmp_path_factory.mktemp("intake")
    export.to_csv(folder / "export.csv", sep=";", decimal=",", index=False, encoding="cp1252")
    with pd.ExcelWriter(folder / "export.xlsx") as book:
        export.to_excel(book, sheet_name="Daten", index=False, startrow=2)
        pd.DataFrame({"Hinweise": ["nur intern"]}).to_excel(book, sheet_name="Info", index=False)
    export.to_csv(folder / "headerless.csv", index=False, header=False)
    with duckdb.connect(str(folder / "stays.duckdb")) as connection:
        connection.execute("CREATE TABLE stays AS SELECT * FROM export")
    return folder


def sources(folder):
    return {
        "text": [folder / "export.csv"],
        "workbook": [folder / "export.xlsx"],
        "database": ["--sql", "SELECT * FROM stays", "--database", folder / "stays.duckdb"],
    }


@pytest.mark.parametrize("name", ["text", "workbook", "database"])
def test_every_format_is_the_same_table(name, folder, aliquot):
    code, out, err = aliquot("check", *sources(folder)[name], "--target", "verstorben", "--json")
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert said["found"]["format"] == name
    assert (said["found"]["rows"], said["found"]["columns"]) == (ROWS, 11)
    kinds = {one["name"]: (one["kind"], one["verdict"]) for one in said["columns"]}
    assert kinds == {
        "Fallnummer": ("identifier", "left out"),
        "Alter": ("integer", "feature"),
        "Temperatur": ("numeric", "feature"),
        "Troponin": ("numeric", "feature"),
        "Station": ("categorical", "feature"),
        "Diagnose": ("code", "feature"),
        "Kreatinin": ("integer", kinds["Kreatinin"][1]),
        "Dosis": ("categorical", "decide"),
        "Aufnahme": ("date", "left out"),
        "Freitext": ("text", "left out"),
    }
    assert SECRET not in out


def test_what_is_printed_fits_the_terminal_and_tells_of_no_patient(folder, aliquot, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = aliquot("check", folder / "export.csv", "--target", "verstorben")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert SECRET not in out
    assert "Windows-1252, separated by semicolons, decimal comma, names in line 1" in " ".join(out.split())
    assert "units" in out
    assert "Chirurgie" in out


def test_the_schema_can_be_corrected_and_comes_back(folder, aliquot, tmp_path):
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    assert aliquot("check", folder / "export.csv", "--schema-out", first)[0] == 0
    text = first.read_text("utf-8")
    assert SECRET not in text
    first.write_text(
        text.replace('[columns.Alter]\nkind = "integer"', '[columns.Alter]\nkind = "categorical"'), "utf-8"
    )
    code, _, err = aliquot("check", folder / "export.csv", "--schema", first, "--schema-out", second)
    assert (code, err) == (0, "")
    assert Schema.from_toml(second)["Alter"].kind == "categorical"
    assert len(Schema.from_toml(second)) == 11


def test_what_condense_would_refuse_is_said(folder, tell):
    code, out, _ = tell("check", folder / "export.csv", "--target", "Fallnummer")
    assert code == 0
    assert "aliquot condense would stop: the target 'Fallnummer'" in out


def test_series_have_channels_beside_their_columns(files, tell):
    code, out, _ = tell("check", files / "array.npz", "--target", "y")
    assert code == 0
    assert "read as NumPy arrays; 90 rows × 4 columns" in out
    assert "2 channels over time: hr, ph" in out


def test_no_cell_of_a_file_without_names_is_printed(folder, aliquot, export):
    for command in (["check"], ["condense", "--target", "verstorben", "--out", folder / "run"]):
        code, out, err = aliquot(*command, folder / "headerless.csv")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "looks like data" in err
        assert SECRET not in err
        assert str(export["Fallnummer"][0]) not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a FILE"),
        (["--sql", "SELECT 1"], "pass both"),
        (["x.csv", "--sql", "SELECT 1", "--database", "x.duckdb"], "leave out one of them"),
        (["--sql", "DROP TABLE stays", "--database", "x.duckdb"], "not one SELECT"),
        (["--sql", "SELECT 1", "--database", f"postgresql://ana:{SECRET}@host/icu"], "ALIQUOT_DATABASE_PASSWORD"),
    ],
)
def test_what_makes_no_sense_ends_in_one_sentence(words, said, aliquot):
    code, out, err = aliquot("check", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert SECRET not in err


def test_condense_says_first_what_it_read(folder, aliquot, tmp_path, monkeypatch):
    """A run from a database, stopped by a mistake of the request that only the patients show."""
    monkeypatch.setenv("ALIQUOT_DATABASE_PASSWORD", SECRET)
    words = ["--target", "verstorben", "--out", tmp_path / "run", "--rows-per-class", "200"]
    code, out, err = aliquot("condense", *sources(folder)["database"], *words)
    said = " ".join(err.split())
    assert (code, out) == (2, "")
    assert f"read as database; {ROWS} rows × 11 columns" in said
    assert "7 features" in said
    assert "look at 'Dosis': numbers with units" in said
    assert "left out 'Freitext'" in said
    assert SECRET not in said
    assert not (tmp_path / "run").exists()
