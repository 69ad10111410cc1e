"""A page about several methods in the style of the report: tables, pictures and notes in one self-contained file."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from aliquot.release.report import environment
from aliquot.release.report.svg import Drawing


class ComparisonBlock(NamedTuple):
    """A table with its title; the first cell of each line names it."""

    title: str
    heads: Sequence[str]
    lines: Sequence[Sequence[str]]
    note: str = ""


def comparison_page(
    title: str,
    blocks: Sequence[ComparisonBlock],
    *,
    lead: str = "",
    figures: Sequence[Drawing] = (),
    notes: Sequence[str] = (),
    data: Any = None,
) -> str:
    """One HTML file that loads nothing from elsewhere, with a table for each block.

    Parameters
    ----------
    title, lead
        The heading, and a sentence below it.
    blocks
        Tables: title, heads and lines of plain text, all of which is escaped.
    figures
        Pictures, shown before the tables. Make them with :func:`aliquot.release.report.dots.method_scores` or, from
        a figure of matplotlib drawn within :func:`~aliquot.release.report.svg.styled`, with
        :func:`~aliquot.release.report.svg.drawing`; names must be unique on the page. Their SVG is not escaped.
    notes
        What a reader must know: how the numbers came about, what failed, what was not tried.
    data
        The numbers, as anything that JSON can hold; embedded as the block ``aliquot-comparison``.

    Examples
    --------
    >>> block = ComparisonBlock("50 rows per class", ["method", "AUPRC"], [["btm", "0.690"]])
    >>> page = comparison_page("Methods", [block])
    >>> page.count("<table>"), "<script" in page
    (1, False)
    """
    return (
        environment()
        .get_template("comparison.html")
        .render(
            title=title,
            lead=lead,
            blocks=list(blocks),
            drawings=list(figures),
            notes=list(notes),
            data=data,
        )
    )
