"""Sources: what a plan holds of them, today's and older ones."""

import json
from dataclasses import asdict

import pytest

from aliquot.cohort import Columns, Layout
from aliquot.run.source import EMBEDDED, Source

OLD = {  # every field beside the others, as it was written before columns and layout were grouped
    "cohort": None,
    "read_options": [],
    "target": "died_within_30_days",
    "patient_id": None,
    "split": None,
    "positive": None,
    "schema": None,
    "drop": [],
    "time": None,
    "stay_id": None,
    "variable": None,
    "value": None,
    "hours": None,
    "step_hours": None,
    "outcomes": None,
    "subgroups": [],
    "licence": None,
}
SOURCES = {
    "table": (
        Source(file="/t.csv", columns=Columns(target="died", patient_id="id", schema="/s.toml", drop=("a", "b"))),
        {"file": "/t.csv", "target": "died", "patient_id": "id", "schema": "/s.toml", "drop": ["a", "b"]},
    ),
    "measurements": (
        Source(
            file="/t.csv",
            columns=Columns(target="died", patient_id="id"),
            layout=Layout("id", "hour", "name", "value", 48.0, outcomes="/o.csv"),
        ),
        {
            **{"file": "/t.csv", "target": "died", "patient_id": "id", "time": "hour", "variable": "name"},
            **{"value": "value", "hours": 48.0, "outcomes": "/o.csv"},
        },
    ),
    "known": (
        Source(file="/data", cohort="yaib", read_options=(("hours", "4"),), columns=Columns(subgroups=("sex",))),
        {"file": "/data", "cohort": "yaib", "read_options": [["hours", "4"]], "subgroups": ["sex"]},
    ),
    "embedded": (Source(file=EMBEDDED), {"file": EMBEDDED}),
}
NEW = {
    "sheet": Source(file="/t.xlsx", sheet="data", columns=Columns(target="died")),
    "database": Source(file="duckdb:////t.duckdb", sql="SELECT * FROM stays", columns=Columns(target="died")),
    "server": Source(file="postgresql://db.local/icu", sql="SELECT * FROM stays", columns=Columns(target="died")),
}


@pytest.mark.parametrize("source", [*(source for source, _ in SOURCES.values()), *NEW.values()], ids=[*SOURCES, *NEW])
def test_a_plan_gives_the_source_back(source):
    assert Source.from_plan(json.loads(json.dumps(asdict(source)))) == source


@pytest.mark.parametrize("name", SOURCES)
def test_an_older_plan_is_the_same_source(name):
    source, changes = SOURCES[name]
    assert Source.from_plan({**OLD, **changes}) == source


def test_an_older_plan_may_lack_what_came_later():
    plan = {name: value for name, value in OLD.items() if name not in ("subgroups", "licence", "time", "cohort")}
    assert Source.from_plan({**plan, "file": "/t.csv", "target": "died"}) == Source(
        file="/t.csv", columns=Columns(target="died")
    )


def test_a_source_can_be_a_key():
    assert len({*NEW.values(), *(source for source, _ in SOURCES.values())}) == len(SOURCES) + len(NEW)


def test_the_files_that_must_be_there():
    named = {name: [str(path) for path in source.files] for name, (source, _) in SOURCES.items()}
    assert named == {"table": ["/t.csv"], "measurements": ["/t.csv", "/o.csv"], "known": ["/data"], "embedded": []}
    assert Source(file="simulated:puh", cohort="simulated:puh").files == ()
    assert [[str(path) for path in source.files] for source in NEW.values()] == [["/t.xlsx"], ["/t.duckdb"], []]
