"""The same stays in every layout, and a way to run the command."""

import sys

import numpy as np
import pandas as pd
import pytest

from aliquot.cli import main


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """The same 90 stays as measurements, one per line, as one column per variable, and as an array."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 90)
    values = rng.normal(80, 10, (90, 6, 2)).round(1) + 10 * died[:, None, None]
    values[rng.random(values.shape) < 0.2] = np.nan
    stays = pd.DataFrame({"id": np.arange(90) + 500, "age": rng.integers(20, 90, 90), "died": died})
    row, hour, channel = np.nonzero(np.isfinite(values))
    long = pd.DataFrame({"id": row + 500, "hour": hour, "name": np.array(["hr", "ph"])[channel]})
    long["value"] = values[row, hour, channel]
    wide = long.pivot(index=["id", "hour"], columns="name", values="value").reset_index().merge(stays)
    long.to_csv(folder / "long.csv", index=False)
    stays.to_csv(folder / "stays.csv", index=False)
    wide.to_csv(folder / "wide.csv", index=False)
    np.savez(folder / "array.npz", X=values, y=died, ids=stays["id"], names=["hr", "ph"])
    return folder


@pytest.fixture
def aliquot(monkeypatch, capsys):
    """Runs the command; returns exit code, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["aliquot", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def tell(aliquot):
    """Runs the command; returns exit code, standard output in one line, and standard error."""

    def run(*words):
        code, out, err = aliquot(*words)
        return code, " ".join(out.split()), err

    return run
