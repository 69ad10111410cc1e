"""The files of docs/intake.md, and what the terminal says to them.

``python scripts/intake.py`` makes the files in a folder of its own, runs every ``$ aliquot …`` line of the page's
``console`` blocks there, and writes what was printed below it. Where a path would be that of this machine, only the
name of the file is left.
"""

import io
import os
import re
import shlex
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from aliquot.cli import main as aliquot

PAGE = Path(__file__).parent.parent / "docs" / "intake.md"
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PATIENTS = 400


def make_files(folder: Path) -> None:
    """Write made-up patients as hospitals export them."""
    rng = np.random.default_rng(18)
    died = rng.random(PATIENTS) < 0.3
    german = pd.DataFrame(
        {
            "Fallnummer": 30_000_000 + rng.permutation(PATIENTS),
            "Alter": rng.integers(20, 95, PATIENTS),
            "Temperatur": rng.normal(37, 0.8, PATIENTS).round(1),
            "Leukozyten": rng.integers(3, 30, PATIENTS) * 500,
            "Station": rng.choice(["Chirurgie", "Innere Medizin", "Überwachung"], PATIENTS),
            "verstorben": np.where(died, "ja", "nein"),
        }
    )
    german["Leukozyten"] = [f"{count:,}".replace(",", ".") for count in german["Leukozyten"]]
    german.to_csv(folder / "export.csv", sep=";", decimal=",", index=False, encoding="cp1252")
    stays = pd.DataFrame(
        {
            "account": rng.permutation(PATIENTS) + 700_000,
            "age": rng.integers(20, 95, PATIENTS),
            "admitted": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, PATIENTS), "D"),
            "diag_1": rng.choice(["250", "401", "V45", "E888", "428"], PATIENTS),
            "creatinine": np.where(rng.random(PATIENTS) < 0.15, -999, rng.integers(40, 300, PATIENTS)),
            "troponin": np.where(rng.random(PATIENTS) < 0.4, "<0.2", rng.gamma(2, 1, PATIENTS).round(1).astype(str)),
            "lactate": np.where(rng.random(PATIENTS) < 0.05, "lost", rng.gamma(2, 1, PATIENTS).round(1).astype(str)),
            "dose": rng.choice(["5 mg", "10 mg", "2 g"], PATIENTS),
            "note": [f"seen by Dr {name} on the ward" for name in rng.permutation(PATIENTS)],
            "died": died.astype(int),
        }
    )
    with pd.ExcelWriter(folder / "stays.xlsx") as book:
        stays.to_excel(book, sheet_name="stays", index=False, startrow=3)
        book.sheets["stays"]["A1"] = "Medical admissions, made up"
        pd.DataFrame({"about": ["made up", "for a page"]}).to_excel(book, sheet_name="about", index=False)
    stays.to_csv(folder / "headerless.csv", index=False, header=False)
    stays.to_csv(folder / "stays.csv", index=False)
    with duckdb.connect(str(folder / "ward.duckdb")) as connection:
        connection.execute("CREATE TABLE stays AS SELECT age, creatinine, died FROM stays")


def said(words: list[str], folder: Path) -> str:
    """What the command prints in the folder, on standard output and error, without the folder's name."""
    printed, argv = io.StringIO(), sys.argv
    sys.argv = ["aliquot", *words]
    try:
        with chdir(folder), redirect_stdout(printed), redirect_stderr(printed):
            aliquot()
    except SystemExit:
        pass
    finally:
        sys.argv = argv
    lines = printed.getvalue().replace(f"{folder.resolve()}/", "").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def told(page: str, folder: Path) -> str:
    """The page with what the terminal says below each command."""

    def block(found: re.Match[str]) -> str:
        commands = [line for line in found[1].splitlines() if line.startswith("$ ")]
        answers = "\n".join(f"{line}\n{said(shlex.split(line)[2:], folder)}" for line in commands)
        return f"```console\n{answers}```"

    return BLOCK.sub(block, page)


def main() -> None:
    """Write the page again."""
    os.environ["COLUMNS"] = "80"
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder))
        PAGE.write_text(told(PAGE.read_text("utf-8"), Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
