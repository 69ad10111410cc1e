"""One identity: the name of a piece of work changes with all that decides it, and with nothing else."""

import json
from dataclasses import dataclass, replace

import jax
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aliquot import identity as identity_module
from aliquot.cohort import Cohort, Column, EncoderSettings, Schema, encode_parts
from aliquot.context import NoProgress
from aliquot.errors import VersionError
from aliquot.grid.cell import Cell
from aliquot.identity import check_versions, identity, versions
from aliquot.methods import METHODS, get_method
from aliquot.presets.settings import load_settings
from aliquot.registry import METHODS as NAMES
from aliquot.run.folder import condense_into, read_plan, resume
from aliquot.run.request import Request
from aliquot.run.store import FolderStore

SECTIONS = {
    "start": {"start": "noise"},
    "slots": {"slots": {"labels": "ensemble"}},
    "expert": {"expert": {"count": 7}},
    "curve": {"curve": {"steps": 7}},
    "match": {"match": {"iterations": 7}},
    "distribution": {"distribution": {"iterations": 7}},
    "gradients": {"gradients": {"iterations": 7}},
}
PROTOCOL = {"network": {"hidden": [7]}, "encoder": {"clip": 3.0}, "evaluation": {"final_epochs": 7}}


def request(method="btm", changes=(), **asked):
    return Request(settings=load_settings(budget="smoke", method=method, changes=changes), method=method, **asked)


def names(asked):
    """The names of a run and of its cell."""
    return asked.name("data"), Cell("a label", asked).name("data")


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("section", SECTIONS)
def test_a_setting_renames_a_run_exactly_if_its_method_reads_that_section(method, section):
    before, after = names(request(method)), names(request(method, SECTIONS[section]))
    reads = section in get_method(method).sections
    assert [one != other for one, other in zip(before, after, strict=True)] == [reads, reads]


@pytest.mark.parametrize("section", PROTOCOL)
@pytest.mark.parametrize("method", ["btm", "random"])
def test_the_protocol_renames_all(method, section):
    before, after = names(request(method)), names(request(method, {section: PROTOCOL[section]}))
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_method_size_seed_and_data_rename_all():
    asked = request()
    others = [request("btm+linear"), replace(asked, rows_per_class=9), replace(asked, seed=1)]
    assert len({names(one) for one in (asked, *others)}) == 4
    assert asked.name("data") != asked.name("other data")


def test_where_settings_come_from_and_what_a_table_calls_a_cell_renames_nothing():
    asked = request()
    same = replace(asked, preset="mine", budget="cpu")
    assert names(asked) == names(same)
    assert Cell("one", asked).name("data") == Cell("another", asked).name("data")


def test_a_new_setting_at_its_default_renames_nothing():
    @dataclass(frozen=True)
    class Old:
        steps: int = 3
        rate: float = 0.1

    @dataclass(frozen=True)
    class New:
        steps: int = 3
        momentum: float = 0.9
        rate: float = 0.1

    assert identity("x", Old(steps=5)) == identity("x", New(steps=5))
    assert identity("x", Old(steps=5)) != identity("x", New(steps=5, momentum=0.8))
    assert identity("x", Old()) != identity("x", Old(rate=0.2))


def test_arrays_and_keys_count_by_their_contents():
    assert identity("x", np.zeros(3)) == identity("x", np.zeros(3)) != identity("x", np.zeros(4))
    assert identity("x", np.zeros(3)) != identity("x", np.zeros(3, np.float32))
    assert identity("x", jax.random.key(0)) != identity("x", jax.random.key(1))
    assert identity("x", jax.numpy.ones(2)) == identity("x", np.ones(2, np.float32))


def table(n=60):
    rng = np.random.default_rng(0)
    died = np.arange(n) % 2
    return pd.DataFrame({"age": rng.normal(60, 9, n).round(1), "crp": rng.gamma(2, 20, n).round(1), "died": died})


