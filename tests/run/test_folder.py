"""The run folder: whose it is, what continues in it, and what is refused."""

import errno
import json
from dataclasses import asdict

import duckdb
import numpy as np
import pandas as pd
import pytest

import aliquot.experts.experts as experts_module
import aliquot.experts.watch as watch_module
import aliquot.run.folder as folder_module
from aliquot.cohort import Columns, Query
from aliquot.context import NoProgress
from aliquot.errors import RunFolderError, TamperedError
from aliquot.identity import checksum_text, versions
from aliquot.run.folder import claimed, condense_into, read_plan, request_of, resume, run_plan, source_of
from aliquot.run.request import RequestOptions
from aliquot.run.source import Source

QUICK = (
    "network.hidden=[4]",
    "expert.count=2",
    "expert.epochs=2",
    "expert.pilots=1",
    "curve.steps=5",
    "match.iterations=4",
    "match.judge_every=2",
    "match.student_steps=2",
    "evaluation.search_epochs=2",
    "evaluation.search_networks=1",
    "evaluation.final_epochs=2",
    "evaluation.final_networks=2",
    "evaluation.full_epochs=2",
)
REQUEST = RequestOptions(rows_per_class=3, budget="smoke", changes=QUICK).request()
PLAIN = RequestOptions(method="kmeans", rows_per_class=3, budget="smoke", changes=QUICK).request()


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 200)
    frame = pd.DataFrame({"age": rng.normal(60, 10, 200) + 8 * died, "lactate": rng.gamma(2, 1, 200), "died": died})
    frame.to_parquet(tmp_path / "table.parquet")
    return tmp_path / "table.parquet"


class StopsAt(NoProgress):
    """Interrupts a run when a stage begins."""

    def __init__(self, name):
        self._name = name

    def stage(self, name, total):
        if name == self._name:
            raise KeyboardInterrupt


@pytest.fixture
def trained(monkeypatch):
    """Counts how often networks are trained on the patients."""
    calls = []
    for module in (experts_module, watch_module):
        train = module.train_networks
        counting = lambda *args, train=train, **more: calls.append(1) or train(*args, **more)  # noqa: E731
        monkeypatch.setattr(module, "train_networks", counting)
    return calls


def test_an_edited_schema_file_is_another_run(table, tmp_path):
    schema = tmp_path / "schema.toml"
    schema.write_text("[columns.lactate]\nkind = 'numeric'\n")
    source = Source(file=str(table), columns=Columns(target="died", schema=str(schema)))
    release = condense_into(tmp_path / "run", source, PLAIN, NoProgress())
    before = (release / "rows.parquet").read_bytes()
    assert condense_into(tmp_path / "run", source, PLAIN, NoProgress()) == release  # the same: nothing is done
    schema.write_text("[columns.lactate]\nkind = 'numeric'\nlog = true\n")
    with pytest.raises(RunFolderError, match="its data or its schema file has changed"):
        condense_into(tmp_path / "run", source, PLAIN, NoProgress())
    other = condense_into(tmp_path / "other", source, PLAIN, NoProgress())
    assert (other / "rows.parquet").read_bytes() != before


def test_resume_finds_the_experts_in_the_store_of_the_run(table, tmp_path, trained):
    source, store = Source(file=str(table), columns=Columns(target="died")), tmp_path / "store"
    condense_into(tmp_path / "first", source, REQUEST, NoProgress(), shared=store)
    trained.clear()
    with pytest.raises(KeyboardInterrupt):
        condense_into(tmp_path / "second", source, REQUEST, StopsAt("matching"), shared=store)
    release = resume(tmp_path / "second", NoProgress())
    assert trained == []
    assert read_plan(tmp_path / "second")["store"] == str(store)
    first = tmp_path / "first" / "release"
    assert (release / "rows.parquet").read_bytes() == (first / "rows.parquet").read_bytes()


@pytest.fixture(params=["workbook", "database"])
def elsewhere(request, table, tmp_path):
    """The table as a sheet of a workbook, or in a database; the source and how to change one cell."""
    frame = pd.read_parquet(table)
    if request.param == "workbook":
        path = tmp_path / "table.xlsx"
        write = lambda frame: frame.to_excel(path, sheet_name="data", index=False)  # noqa: E731
        source = Source(file=str(path), sheet="data", columns=Columns(target="died"))
    else:
        path = tmp_path / "table.duckdb"

        def write(frame):
            with duckdb.connect(str(path)) as connection:
                connection.execute("CREATE OR REPLACE TABLE stays AS SELECT * FROM frame")

        query = Query("SELECT * FROM stays", str(path))
        source = Source(file=query.database, sql=query.sql, columns=Columns(target="died"))
    write(frame)
    return source, lambda: write(frame.assign(age=frame["age"].where(frame.index > 0, 50.0)))


