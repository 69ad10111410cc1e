"""A method, a network and a reader of another package, without a fork: one file, and an entry point."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aliquot import registry

PACKAGE = """
import equinox as eqx
import jax
import numpy as np

from aliquot.methods import Method
from aliquot.methods.random import random_rows
from aliquot.methods.selection import class_blocks, from_blocks
from aliquot.methods.trajectory import experts_of
from aliquot.methods.method import MethodKeys
from aliquot.seeds import generator


def mixed_rows(task, settings, *, key):
    rng = generator(key)
    return from_blocks(
        task,
        [np.stack([block[rng.choice(len(block), 4)].mean(axis=0) for _ in range(task.rows_per_class)])
         for block in class_blocks(task)],
    )


def expert_rows(task, settings, *, key):
    experts_of(task, settings, key=MethodKeys.of(key).expert)
    return mixed_rows(task, settings, key=key)


class Linear(eqx.Module):
    layer: eqx.nn.Linear

    def __call__(self, x, *, key=None):
        return jax.vmap(self.layer)(x)


def linear(shape, outputs, key):
    return Linear(eqx.nn.Linear(shape[0], outputs, key=key))


MIXED = Method("mixed", "means of four patients", mixed_rows)
TAUGHT = Method("taught", "the same, with experts", expert_rows, sections=("slots", "expert"),
                needs=frozenset({"experts"}))
BROKEN = "not a method"
"""
ENTRY_POINTS = """\
[aliquot.methods]
mixed = my_methods:MIXED
taught = my_methods:TAUGHT
broken = my_methods:BROKEN
absent = my_methods:NOTHING

