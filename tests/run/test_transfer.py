"""Rows of a finished run on other networks."""

import json

import numpy as np
import pandas as pd
import pytest

import aliquot.run.transfer as transfer_module
from aliquot.cohort import Columns
from aliquot.context import NoProgress
from aliquot.errors import RunFolderError, SettingsError
from aliquot.networks.architecture import other_networks
from aliquot.presets.settings import load_settings
from aliquot.run.folder import condense_into
from aliquot.run.request import Request
from aliquot.run.source import Source
from aliquot.run.transfer import transfer_into

ROUNDED = 0.0005  # scores of a release have three decimals
QUICK = (
    "evaluation.final_epochs=3",
    "evaluation.final_networks=2",
    "evaluation.full_epochs=2",
    "evaluation.search_networks=1",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 300)
    table = pd.DataFrame({"age": rng.normal(60, 10, 300) + 12 * died, "lactate": rng.gamma(2, 1, 300), "died": died})
    folder = tmp_path_factory.mktemp("transfer")
    table.to_parquet(folder / "table.parquet")
    settings = load_settings(budget="smoke", method="kmeans", changes=QUICK)
    request = Request(settings=settings, method="kmeans", rows_per_class=5, budget="smoke")
    condense_into(
        folder / "run",
        Source(file=str(folder / "table.parquet"), columns=Columns(target="died")),
        request,
        NoProgress(),
    )
    return folder / "run"


def test_every_network_on_rows_random_patients_and_everybody(run):
    table = transfer_into(run, ["mlp-1", "mlp-3"], NoProgress(), count=2, full=True)
    assert table["network"].tolist() == ["mlp-1"] * 3 + ["mlp-3"] * 3
    assert table["trained on"].tolist() == ["random", "aliquot", "full_best_epoch"] * 2
    scores = table[["auroc_mean", "auprc_mean"]].to_numpy()
    assert ((scores > 0.3) & (scores <= 1)).all()
    pd.testing.assert_frame_equal(pd.read_csv(run / "transfer.csv"), table)


def test_without_names_the_papers_networks(run):
    assert tuple(transfer_into(run, [], NoProgress(), count=1)["network"].unique()) == other_networks((2,))


def test_the_rows_own_network_scores_as_in_the_release(run):

    table = transfer_into(run, ["mlp"], NoProgress(), count=2).set_index("trained on")
    metrics = json.loads((run / "release" / "metrics.json").read_text())
    for source in ("aliquot", "random"):
        assert table.loc[source, "auprc_mean"] == pytest.approx(
            metrics["held_out"][source]["auprc"]["mean"], abs=ROUNDED
        )


def test_what_was_scored_is_not_scored_again(run, monkeypatch):
    first = transfer_into(run, ["mlp-2"], NoProgress(), count=1)
    monkeypatch.setattr(transfer_module, "score_rows", None)
    pd.testing.assert_frame_equal(transfer_into(run, ["mlp-2"], NoProgress(), count=1), first)


def test_networks_of_series_are_refused_for_tables(run):
    with pytest.raises(SettingsError, match="on a table"):
        transfer_into(run, ["tcn-1"], NoProgress())


def test_changed_data_is_refused(run):
    path = run.parent / "table.parquet"
    before = path.read_bytes()
    pd.read_parquet(path).assign(age=1.0).to_parquet(path)
    try:
        with pytest.raises(RunFolderError, match="data has changed"):
            transfer_into(run, ["mlp-1"], NoProgress())
    finally:
        path.write_bytes(before)
