"""The pages in a real browser, opened from disk on a phone, on a laptop and on paper.

Without Chromium these tests are skipped, unless ALIQUOT_BROWSER=required, as in CI.
"""

import dataclasses
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import aliquot
from aliquot.cohort.embedded import TARGET, support2_frame
from aliquot.evaluate.results import Results
from aliquot.release.report import report
from aliquot.release.report.comparison import ComparisonBlock, comparison_page
from aliquot.release.report.dots import method_scores
from aliquot.release.report.svg import canvas, drawing, styled

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
REQUIRED = os.environ.get("ALIQUOT_BROWSER") == "required"
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PHONE, LAPTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
QUICK = {
    "network": {"hidden": [8]},
    "expert": {"count": 2, "epochs": 3, "pilots": 1},
    "curve": {"steps": 50},
    "match": {"iterations": 12, "judge_every": 2, "student_steps": 3},
    "evaluation": {"final_networks": 2, "full_epochs": 4, "final_epochs": 20, "search_epochs": 5},
}

pytestmark = pytest.mark.skipif(CHROMIUM is None and not REQUIRED, reason="there is no Chromium")


@pytest.fixture(scope="session")
def measured():
    """A real run on the embedded cohort, small enough for a test."""
    asked = {"rows_per_class": 20, "budget": "smoke", "settings": QUICK, "subgroups": ["sex", "race"]}
    return aliquot.condense(support2_frame().head(4000), TARGET, **asked)


@pytest.fixture(scope="session")
def comparison() -> str:
    rng = np.random.default_rng(0)
    entries = [(name, float(score), 0.01) for name, score in zip("abcdefgh", rng.uniform(0.5, 0.7, 8), strict=True)]
    figures = [method_scores(f"{metric}-50", metric.upper(), entries, bar=0.71) for metric in ("auprc", "auroc")]
    with styled():
        wide, axes = canvas(width=12.5)
        axes.plot([0, 1], [1, 0])
        words = {"title": "Wide", "description": "A line falls.", "caption": "As wide as the page"}
        figures.append(drawing(wide, name="wide", **words))
    assert figures[-1].whole
    assert not figures[0].whole
    heads = ["method", "AUROC", "AUPRC", "of full", "behind the best", "seconds", "experts, s", "trajectories"]
    lines = [[name, f"{score:.3f} ± 0.010 ± 0.004", *["0.123 ± 0.004"] * 6] for name, score, _ in entries]
    return comparison_page(
        "Methods", [ComparisonBlock("50 rows", heads, lines)], figures=figures, notes=["A note."], data={"a": 1}
    )


@pytest.fixture(scope="session", params=["measured", "hostile", "three_classes", "before", "comparison"])
def page_file(request, tmp_path_factory) -> Path:
    """Pages on disk: of a run, with hostile names, of three classes, of an old release, of a comparison."""
    if request.param == "comparison":
        text = request.getfixturevalue("comparison")
    elif request.param == "before":
        text = report(_before(request.getfixturevalue("two_classes")))
    else:
        text = report(request.getfixturevalue(request.param))
    path = tmp_path_factory.mktemp("pages") / "report.html"
    path.write_text(text, "utf-8")
    return path


def _before(result):
    known = ("method", "rows_per_class", "seed", "versions", "data", "held_out", "calibration", "transfer")
    old = Results.from_json({name: result.metrics[name] for name in known})
    return dataclasses.replace(result, results=old, settings={})