[aliquot.networks]
linear = my_methods:linear
"""
QUICK = [
    *("--set", "network.hidden=[4]", "--set", "expert.count=2", "--set", "expert.epochs=2", "--set", "expert.pilots=1"),
    *("--set", "evaluation.final_networks=2", "--set", "evaluation.final_epochs=2", "--set", "curve.steps=5"),
    *("--set", "evaluation.full_epochs=2", "--set", "evaluation.search_epochs=2", "--set", "match.iterations=4"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder as pip leaves it: a module, and what its package declares."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "my_methods.py").write_text(PACKAGE)
    about = folder / "my_methods-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-methods\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 200)
    ages = rng.normal(60, 10, 200) + 9 * died
    pd.DataFrame({"age": ages, "crp": rng.gamma(2, 20, 200), "died": died}).to_csv(folder / "ward.csv", index=False)
    return folder


@pytest.fixture
def added(site, monkeypatch):
    """The package is installed for this process."""
    monkeypatch.syspath_prepend(str(site))
    registry._added.cache_clear()
    yield site
    registry._added.cache_clear()


def run(site: Path, *words: str) -> str:
    paths = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "aliquot", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_method_by_value_through_condense_and_the_sampler(added):
    from my_methods import MIXED  # pyright: ignore[reportMissingImports]

    import aliquot

    table = pd.read_csv(added / "ward.csv")
    result = aliquot.condense(table, "died", method=MIXED, rows_per_class=3, budget="smoke")
    assert result.results.method == "mixed"
    assert not result.results.real_rows
    sampler = aliquot.Condenser(method=MIXED, rows_per_class=3, budget="smoke", random_state=0)
    rows, labels = sampler.fit_resample(table[["age", "crp"]].to_numpy(), table["died"].to_numpy())
    assert rows.shape == (6, 2)
    assert sorted(labels.tolist()) == [0, 0, 0, 1, 1, 1]


def test_a_method_and_a_network_by_name_through_the_command(site, tmp_path):
    common = (str(site / "ward.csv"), "--target", "died", "--rows-per-class", "3", "--budget", "smoke", *QUICK)
    out = run(site, "condense", *common, "--method", "taught", "--network", "linear", "--out", str(tmp_path / "run"))
    assert "Aliquot" in out
    release = tmp_path / "run" / "release"
    assert '"method": "taught"' in (release / "metrics.json").read_text()
    assert 'kind = "linear"' in (release / "recipe.toml").read_text()
    run(site, "evaluate", "--release", str(release), "--data", str(site / "ward.csv"), "--networks", "2")


def test_the_help_names_them(added):
    """Names are those of the registry, which needs no JAX; the command makes its help from them."""
    assert {"mixed", "taught", "btm"} <= set(registry.METHODS)
    assert {"linear", "mlp"} <= set(registry.NETWORKS)
    assert "mixed" in run(added, "condense", "--help")


@pytest.mark.parametrize("executor", ["joblib", pytest.param("ray", marks=pytest.mark.slow)])
def test_a_method_by_name_through_compare(site, tmp_path, executor):
    where = ("--executor", executor, "--workers", "1")
    words = (str(site / "ward.csv"), "--target", "died", "--methods", "mixed,taught", "--rows-per-class", "3")
    out = run(site, "compare", *words, "--seeds", "1", "--budget", "smoke", *QUICK, *where, "--out", str(tmp_path))
    assert all(name in out for name in ("mixed", "taught"))
    assert "failed" not in out
    table = pd.read_csv(tmp_path / "comparison.csv").set_index("method")
    assert table.loc[["mixed", "taught"], "auprc"].notna().all()


@pytest.mark.parametrize("executor", ["local", "joblib"])
def test_a_method_by_value_through_a_grid(added, tmp_path, executor, monkeypatch):
    from my_methods import MIXED  # pyright: ignore[reportMissingImports]

    from aliquot.cohort import Columns
    from aliquot.context import NoProgress
    from aliquot.grid.cell import Conditions, Variant, compared_cells
    from aliquot.grid.compare import compare_into
    from aliquot.grid.executors import executor_named
    from aliquot.run.source import Source

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(added), os.environ.get("PYTHONPATH", "")]))
    source = Source(file=str(added / "ward.csv"), columns=Columns(target="died"))
    quick = tuple(word for word in QUICK if word != "--set")
    cells = compared_cells([Variant("of my own", MIXED)], [3], [0], Conditions(budget="smoke", changes=quick))
    where = executor_named(executor, workers=None if executor == "local" else 1)
    table = compare_into(tmp_path / "out", source, cells, NoProgress(), executor=where)
    assert table["failed"].tolist() == ["", ""]
    assert "of my own" in table["method"].tolist()


def test_what_is_registered_must_be_there_and_be_a_method(added):
    from aliquot.errors import SettingsError
    from aliquot.methods import get_method

    assert "mixed" in registry.METHODS
    with pytest.raises(SettingsError, match="is no aliquot"):
        get_method("broken")
    with pytest.raises(SettingsError, match="cannot be imported"):
        get_method("absent")
    with pytest.raises(SettingsError, match="did you mean 'mixed'"):
        get_method("mixd")


def test_a_stage_after_matching_and_one_after_scoring():
    """A refinement and an audit: a function each, and their places in the list of stages."""
    from dataclasses import replace

    from aliquot.cohort import Cohort
    from aliquot.cohort.embedded import support2_frame
    from aliquot.context import Context, InMemoryStore
    from aliquot.methods import Cost
    from aliquot.run.pipeline import PIPELINE
    from aliquot.run.request import RequestOptions
    from aliquot.run.stage import Run, Stage, run_stages

    def refine(run):
        run.context.progress.stage("refining", 1)
        run.context.progress.advance()
        return replace(run, condensed=replace(run.condensed, x=run.condensed.x.round(1)))

    def audit(run):
        return replace(run, cohort=replace(run.cohort, notes=(*run.cohort.notes, "an audit was run")))

    stages = {stage.name: stage for stage in PIPELINE}
    refined = Stage("refine", refine, lambda run: {"refining": Cost(seconds=1.0)})
    order = [stages["prepare"], stages["condense"], refined, stages["score"], Stage("audit", audit)]
    frame = support2_frame().sample(800, random_state=0)
    request = RequestOptions(method="kmeans", rows_per_class=3, budget="smoke").request()
    run = Run(cohort=Cohort.from_frame(frame, target="died_within_30_days"), request=request)
    run = replace(run, context=Context(store=InMemoryStore()))
    done = run_stages(run, (*order, stages["measure"], stages["release"]))
    assert list(done.clock.stages) == ["prepare", "condense", "refine", "score", "audit", "measure", "release"]
    assert (done.condensation.x == done.condensation.x.round(1)).all()
    assert "refining" in done.condensation.results.seconds
    assert "an audit was run" in done.condensation.results.notes
