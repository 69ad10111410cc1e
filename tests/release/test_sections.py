"""Sections of the report are found by being there: one module and one template."""

import dataclasses
import importlib
import json
import sys

import numpy as np
import pandas as pd
import pytest

import aliquot
from aliquot.cli import main
from aliquot.cohort import Part
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Results
from aliquot.release.bundle import read_release
from aliquot.release.report import checks, report, sections
from aliquot.release.report.section import Section
from aliquot.release.report.sections import all_sections
from aliquot.release.report.sections.transfer import some_patients, transfer_table

MODULE = '''
"""How far the rows reach."""

from dataclasses import dataclass

from aliquot.evaluate.record import Record
from aliquot.release.report.section import Check, Section


@dataclass(frozen=True)
class Reach(Record):
    smallest: float
    largest: float
    seen: tuple[str, ...]


@dataclass(frozen=True)
class Result(Record):
    reach: Reach | None = None


def measure(evidence):
    return Result(Reach(float(evidence.x.min()), float(evidence.x.max()), tuple(sorted(evidence.logits))))


def is_far(result):
    reach = SECTION.read(result.results).reach
    return [] if reach is None else [Check("Do they reach far?", "<Yes>.", heed=True, order=90, section="reach")]


SECTION = Section(
    key="reach",
    title="How far the rows reach",
    order=65,
    result=Result,
    measure=measure,
    is_there=lambda results: SECTION.read(results).reach is not None,
    content=lambda result: {"reach": SECTION.read(result.results).reach},
    checks=is_far,
)
'''
TEMPLATE = """\
{% from "macros.html" import table %}
<p id="reached">{{ reach.seen | join(" & ") }}: {{ "%.3f" | format(reach.largest) }} of {{ results.method }}</p>
{{ table([["a"], ["b"]], "Table") }}
"""
QUICK = {
    "network": {"hidden": [4]},
    "evaluation": {"final_networks": 2, "full_epochs": 2, "final_epochs": 2, "search_epochs": 1, "search_networks": 1},
}


@pytest.fixture(scope="module")
def reach(tmp_path_factory):
    """A section more, of somebody else."""
    folder = tmp_path_factory.mktemp("sections")
    (folder / "reach.py").write_text(MODULE)
    (folder / "reach.html").write_text(TEMPLATE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "__path__", [*sections.__path__, str(folder)])
        importlib.invalidate_caches()
        yield
    sys.modules.pop(f"{sections.__name__}.reach", None)


@pytest.fixture(scope="module")
def release(tmp_path_factory, reach):
    rng = np.random.default_rng(0)
    died = np.arange(300) % 2
    frame = pd.DataFrame({"lactate": rng.normal(size=300) + died, "age": rng.integers(20, 90, 300), "died": died})
    made = aliquot.condense(frame, "died", method="kmeans", rows_per_class=3, budget="smoke", settings=QUICK)
    return made.save(tmp_path_factory.mktemp("run") / "release")


def test_a_module_and_a_template_are_measured_written_read_back_and_shown(release, monkeypatch, capsys):
    written = json.loads((release / "metrics.json").read_text())["reach"]
    assert written["seen"] == ["aliquot", "full", "full_best_epoch", "random"]
    result = read_release(release)
    section = next(one for one in all_sections() if one.key == "reach")
    assert section.read(result.results).reach.largest == written["largest"]
    page = (release / "report.html").read_bytes()
    (release / "report.html").unlink()
    monkeypatch.setattr(sys, "argv", ["aliquot", "report", str(release)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None), capsys.readouterr().err
    assert (release / "report.html").read_bytes() == page
    text = page.decode()
    assert f"aliquot &amp; full &amp; full_best_epoch &amp; random: {written['largest']:.3f} of kmeans" in text
    assert '<h2 id="reach">How far the rows reach</h2>' in text
    assert text.index('id="transfer"') < text.index('id="reach"') < text.index('id="features"')
    assert '<a href="#reach">Do they reach far?</a>' in text
    assert "&lt;Yes&gt;" in text


def test_a_release_from_before_a_section_has_a_page_without_it(reach, two_classes):
    assert 'id="reach"' not in report(two_classes)
    assert "Do they reach far?" not in {check.question for check in checks(two_classes)}


def test_what_a_section_measured_is_kept_by_those_who_do_not_have_it(release, monkeypatch):
    before = (release / "metrics.json").read_text()
    monkeypatch.setattr(sections, "__path__", sections.__path__[:1])
    result = read_release(release)
    assert json.dumps(result.metrics, indent=2) + "\n" == before


def test_a_section_cannot_take_the_name_of_another_result(monkeypatch):
    taking = Section(key="mine", title="Mine", order=1, measure=lambda evidence: Record(further={"held_out": 1}))
    monkeypatch.setattr(sections, "all_sections", lambda: [taking])
    with pytest.raises(ValueError, match="'mine' measures \\['held_out'\\]"):
        sections.measure_sections(None)


def test_every_section_has_a_key_and_an_order_of_its_own(monkeypatch):
    monkeypatch.setattr(sections, "__path__", sections.__path__[:1])
    found = all_sections()
    assert len({section.order for section in found}) == len({section.key for section in found}) == len(found) == 11


def test_other_models_are_shown_with_what_they_were_trained_on(two_classes):
    table = transfer_table(two_classes.results)
    assert table[0][1:5] == [
        "AUPRC, random real rows",
        "AUPRC, these rows",
        "AUPRC, records around them",
        "AUPRC, all patients",
    ]
    by_model = {line[0]: line[1:5] for line in table[1:]}
    assert by_model["multilayer perceptron"] == ["0.600", "0.690", "0.695", "0.700"]
    assert by_model["k nearest neighbours"][2] == "–"
    text = " ".join(report(two_classes).split())
    assert "20,000 records were drawn around the rows" in text
    assert "Of all patients these models saw 20,000, drawn at random." in text


def test_results_of_before_have_no_records_around_the_rows(two_classes):
    old = two_classes.metrics
    del old["transfer_patients"], old["transfer_records"], old["transfer"]["multilayer perceptron"]
    for found in old["transfer"].values():
        found.pop("expanded", None)
    results = Results.from_json(old)
    assert results.to_json() == old
    assert not any("around" in name for name in transfer_table(results)[0])
    text = report(dataclasses.replace(two_classes, results=results))
    assert "drawn around the rows" not in " ".join(text.split())
    assert "drawn at random." not in text.split('id="transfer"')[1].split("</section>")[0]


def test_patients_beyond_the_cap_are_drawn_by_class():
    labels = np.repeat([0, 1, 2], [900, 99, 1])
    train = Part(np.arange(1000.0)[:, None], labels)
    some = some_patients(train, np.random.default_rng(0), 100)
    assert some.counts(3) == [90, 10, 1]
    assert (labels[some.x[:, 0].astype(int)] == some.labels).all()
    assert some_patients(train, np.random.default_rng(0), 1000) is train
    again = some_patients(train, np.random.default_rng(0), 100)
    np.testing.assert_array_equal(again.x, some.x)
