import dataclasses
import json
import re
from html.parser import HTMLParser

import pytest

from aliquot.evaluate.results import Results
from aliquot.release.card import card, warnings
from aliquot.release.report import checks, report, summary_html
from aliquot.release.report.sections import all_sections

FORBIDDEN = ("anonym", "de-identif", "deidentif", "safe to", "private", "gdpr", "hipaa", "compliant")
LOADING = ("src", "srcset", "data", "action", "poster", "background")


class Page(HTMLParser):
    """Elements, ids and text of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements:
            tag = self.elements[-1][0]
            self.text[tag] = self.text.get(tag, "") + data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module")
def text(result) -> str:
    return report(result)


@pytest.fixture(scope="module")
def page(text) -> Page:
    return Page(text)


def test_loads_nothing_from_elsewhere(text, page):
    for tag, attrs in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "img")
        assert not set(attrs) & set(LOADING)
        for name in ("href", "xlink:href"):
            target = attrs.get(name) or "#"
            assert target.startswith("#") or (tag == "a" and target.startswith("https://arxiv.org/"))
    assert [script.get("type") for script in page.all("script")] == ["application/json"]
    assert not re.findall(r"url\((?!#)|@import|@font-face", text)


def test_numbers_are_embedded(result, page):
    assert page.all("script")[0]["id"] == "aliquot-metrics"
    assert json.loads(page.text["script"]) == result.metrics


def test_ids_are_unique_and_references_lead_somewhere(text, page):
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    wanted = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text)
    wanted += [(name, "") for _, attrs in page.elements for name in (attrs.get("aria-labelledby") or "").split()]
    assert {one or other for one, other in wanted} <= set(ids)


def test_every_figure_has_a_title_and_a_description(result, page):
    drawings = page.all("svg")
    scored = [sum("aliquot" in group for group in groups) for groups in result.metrics["subgroups"].values()]
    pairs = 5 + sum(count > 1 for count in scored)  # scores, learning, paths, ranking, transfer, columns of groups
    assert len(drawings) == 2 * pairs + 2 + len(result.metrics["features"])
    assert all(drawing["role"] == "img" for drawing in drawings)
    described = [attrs["id"] for _, attrs in page.elements if str(attrs.get("id")).endswith("-description")]
    assert len(described) == len(drawings)
    assert "these rows" in page.text["text"]  # real text, no outlines


def test_works_in_both_colour_schemes_and_for_print_and_phone(text):
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert 'name="viewport"' in text
    assert not re.findall(r"(?:fill|stroke): #", text)  # every colour of a figure follows the page


def test_every_section_is_there(page):
    keys = [section.key for section in all_sections()]
    assert [attrs["id"] for attrs in page.all("h2") if attrs["id"] in keys] == keys


def test_first_screen_answers(text):
    top = text.split("<nav")[0]
    for words in (
        "stand for",
        "AUPRC of 0.706 ± 0.007",
        "99.7 %",
        "No formal privacy guarantee",
        "For whom less well?",
        "Near copies?",
        "outside the patients&#39; range",
    ):
        assert words in top


def test_valid_rows_pass_the_check_of_values_and_others_are_counted(two_classes, change):
    def check(result):
        return next(one for one in checks(result) if one.question == "Plausible values?")

    counted = check(two_classes)
    assert counted.heed
    assert "numbers (" in counted.answer
    none = change(two_classes, {"outside_range": {"values": 0, "of": 900, "columns": {}}})
    assert check(none).answer.startswith("0 of 900 numbers")
    valid = change(none, {}, settings={**none.settings, "slots": {"valid": True}})
    assert not check(valid).heed
    assert check(valid).answer == "Yes: 0 cells lie outside the patients' range: every row is a valid record."
    assert "0 cells lie outside the patients' range" in card(valid)
    broken = change(two_classes, {}, settings=valid.settings)  # would be a mistake of ours; it is said
    assert check(broken).answer == counted.answer
    assert check(broken).heed


def test_warnings_that_matter(two_classes, change):
    text = report(change(two_classes, {"real_rows": True, "start": "real", "data.train": [1004, 60]}))
    assert "THESE ROWS STARTED FROM REAL PATIENTS" in text.split("<nav")[0]
    assert "Class 1 has only 60 training patients" in text
    worse = change(two_classes, {"held_out.random.auprc.mean": 0.8})
    assert any("did not train better networks" in warning for warning in warnings(worse))


def test_small_counts_are_not_printed(two_classes, change):
    text = report(change(two_classes, {"data.train": [1004, 7], "data.held_out": [215, 3]}))
    text = text.split('<script type="application/json"')[0]
    assert "at least 1,004 training patients" in text
    assert '<tr><th scope="row">1</th><td>20</td><td>&lt;10</td><td>84</td><td>&lt;10</td></tr>' in text
    assert "1,011" not in text


def test_claims_nothing_that_was_not_measured(text):
    assert not [word for word in FORBIDDEN if word in text.lower()]


def test_all_text_is_escaped(hostile):
    for text in (report(hostile), summary_html(hostile)):
        assert "&lt;b&gt;x&lt;/b&gt;" in text
        for mark in ("<b>", "<img", "</script><b>", "&amp;amp;amp"):
            assert mark not in text
    assert "$&lt;img src=x&gt;&amp;amp;" in report(hostile)  # of a group, in its table
    assert json.loads(Page(report(hostile)).text["script"]) == hostile.metrics


NEW = ("learning", "paths", "ranking", "subgroups", "features", "outside_range", "copying", "settings")


def test_a_release_from_before_lacks_sections_but_has_a_page(two_classes):
    old = {name: value for name, value in two_classes.metrics.items() if name not in NEW}
    text = report(dataclasses.replace(two_classes, results=Results.from_json(old), settings={}))
    shown = [section.key for section in all_sections() if f'id="{section.key}"' in text]
    assert shown == ["calibration", "transfer", "use", "making", "cite"]
    assert "Subgroups of patients were not scored" in text.split("<nav")[0]


def test_small_groups_and_those_that_give_them_away_are_hidden(two_classes, change):
    small = [
        {"name": "a", "patients": "<10"},
        {"name": "b", "patients": None},
        two_classes.metrics["subgroups"]["sex"][0],
    ]
    text = report(change(two_classes, {"subgroups": {"ward": small}}))
    assert '<th scope="row">a</th><td>&lt;10</td><td>–</td>' in text
    assert '<th scope="row">b</th><td>not shown</td><td>–</td>' in text


def test_a_choice_within_the_noise_is_said(two_classes, change):
    looks = {"judged_at": [0, 1, 2, 3, 4], "tuning": [0.7, 0.701, 0.7, 0.7, 0.699], "tuning_std": [0.01] * 5}
    assert "within the noise" in report(change(two_classes, {"learning": looks}))
    assert "within the noise" not in report(change(two_classes, {"learning": {**looks, "tuning_std": [1e-4] * 5}}))


def test_rows_that_copy_patients_must_be_heeded(two_classes, change):
    page = report(change(two_classes, {"copying.equal": 3, "copying.nearer": 3}))
    assert "3 of 40 rows equal a training patient" in page
    assert checks(two_classes)[-1].heed is False
    found = {check.question: check for check in checks(change(two_classes, {"copying.equal": 3}))}
    assert found["Near copies?"].heed


def test_deterministic(result, text):
    assert report(result) == text


def test_selected_rows_have_no_learning_curves(two_classes, change):
    metrics = {"method": "random", "real_rows": True, "tuning": {}, "transfer": {}, "storage_bytes": {}, "learning": {}}
    text = report(change(two_classes, metrics, history={}, curves=None))
    assert "Nothing was learned step by step." in text
    assert "THESE ROWS ARE REAL PATIENTS" in text.split("<nav")[0]
    assert Page(text).all("svg")[0]["aria-labelledby"].startswith("scores-")


def test_summary_shows_headline_and_first_rows(result):
    text = summary_html(result)
    assert "0.706 ± 0.007 (10)" in text
    assert "REAL PATIENTS" not in text
    assert text.count("<tr") == 5 + 6  # header and four sets; header and five rows
    assert "<script" not in text
    assert "<style" not in text
