"""The page of each study, listed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from aliquot.paper.figures import style
from aliquot.paper.page import Page
from aliquot.paper.results import Found, reasons
from aliquot.paper.score_pages import methods_page, networks_page, starts_page, steps_page
from aliquot.paper.ways_pages import figure_1_page, storage_page, theorem_page

PAGES: dict[str, Callable[[str, Sequence[Found], Mapping[str, str]], Page]] = {
    "table-curial": methods_page,
    "table-icu": methods_page,
    "cross-architecture": networks_page,
    "initialisation": starts_page,
    "storage": storage_page,
    "inner-loop": steps_page,
    "figure-1": figure_1_page,
    "theorem": theorem_page,
}


def page_of(study: str, found: Sequence[Found], titles: Mapping[str, str]) -> Page:
    """The page of a study, with the reasons of cells that failed under its first table; titles are those of cohorts."""
    with style():
        page = PAGES[study](study, found, titles)
    first, *rest = page.tables
    return replace(page, tables=[replace(first, notes=[*first.notes, *reasons(found)]), *rest])