def fingerprint(frame, schema=None, seed=0):
    cohort = Cohort.from_frame(frame, target="died", schema=schema)
    return encode_parts(cohort, seed=seed, settings=EncoderSettings(), rows_per_class=1).fingerprint


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(row=st.integers(0, 59), column=st.sampled_from(["age", "crp"]), change=st.floats(0.5, 50))
def test_any_changed_cell_renames(row, column, change):
    frame = table()
    other = frame.copy()
    other.loc[row, column] += round(change, 1)
    assert fingerprint(frame) == fingerprint(frame.copy())
    assert fingerprint(frame) != fingerprint(other)


@pytest.mark.parametrize("entry", [{"log": True}, {"low": 30.0}, {"high": 200.0}, {"unit": "mg/l"}])
def test_any_changed_schema_entry_renames(entry):
    plain = Schema((Column(name="crp", kind="numeric"),))
    changed = Schema((replace(plain.columns[0], **entry),))
    assert fingerprint(table(), plain) == fingerprint(table())
    assert fingerprint(table(), plain) != fingerprint(table(), changed)


def test_the_seed_renames_the_parts():
    assert fingerprint(table()) != fingerprint(table(), seed=1)


def test_versions_are_compared_one_by_one():
    check_versions(versions(), "work", "do something")
    with pytest.raises(VersionError, match=r"jax 0\.0\.1 \(here .*do something"):
        check_versions({**versions(), "jax": "0.0.1"}, "work", "do something")
    check_versions({**versions(), "python": "3.0"}, "work", "do something")  # decides no number
    with pytest.raises(VersionError, match="earlier version"):
        check_versions(None, "work", "do something")


@pytest.fixture
def upgraded(monkeypatch):
    """Everything that follows runs with another version of Aliquot."""

    here = versions()

    def upgrade():
        monkeypatch.setattr(identity_module, "_versions", lambda: {**here, "aliquot": "99.0"})

    return upgrade


def test_stored_work_of_another_version_is_never_mixed_in(tmp_path, upgraded):
    store = FolderStore(tmp_path)
    store.put("experts", {"end": np.zeros(3)})
    assert store.get("experts") is not None
    upgraded()
    with pytest.raises(VersionError, match=r"aliquot .* \(here 99\.0\)"):
        store.get("experts")


QUICK = {
    "network": {"hidden": [4]},
    "expert": {"count": 2, "epochs": 2, "pilots": 1},
    "curve": {"steps": 5},
    "match": {"iterations": 4, "judge_every": 2, "student_steps": 2},
    "evaluation": {"search_epochs": 2, "final_epochs": 2, "final_networks": 2, "full_epochs": 2},
}


@pytest.fixture
def begun(tmp_path):
    """A run that was begun and stopped, as it lies on disk."""
    from aliquot.cohort import Columns
    from aliquot.run.source import Source

    table(200).to_parquet(tmp_path / "table.parquet")
    source = Source(file=str(tmp_path / "table.parquet"), columns=Columns(target="died"))

    class Stops(NoProgress):
        def stage(self, name, total):
            if name == "matching":
                raise KeyboardInterrupt

    asked = request(changes=QUICK, rows_per_class=3)
    with pytest.raises(KeyboardInterrupt):
        condense_into(tmp_path / "run", source, asked, Stops())
    return tmp_path / "run", source, asked


def test_a_run_of_another_version_does_not_go_on(begun, upgraded):
    folder, source, asked = begun
    upgraded()
    with pytest.raises(VersionError, match="install these versions, or choose another folder"):
        resume(folder, NoProgress())
    with pytest.raises(VersionError, match="choose another folder"):
        condense_into(folder, source, asked, NoProgress())


def test_a_plan_without_a_setting_that_is_new_goes_on(begun):
    folder, *_ = begun
    path = folder / "private" / "plan.json"
    document = json.loads(path.read_text())
    del document["plan"]["request"]["settings"]["curve"]["tolerance"]  # as if it were new, at its default
    document["sha256"] = identity_module.checksum_text(json.dumps(document["plan"], sort_keys=True))
    path.write_text(json.dumps(document))
    assert read_plan(folder)["name"].startswith("run-")
    assert resume(folder, NoProgress()).is_dir()


def test_all_methods_are_registered_under_their_own_name():
    assert all(METHODS[name].name == name for name in NAMES)
