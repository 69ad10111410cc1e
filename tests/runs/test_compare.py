"""Comparisons: cells once, equal terms, shared experts, continuing, failures, and the arithmetic of the table."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest

import aliquot.runs.cells as cells_module
import aliquot.runs.compare as compare_module
from aliquot.errors import RunFolderError, SettingsError
from aliquot.hooks import Silence
from aliquot.runs.cells import FULL, Variant, cells_of, needs_dense
from aliquot.runs.compare import as_markdown, compare_into, summary
from aliquot.runs.folder import resume
from aliquot.runs.source import Source

QUICK = (
    "network.hidden=[4]",
    "expert.count=2",
    "expert.epochs=3",
    "expert.length=fixed",
    "curve.steps=20",
    "curve.check_every=0",
    "match.iterations=4",
    "match.student_steps=2",
    "match.segment.epochs=1",
    "distribution.iterations=4",
    "evaluation.search_epochs=2",
    "evaluation.search_networks=1",
    "evaluation.final_epochs=2",
    "evaluation.final_networks=2",
    "evaluation.full_epochs=2",
)


def cells(names, sizes=(3,), seeds=(0,), **options):
    variants = [Variant.parse(name) for name in names]
    return cells_of(variants, sizes, seeds, budget="smoke", looks=2, overrides=QUICK, **options)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 200)
    table = pd.DataFrame({"age": rng.normal(60, 10, 200) + 8 * died, "lactate": rng.gamma(2, 1, 200), "died": died})
    path = tmp_path_factory.mktemp("data") / "table.parquet"
    table.to_parquet(path)
    return Source(file=str(path), target="died")


@pytest.fixture(scope="module")
def compared(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "comparison"
    asked = cells(["btm", "mtt", "m3d", "random", "btm:paper"])
    return folder, asked, compare_into(folder, source, asked, Silence())


def test_one_line_per_method_and_the_files(compared):
    folder, asked, table = compared
    assert table["method"].tolist() == [FULL, "btm", "mtt", "m3d", "random", "btm:paper"]
    assert table[["auroc", "auprc", "share"]].notna().all(axis=None)
    assert len(pd.read_csv(folder / "cells.csv")) == len(asked) == 6
    assert pd.read_csv(folder / "comparison.csv")["method"].tolist() == table["method"].tolist()
    assert "| mtt |" in (folder / "comparison.md").read_text()
    page = (folder / "comparison.html").read_text()
    drawn = re.search(r"<desc[^>]*>(.*?)</desc>", page)
    assert drawn is not None
    assert all(f"{method}: 0." in drawn[1] for method in ("btm", "mtt", "m3d", "random", "btm:paper"))
    assert (folder / "private").stat().st_mode & 0o077 == 0
    assert not list((folder / "private" / "store").glob("cell-*"))


def test_cost_is_measured(compared):
    table = compared[2].set_index("method")
    assert (table.loc[["btm", "mtt", "btm:paper"], "trajectory_bytes"] > 0).all()
    assert table.loc["m3d", "trajectory_bytes"] == 0
    assert table.loc["btm", "expert_seconds"] == table.loc["mtt", "expert_seconds"] > 0
    assert table.loc["btm", "iterations"] == 4


def test_finished_cells_are_not_run_again_and_a_folder_can_be_extended(compared, source, monkeypatch):
    folder, asked, table = compared
    ran = []
    condense = cells_module._condensed
    monkeypatch.setattr(cells_module, "_condensed", lambda *args: ran.append(args[1].method) or condense(*args))
    again = compare_into(folder, source, asked, Silence())
    pd.testing.assert_frame_equal(again, table)
    assert ran == []
    compare_into(folder, source, cells(["btm", "kmeans"]), Silence())
    assert ran == ["kmeans"]


def test_a_changed_cell_is_noticed_and_only_that_one_is_missing(compared, source, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(compared[0], folder)
    path = folder / "cells" / f"{compared[1][2].name(source.read()[1])}.json"
    path.write_text(path.read_text().replace('"mean": 0.', '"mean": 0.9', 1))
    table = compare_into(folder, source, compared[1], Silence()).set_index("method")
    assert "was changed" in table.loc["mtt", "failed"]
    assert (table.drop(index="mtt")["failed"] == "").all()


def test_other_data_are_refused(compared, source, tmp_path):
    frame = pd.read_parquet(source.file)
    frame.iloc[:150].to_parquet(tmp_path / "other.parquet")
    with pytest.raises(RunFolderError):
        compare_into(compared[0], Source(file=str(tmp_path / "other.parquet"), target="died"), compared[1], Silence())
    with pytest.raises(RunFolderError, match="the same command"):
        resume(compared[0], Silence())


def test_a_cell_that_fails_does_not_stop_the_others(source, tmp_path, monkeypatch):
    condense = cells_module._condensed

    def fails_once(cohort, request, *rest):
        if request.method == "random":
            raise SettingsError("asked for what cannot be; ask for something else")
        return condense(cohort, request, *rest)

    monkeypatch.setattr(cells_module, "_condensed", fails_once)
    table = compare_into(tmp_path / "c", source, cells(["random", "kmeans"]), Silence()).set_index("method")
    assert table.loc["random", "failed"].startswith("asked for what cannot be")
    assert np.isfinite(table.loc["kmeans", "auprc"])
    assert "failed: asked for what" in (tmp_path / "c" / "comparison.md").read_text()
    monkeypatch.setattr(cells_module, "_condensed", condense)
    table = compare_into(tmp_path / "c", source, cells(["random", "kmeans"]), Silence()).set_index("method")
    assert table.loc["random", "failed"] == ""


def test_a_stopped_comparison_continues_with_what_is_left(source, tmp_path, monkeypatch):
    condense, ran = cells_module._condensed, []

    def stops(cohort, request, *rest):
        ran.append(request.method)
        if len(ran) == 2:
            raise KeyboardInterrupt
        return condense(cohort, request, *rest)

    monkeypatch.setattr(cells_module, "_condensed", stops)
    asked = cells(["random", "herding", "kmeans"])
    with pytest.raises(KeyboardInterrupt):
        compare_into(tmp_path / "c", source, asked, Silence())
    compare_into(tmp_path / "c", source, asked, Silence())
    assert ran == ["random", "herding", "herding", "kmeans"]


def test_all_are_judged_on_equal_terms():
    asked = cells_of([Variant.parse(name) for name in ("btm", "mtt:paper", "m3d", "dc")], [10], [0], looks=20)
    evaluation = {cell.request.settings.evaluation for cell in asked}
    assert len(evaluation) == len({cell.request.settings.network for cell in asked}) == 1
    for cell in asked[1:]:
        settings = cell.request.settings
        for section in (settings.match, settings.distribution, settings.gradients):
            assert 20 >= section.iterations / section.judge_every > 18


def test_whole_trajectories_are_kept_only_where_another_cell_follows_them():
    asked = cells_of([Variant.parse(name) for name in ("btm", "mtt", "ftd", "btm:paper")], [10], [0])
    kept = {cell.label: needs_dense(cell, asked) for cell in asked if cell.label != FULL}
    assert kept == {"btm": True, "mtt": True, "ftd": True, "btm:paper": False}


def line(label, seed, auprc, size=10, **more):
    metric = {"mean": auprc, "std": 0.01, "n": 5}
    return {"label": label, "seed": seed, "rows_per_class": size, "auroc": metric, "auprc": metric, **more}


def test_means_spreads_shares_and_paired_differences():
    costs = {"seconds": 2.0, "expert_seconds": 1.0, "trajectory_bytes": 10, "skipped": 3, "iterations": 7}
    lines = [line(FULL, seed, score, 1) for seed, score in enumerate((0.8, 0.6))]
    lines += [line("a", seed, score, **costs) for seed, score in enumerate((0.7, 0.5))]
    lines += [line("b", seed, score, **costs) for seed, score in enumerate((0.6, 0.42))]
    table = summary(lines).set_index("method")
    a, b = table.loc["a"], table.loc["b"]
    assert a["auprc"] == pytest.approx(0.6)
    assert a["auprc_seeds"] == pytest.approx(np.std([0.7, 0.5], ddof=1))
    assert a["auprc_networks"] == pytest.approx(0.01)
    assert a["share"] == pytest.approx(0.6 / 0.7)
    assert (a["behind"], b["behind"]) == (0, pytest.approx(-0.09))
    assert b["behind_seeds"] == pytest.approx(np.std([-0.1, -0.08], ddof=1))
    text = as_markdown(summary(lines))
    assert text.index("| a |") < text.index("| b |") < text.index("| full data |")


def test_cells_hold_no_patients(compared):
    folder, *_ = compared
    for path in (folder / "cells").glob("*.json"):
        assert set(json.loads(path.read_text())["result"]) <= {
            *("method", "preset", "budget", "rows_per_class", "seed", "auroc", "auprc", "tuning", "iterations"),
            *("best_iteration", "skipped", "seconds", "expert_seconds", "expert_epochs", "trajectory_bytes", "notes"),
            *("fixed_epochs", "best_epoch", "history", "rows_sha256"),
        }
    assert compare_module.megabytes(1_500_000) == "1.5 MB"
