"""Comparisons: cells once, equal terms, shared experts, continuing, failures, and the arithmetic of the table."""

import json
import re
import shutil
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

import aliquot.grid.compare as compare_module
import aliquot.grid.pieces as pieces_module
from aliquot.cohort import Columns
from aliquot.context import NoProgress
from aliquot.errors import RunFolderError, SettingsError
from aliquot.evaluate.results import Summary
from aliquot.grid.cell import FULL, CellResult, Conditions, Variant, compared_cells
from aliquot.grid.compare import as_markdown, compare_into, legend, summary_table
from aliquot.grid.executors import executor_named
from aliquot.grid.grid import Entry, _pieces
from aliquot.grid.pieces import fingerprint_of
from aliquot.run.folder import resume
from aliquot.run.source import Source

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
    return compared_cells(variants, sizes, seeds, Conditions(budget="smoke", evaluations=2, changes=QUICK, **options))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 200)
    table = pd.DataFrame({"age": rng.normal(60, 10, 200) + 8 * died, "lactate": rng.gamma(2, 1, 200), "died": died})
    path = tmp_path_factory.mktemp("data") / "table.parquet"
    table.to_parquet(path)
    return Source(file=str(path), columns=Columns(target="died"))


@pytest.fixture(scope="module")
def compared(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "comparison"
    asked = cells(["btm", "mtt", "m3d", "random", "btm:paper"])
    return folder, asked, compare_into(folder, source, asked, NoProgress())


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
    result = pieces_module.cell_result
    monkeypatch.setattr(
        pieces_module, "cell_result", lambda cell, *rest, **more: ran.append(cell.label) or result(cell, *rest, **more)
    )
    again = compare_into(folder, source, asked, NoProgress())
    pd.testing.assert_frame_equal(again, table)
    assert ran == []
    compare_into(folder, source, cells(["btm", "kmeans"]), NoProgress())
    assert ran == ["kmeans"]


def test_another_executor_finds_the_same_cells_finished(compared, source, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(compared[0], folder)
    before = {path.name for path in (folder / "cells").iterdir()}
    for executor in (executor_named("joblib", workers=1), executor_named("joblib", workers=2)):
        table = compare_into(folder, source, compared[1], NoProgress(), executor=executor)
        pd.testing.assert_frame_equal(table, compared[2])
    assert {path.name for path in (folder / "cells").iterdir()} == before


def test_a_changed_cell_is_noticed_and_only_that_one_is_missing(compared, source, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(compared[0], folder)
    cell = compared[1][2]
    path = folder / "cells" / f"{cell.name(fingerprint_of(source.read(), cell))}.json"
    path.write_text(path.read_text().replace('"mean": 0.', '"mean": 0.9', 1))
    table = compare_into(folder, source, compared[1], NoProgress()).set_index("method")
    assert "was changed" in table.loc["mtt", "failed"]
    assert (table.drop(index="mtt")["failed"] == "").all()


def test_other_data_are_refused(compared, source, tmp_path):
    frame = pd.read_parquet(source.file)
    frame.iloc[:150].to_parquet(tmp_path / "other.parquet")
    with pytest.raises(RunFolderError):
        compare_into(
            compared[0],
            Source(file=str(tmp_path / "other.parquet"), columns=Columns(target="died")),
            compared[1],
            NoProgress(),
        )
    with pytest.raises(RunFolderError, match="the same command"):
        resume(compared[0], NoProgress())


def test_a_cell_that_fails_does_not_stop_the_others(source, tmp_path, monkeypatch):
    result = pieces_module.cell_result

    def fails_once(cell, *rest, **more):
        if cell.label == "random":
            raise SettingsError("asked for what cannot be; ask for something else")
        return result(cell, *rest, **more)

    monkeypatch.setattr(pieces_module, "cell_result", fails_once)
    table = compare_into(tmp_path / "c", source, cells(["random", "kmeans"]), NoProgress()).set_index("method")
    assert table.loc["random", "failed"].startswith("asked for what cannot be")
    assert np.isfinite(table.loc["kmeans", "auprc"])
    assert "failed: asked for what" in (tmp_path / "c" / "comparison.md").read_text()
    monkeypatch.setattr(pieces_module, "cell_result", result)
    table = compare_into(tmp_path / "c", source, cells(["random", "kmeans"]), NoProgress()).set_index("method")
    assert table.loc["random", "failed"] == ""


def test_a_stopped_comparison_continues_with_what_is_left(source, tmp_path, monkeypatch):
    result, ran = pieces_module.cell_result, []

    def stops(cell, *rest, **more):
        ran.append(cell.label)
        if ran.count("herding") == 1 and cell.label == "herding":
            raise KeyboardInterrupt
        return result(cell, *rest, **more)

    monkeypatch.setattr(pieces_module, "cell_result", stops)
    asked = cells(["random", "herding", "kmeans"])
    with pytest.raises(KeyboardInterrupt):
        compare_into(tmp_path / "c", source, asked, NoProgress())
    compare_into(tmp_path / "c", source, asked, NoProgress())
    assert ran == [FULL, "random", "herding", "herding", "kmeans"]


def test_all_are_judged_on_equal_terms():
    """The judge sees equally many candidates of all; a running average is one more at each evaluation."""
    names = ("btm", "mtt:paper", "ftd", "m3d", "dc")
    asked = compared_cells([Variant.parse(name) for name in names], [10], [0], Conditions(evaluations=20))
    evaluation = {cell.request.settings.evaluation for cell in asked}
    assert len(evaluation) == len({cell.request.settings.network for cell in asked}) == 1
    for cell in asked[1:]:
        settings = cell.request.settings
        candidates = 2 if cell.label in ("btm", "ftd") else 1
        for section in (settings.match, settings.distribution, settings.gradients):
            assert 20 >= candidates * section.iterations / section.judge_every > 18


def test_a_preset_keeps_its_choice_of_the_matched_network():
    names = ("btm", "dm", "m3d")
    asked = compared_cells([Variant.parse(name) for name in names], [10], [0], Conditions(series=True))
    matched = {cell.label: cell.request.settings.network.matched for cell in asked}
    assert matched == {FULL: "small", "btm": "small", "dm": "same", "m3d": "same"}


def test_random_rows_are_drawn_again_for_every_network_as_in_the_report(source, compared):
    import aliquot
    from aliquot.presets.settings import load_settings

    frame, asked = pd.read_parquet(source.file), load_settings(budget="smoke", changes=QUICK)
    changes = {"network": {"hidden": [4]}, "evaluation": asdict(asked.evaluation)}
    result = aliquot.condense(frame, "died", method="kmeans", rows_per_class=3, budget="smoke", settings=changes)
    table = compared[2].set_index("method")
    rounded = 0.0005  # a release's scores have three decimals
    assert table.loc["random", "auprc"] == pytest.approx(result.results.held_out.random.auprc.mean, abs=rounded)
    assert table.loc["random", "auprc_networks"] == pytest.approx(result.results.held_out.random.auprc.std, abs=rounded)


def test_no_network_is_trained_to_judge_rows_that_were_chosen(source, tmp_path, monkeypatch):
    from aliquot.evaluate.protocol import TuningJudge

    rows, judged = TuningJudge.rows, []
    monkeypatch.setattr(TuningJudge, "rows", lambda self, x, targets: judged.append(1) or rows(self, x, targets))
    table = compare_into(tmp_path / "c", source, cells(["m3d"]), NoProgress())
    assert (table["failed"] == "").all()
    assert len(judged) == 3  # the starting rows and two evaluations


def test_an_edited_schema_is_another_comparison(source, tmp_path):
    schema = tmp_path / "schema.toml"
    schema.write_text("[columns.lactate]\nkind = 'numeric'\n")
    asked = Source(file=source.file, columns=Columns(target="died", schema=str(schema)))
    compare_into(tmp_path / "c", asked, cells(["random"]), NoProgress())
    schema.write_text("[columns.lactate]\nkind = 'numeric'\nlog = true\n")
    with pytest.raises(RunFolderError, match="its data or its schema file has changed"):
        compare_into(tmp_path / "c", asked, cells(["random"]), NoProgress())


def test_results_of_another_version_are_not_mixed_in(compared, source, tmp_path, monkeypatch):
    from aliquot import identity
    from aliquot.errors import VersionError

    folder, here = tmp_path / "copy", identity.versions()
    shutil.copytree(compared[0], folder)
    monkeypatch.setattr(identity, "_versions", lambda: {**here, "jax": "99.0"})
    with pytest.raises(VersionError, match=r"jax .* \(here 99\.0\)"):
        compare_into(folder, source, cells(["btm", "kmeans"]), NoProgress())


def test_the_legend_tells_whose_split_it_is(compared, source, tmp_path):
    assert "a seed decides split, experts" in (compared[0] / "comparison.md").read_text()
    frame = pd.read_parquet(source.file)
    frame["part"] = np.resize(["train", "train", "tuning", "held_out"], len(frame))
    frame.to_parquet(tmp_path / "own.parquet")
    own = Source(file=str(tmp_path / "own.parquet"), columns=Columns(target="died", split="part"))
    compare_into(tmp_path / "c", own, cells(["random"]), NoProgress())
    assert "but the split, which is your own" in (tmp_path / "c" / "comparison.md").read_text()
    assert legend(own_split=True) != legend(own_split=False)


def test_whole_trajectories_are_kept_only_where_another_cell_follows_them(source):
    asked = compared_cells([Variant.parse(name) for name in ("btm", "mtt", "ftd", "btm:paper")], [10], [0])
    pieces = _pieces([Entry(source, cell) for cell in asked], {source: source.read()})
    kept = {piece.cell.label: piece.keep_paths for piece in pieces if piece.cell.label != FULL}
    assert kept == {"btm": True, "mtt": True, "ftd": True, "btm:paper": False}


def line(label, seed, auprc, size=10, **more):
    metric = Summary(auprc, 0.01, 5)
    return CellResult(label=label, seed=seed, rows_per_class=size, auroc=metric, auprc=metric, **more)


def test_means_spreads_shares_and_paired_differences():
    costs = {"seconds": 2.0, "expert_seconds": 1.0, "trajectory_bytes": 10, "skipped": 3, "iterations": 7}
    lines = [line(FULL, seed, score, 1) for seed, score in enumerate((0.8, 0.6))]
    lines += [line("a", seed, score, **costs) for seed, score in enumerate((0.7, 0.5))]
    lines += [line("b", seed, score, **costs) for seed, score in enumerate((0.6, 0.42))]
    table = summary_table(lines).set_index("method")
    a, b = table.loc["a"], table.loc["b"]
    assert a["auprc"] == pytest.approx(0.6)
    assert a["auprc_seeds"] == pytest.approx(np.std([0.7, 0.5], ddof=1))
    assert a["auprc_networks"] == pytest.approx(0.01)
    assert a["share"] == pytest.approx(0.6 / 0.7)
    assert (a["behind"], b["behind"]) == (0, pytest.approx(-0.09))
    assert b["behind_seeds"] == pytest.approx(np.std([-0.1, -0.08], ddof=1))
    text = as_markdown(summary_table(lines), legend(own_split=False))
    assert text.index("| a |") < text.index("| b |") < text.index("| full data |")


def test_cells_hold_no_patients(compared):
    folder, *_ = compared
    for path in (folder / "cells").glob("*.json"):
        assert set(json.loads(path.read_text())["result"]) <= {
            *("method", "preset", "budget", "rows_per_class", "seed", "auroc", "auprc", "tuning", "iterations"),
            *("best_iteration", "skipped", "seconds", "expert_seconds", "expert_epochs", "trajectory_bytes", "notes"),
            *("fixed_epochs", "best_epoch", "history", "rows_sha256", "label", "cohort", "failed", "others"),
        }
    assert compare_module.megabytes(1_500_000) == "1.5 MB"
