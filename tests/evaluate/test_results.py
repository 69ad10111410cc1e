"""Results and what sections measure: exact round trips through JSON, and documents of other versions."""

import dataclasses
import json
import types
from collections.abc import Mapping
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aliquot.evaluate.record import Record
from aliquot.evaluate.results import KEYS, HeldOut, Results, Scores, Summary, Tuning
from aliquot.release.report.sections import all_sections

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
PLAIN = {
    Any: JSON,
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: st.text(max_size=5),
    bool: st.booleans(),
    type(None): st.none(),
}


def values(hint) -> st.SearchStrategy:
    """Values of a type that a record may hold."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        return st.one_of(*map(values, inner))
    if kind is tuple:
        return st.lists(values(inner[0]), max_size=2).map(tuple)
    if kind is Mapping:
        return st.dictionaries(st.text(max_size=5), values(inner[1]), max_size=2)
    return PLAIN[hint] if hint in PLAIN else records(hint)


def records(kind: type[Record]) -> st.SearchStrategy:
    hints = get_type_hints(kind)
    own = {name: values(hint) for name, hint in hints.items() if name != "further"}
    further = st.dictionaries(st.text(max_size=5).filter(lambda name: name not in hints), JSON, max_size=2)
    return st.builds(kind, **own, further=further)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(records(Results))
def test_results_come_back_as_they_were(results):
    document = results.to_json()
    assert Results.from_json(document) == results
    assert Results.from_json(json.loads(json.dumps(document))) == results
    assert json.loads(json.dumps(document)) == document


@pytest.mark.parametrize("section", [one for one in all_sections() if one.measure], ids=lambda section: section.key)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_a_section_measures_comes_back_as_it_was(section, data):
    measured = data.draw(records(section.result).map(lambda found: dataclasses.replace(found, further={})))
    document = json.loads(json.dumps(measured.to_json()))
    assert section.result.from_json(document) == measured


SCORE = {"mean": 0.7, "std": 0.01, "n": 10}
OLD = {
    "method": "btm",
    "rows_per_class": 5,
    "seed": 0,
    "versions": {},
    "data": {
        "patients": 900,
        "columns": 3,
        "features": 4,
        "classes": ["0", "1"],
        "prevalence": [0.9, 0.1],
        "train": [700, "<10"],
        "tuning": [90, 20],
        "held_out": [90, 20],
    },
    "held_out": {"aliquot": {"auroc": SCORE, "auprc": SCORE}},
}


def test_what_an_old_document_lacks_is_none_and_stays_absent():
    results = Results.from_json(OLD)
    assert (results.tuning, results.notes, results.held_out.random, results.data.licence) == (None,) * 4
    assert results.data.train == (700, "<10")
    assert results.held_out == HeldOut(Scores(Summary(0.7, 0.01, 10), Summary(0.7, 0.01, 10)))
    assert json.dumps(results.to_json()) == json.dumps(OLD)


def test_empty_is_not_absent():
    document = {**OLD, "notes": [], "tuning": {}, "seconds": {}, "copying": None, "paths": {}}
    results = Results.from_json(document)
    assert (results.notes, results.tuning, results.seconds) == ((), Tuning(), {})
    assert results.to_json() == document


def test_keys_of_newer_versions_are_kept_at_every_level():
    document = {**OLD, "novelty": [1, {"a": None}], "data": {**OLD["data"], "hospitals": 3}}
    results = Results.from_json(document)
    assert results.further == {"novelty": [1, {"a": None}]}
    assert results.data.further == {"hospitals": 3}
    assert results.to_json() == document
    assert list(results.to_json())[-1] == "novelty"


def test_keys_are_written_in_one_order():
    document = dict.fromkeys(reversed(KEYS)) | {**OLD, "notes": [], "settings": {}}
    written = list(Results.from_json({name: value for name, value in document.items() if value is not None}).to_json())
    assert written == [name for name in KEYS if name in written]


def test_a_document_without_what_every_release_has_is_refused():
    with pytest.raises(ValueError, match="'held_out'"):
        Results.from_json({name: value for name, value in OLD.items() if name != "held_out"})


def test_changing_the_document_does_not_change_the_results():
    results = Results.from_json({**OLD, "copying": {"equal": 0}})
    results.to_json()["copying"]["equal"] = 1
    assert results.to_json()["copying"]["equal"] == 0