def test_a_run_goes_on_from_a_workbook_or_a_database(elsewhere, tmp_path, monkeypatch):
    source, change = elsewhere
    monkeypatch.setenv("ALIQUOT_DATABASE_PASSWORD", "Zq7_secret")
    stop = StopsAt("held-out evaluation")
    with pytest.raises(KeyboardInterrupt):
        condense_into(tmp_path / "run", source, PLAIN, stop)
    with pytest.raises(KeyboardInterrupt):
        resume(tmp_path / "run", stop)  # it finds the same patients, and comes as far
    assert not [path for path in (tmp_path / "run").rglob("*") if path.is_file() and b"Zq7_secret" in path.read_bytes()]
    change()
    with pytest.raises(RunFolderError, match="its data has changed"):
        resume(tmp_path / "run", NoProgress())


def test_a_failed_first_write_leaves_a_folder_that_can_be_used(table, tmp_path, monkeypatch):
    source = Source(file=str(table), columns=Columns(target="died"))

    def full(*args, **more):
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as disk:
        disk.setattr(folder_module, "write_atomically", full)
        with pytest.raises(OSError, match="no space"):
            condense_into(tmp_path / "run", source, PLAIN, NoProgress())
    assert condense_into(tmp_path / "run", source, PLAIN, NoProgress()).is_dir()


def test_a_folder_with_something_else_in_it_is_refused(table, tmp_path):
    source = Source(file=str(table), columns=Columns(target="died"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="holds other files"):
        condense_into(tmp_path / "mine", source, PLAIN, NoProgress())
    (tmp_path / "half" / "private").mkdir(parents=True)
    (tmp_path / "half" / "private" / "notes.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="holds other files"):
        condense_into(tmp_path / "half", source, PLAIN, NoProgress())


def test_what_decides_nothing_does_not_make_another_run(table, tmp_path):
    source = Source(file=str(table), columns=Columns(target="died"))
    with pytest.raises(KeyboardInterrupt):
        condense_into(tmp_path / "run", source, REQUEST, StopsAt("curves"))
    moved = tmp_path / "moved.parquet"
    moved.write_bytes(table.read_bytes())
    elsewhere = Source(file=str(moved), columns=Columns(target="died"))
    other = RequestOptions(
        rows_per_class=3, budget="smoke", changes=(*QUICK, "distribution.iterations=9")
    ).request()  # a setting of another method
    assert condense_into(tmp_path / "run", elsewhere, other, NoProgress()).is_dir()


def test_another_request_or_a_changed_plan_is_refused(table, tmp_path):
    source = Source(file=str(table), columns=Columns(target="died"))
    with pytest.raises(KeyboardInterrupt):
        condense_into(tmp_path / "run", source, REQUEST, StopsAt("experts"))
    other = RequestOptions(rows_per_class=4, budget="smoke", changes=QUICK).request()
    with pytest.raises(RunFolderError, match="another run is in it"):
        condense_into(tmp_path / "run", source, other, NoProgress())
    path = tmp_path / "run" / "private" / "plan.json"
    document = json.loads(path.read_text())
    document["plan"]["request"]["seed"] = 5
    path.write_text(json.dumps(document))
    with pytest.raises(TamperedError, match=r"plan\.json was changed"):
        resume(tmp_path / "run", NoProgress())


WRONG_PLANS = {
    "no request": lambda plan: plan.pop("request"),
    "no store": lambda plan: plan.pop("store"),
    "a name": lambda plan: plan.update(name=5),
    "versions": lambda plan: plan.update(versions=["jax"]),
    "rows": lambda plan: plan["request"].update(rows_per_class="3"),
    "seed": lambda plan: plan["request"].update(seed=-1),
    "settings": lambda plan: plan["request"].update(settings=[]),
    "columns": lambda plan: plan["source"]["columns"].update(drop="age"),
    "file": lambda plan: plan["source"].update(file=None),
    "layout": lambda plan: plan["source"].update(layout={"stay_id": "id"}),
}


@pytest.mark.parametrize("change", WRONG_PLANS.values(), ids=WRONG_PLANS.keys())
def test_a_plan_of_no_run_is_refused_whatever_its_checksum(table, tmp_path, change):
    source = Source(file=str(table), columns=Columns(target="died"))
    plan = {"source": asdict(source), "request": PLAIN.to_plan(), "store": None}
    plan = json.loads(json.dumps({"kind": "run", "name": "run-0", "versions": versions(), **plan}))
    with claimed(tmp_path / "run", plan):
        pass
    assert (request_of(run_plan(tmp_path / "run")), source_of(plan)) == (PLAIN, source)
    change(plan)
    document = {"plan": plan, "sha256": checksum_text(json.dumps(plan, sort_keys=True))}
    (tmp_path / "run" / "private" / "plan.json").write_text(json.dumps(document))
    with pytest.raises(TamperedError, match=r"plan\.json was changed"):
        resume(tmp_path / "run", NoProgress())