@pytest.fixture(scope="session")
def browser():
    assert CHROMIUM is not None, "ALIQUOT_BROWSER=required, but there is no Chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def opened(browser, page_file):
    """Opens the page of a size in a colour scheme; whatever it asks for or complains about fails the test."""
    contexts, wrong = [], []

    def open_page(size, scheme="light"):
        context = browser.new_context(viewport=size, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.on("request", lambda asked: wrong.append(asked.url) if asked.url != page_file.as_uri() else None)
        page.goto(page_file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_nothing_scrolls_sideways(opened, size):
    page = opened(size)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    wide = """() => [...document.querySelectorAll('body *')].filter(one => !one.closest('.scroll, .skip, svg'))
        .filter(one => one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 200))"""
    assert page.evaluate(wide) == []


TEXTS = """() => {
    document.querySelectorAll('details').forEach(one => one.open = true);
    const found = [];
    for (const svg of document.querySelectorAll('svg')) {
        const frame = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll('text')].filter(one => one.textContent.trim());
        const boxes = texts.map(one => one.getBoundingClientRect());
        boxes.forEach((a, i) => {
            if (a.left < frame.left - 12 || a.right > frame.right + 12)
                found.push(`${texts[i].textContent} leaves ${svg.querySelector('title').textContent}`);
            boxes.slice(i + 1).forEach((b, j) => {
                const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (x > 1 && y > 2)
                    found.push(`${texts[i].textContent} | ${texts[i + 1 + j].textContent} in `
                        + svg.querySelector('title').textContent);
            });
        });
    }
    return found;
}"""


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_no_text_of_a_figure_overlaps_another(opened, size):
    assert opened(size).evaluate(TEXTS) == []


def test_every_figure_says_what_it_shows(opened):
    page = opened(LAPTOP)
    silent = """() => [...document.querySelectorAll('svg, img')].filter(one => {
        const named = (one.getAttribute('aria-labelledby') || '').split(' ').map(id => document.getElementById(id));
        const heard = named.length && named.every(part => part && part.textContent.trim());
        return one.tagName === 'IMG' ? !one.alt : !heard;
    }).length"""
    assert page.evaluate(silent) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_axe_finds_nothing_to_mend(opened, size, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(size, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = Axe().run(page).response
    said = [
        (rule["id"], rule["nodes"][0]["html"][:200], rule["nodes"][0]["failureSummary"]) for rule in found["violations"]
    ]
    assert said == []
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}


def test_everything_is_reached_by_keyboard(opened):
    page = opened(LAPTOP)
    wanted = page.evaluate("document.querySelectorAll('a[href], summary, [tabindex=\"0\"]').length")
    reached = set()
    for _ in range(wanted + 2):
        page.keyboard.press("Tab")
        place = page.evaluate(
            "[...document.querySelectorAll('a[href], summary, [tabindex=\"0\"]')].indexOf(document.activeElement)"
        )
        reached.add(place)
    assert reached - {-1} == set(range(wanted))


def test_details_open_by_keyboard_and_on_paper(opened):
    page = opened(LAPTOP)
    if not page.evaluate("!!document.querySelector('details')"):
        return
    inside = "document.querySelector('details').lastElementChild.checkVisibility({contentVisibilityAuto: true})"
    assert not page.evaluate(inside)
    page.focus("summary")
    page.keyboard.press("Enter")
    assert page.evaluate(inside)
    page.keyboard.press("Enter")
    page.emulate_media(media="print")
    assert page.evaluate("document.querySelector('details').lastElementChild.getBoundingClientRect().height") > 0


def test_it_prints(opened, tmp_path):
    page = opened(LAPTOP)
    page.pdf(path=tmp_path / "page.pdf", format="A4", prefer_css_page_size=True)
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 680, "height": 980})  # A4 within the margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    assert page.evaluate(TEXTS) == []


@pytest.mark.parametrize("page_file", ["measured"], indirect=True)
def test_the_numbers_are_those_of_the_release(opened, measured):
    assert json.loads(opened(LAPTOP).inner_text("#aliquot-metrics")) == measured.metrics


@pytest.mark.parametrize("page_file", ["measured"], indirect=True)
def test_the_first_screen_of_a_laptop_answers(opened):
    page = opened(LAPTOP)
    bottom = "document.querySelector('{}').getBoundingClientRect().bottom"
    assert page.evaluate(bottom.format(".first")) < LAPTOP["height"] * 0.6
    assert page.evaluate(bottom.format(".checks li:nth-child(4)")) < LAPTOP["height"]
