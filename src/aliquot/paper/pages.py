"""The page of a study: tables, the numbers behind them and pictures, as Markdown, LaTeX, HTML, CSV, PNG and SVG."""

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from aliquot.drafts import write_atomically
from aliquot.paper.figures import PICTURE_WORDS, add_note, picture_style
from aliquot.release.report.comparison import ComparisonBlock, comparison_page
from aliquot.release.report.svg import Drawing, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNKNOWN = "–"  # a number that is not at hand
_PICTURE_METADATA = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}  # the same bytes at any time


@dataclass(frozen=True)
class TableBlock:
    """Lines under a heading of their own, which may be empty."""

    title: str
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Table:
    """Blocks under common heads; the first column is text, the others numbers. Notes are sentences below."""

    title: str
    heads: Sequence[str]
    blocks: Sequence[TableBlock]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    """Tables, the numbers behind them, and pictures by name."""

    tables: Sequence[Table]
    frame: pd.DataFrame
    pictures: "Mapping[str, Figure]" = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Caption:
    """What a reader must know about the numbers of a page."""

    title: str
    budget: str
    reductions: str  # how the budget falls short of the paper
    patients: str  # whose they are, and how many seeds
    further: Sequence[str]  # what else is known of the paper's numbers
    made: str  # how, when and with which versions
    note: str  # below every picture

    @property
    def sentences(self) -> list[str]:
        """What stands above the tables."""
        return [self.reductions, self.patients, *self.further]


def number(value: float | None, form: str = ".3f") -> str:
    """A number as text; a missing one is a dash.

    >>> number(0.12345), number(None), number(float("nan"))
    ('0.123', '–', '–')
    """
    return UNKNOWN if value is None or value != value else f"{value:{form}}"


def mean_and_spreads(mean: float | None, *spreads: float | None) -> str:
    """A mean and its spreads; what is missing is left out, and all is a dash where there is no mean.

    >>> mean_and_spreads(0.8, 0.01, None), mean_and_spreads(None, 0.1)
    ('0.800 ± 0.010', '–')
    """
    if number(mean) == UNKNOWN:
        return UNKNOWN
    return " ± ".join(text for text in map(number, (mean, *spreads)) if text != UNKNOWN)


def markdown(table: Table) -> str:
    """The table as Markdown: a heading, one table per block, and the notes."""
    texts = [f"### {table.title}"]
    rule = ["---", *["--:"] * (len(table.heads) - 1)]
    for block in table.blocks:
        lines = [_bar([_cell(text) for text in line]) for line in block.lines]
        texts += [f"**{block.title}**"] if block.title else []
        texts.append("\n".join([_bar(table.heads), _bar(rule), *lines]))
    return "\n\n".join([*texts, *table.notes]) + "\n"


def _bar(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def latex(table: Table, caption: str, label: str) -> str:
    r"""The table for a paper that loads ``booktabs``; characters that mean something to LaTeX are escaped.

    >>> print(latex(Table("T", ["a", "b"], [TableBlock("", [["x_1", "5 %"]])]), "50 % & more", "t").splitlines()[7])
    x\_1 & 5 \% \\
    """
    columns = "l" + "r" * (len(table.heads) - 1)
    lines = [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{escaped(caption)}}}\label{{tab:{label}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row(table.heads),
        *_rows(table),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {escaped(note)}" for note in table.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _rows(table: Table) -> Iterator[str]:
    for block in table.blocks:
        yield r"\midrule"
        if block.title:
            yield rf"\multicolumn{{{len(table.heads)}}}{{l}}{{\emph{{{escaped(block.title)}}}}} \\"
        yield from (_row(line) for line in block.lines)


def _row(texts: Sequence[str]) -> str:
    return " & ".join(map(escaped, texts)) + r" \\"


_SIGNS = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"±": r"$\pm$", "×": r"$\times$", "κ": r"$\kappa$", "<": "$<$", ">": "$>$", "≥": r"$\ge$", "·": r"$\cdot$"},
    **{"–": "--", "…": r"\dots{}", "“": "``", "”": "''", "−": "$-$"},
}


def escaped(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> print(escaped("50 % of κ_1 {a\\b}"))
    50 \% of $\kappa$\_1 \{a\textbackslash{}b\}
    """
    return re.sub("|".join(map(re.escape, _SIGNS)), lambda sign: _SIGNS[sign.group()], text)


def write_page(folder: Path, page: Page, caption: Caption) -> str:
    """Write the page into a folder, and return its Markdown; how it was made is not in LaTeX."""
    folder.mkdir(exist_ok=True)
    text = as_markdown_page(page, caption)
    write_atomically(folder / "table.md", text.encode())
    write_atomically(folder / "table.csv", page.frame.to_csv(index=False).encode())
    printed = [
        latex(table, f"{table.title}. {' '.join(caption.sentences)}", f"{folder.name}-{place}")
        for place, table in enumerate(page.tables, 1)
    ]
    write_atomically(folder / "table.tex", "\n".join(printed).encode())
    write_pictures(folder, page.pictures, caption.note)
    write_atomically(folder / "table.html", as_html_page(page, caption).encode())
    return text


def as_markdown_page(page: Page, caption: Caption) -> str:
    """The whole page as Markdown; pictures are links."""
    tables = [markdown(table).rstrip() for table in page.tables]
    pictures = [f"![{' – '.join(PICTURE_WORDS[name])}]({name}.png)" for name in page.pictures]
    return "\n\n".join([f"# {caption.title}", *caption.sentences, caption.made, *tables, *pictures]) + "\n"


def as_html_page(page: Page, caption: Caption) -> str:
    """The page as one HTML file that loads nothing from elsewhere; what the budget leaves out comes last."""
    blocks = []
    for table in page.tables:
        for part in table.blocks:
            notes = " ".join(table.notes) if part is table.blocks[-1] else ""
            blocks.append(
                ComparisonBlock(": ".join(filter(None, (table.title, part.title))), table.heads, part.lines, notes)
            )
    with picture_style():
        figures = [_drawing(name, figure) for name, figure in page.pictures.items()]
    return comparison_page(
        caption.title,
        blocks,
        lead=f"Budget {caption.budget}; what it leaves out is said at the end. {caption.patients}",
        figures=figures,
        notes=[caption.reductions, *caption.further, caption.made.replace("`", "")],
        data=json.loads(page.frame.to_json(orient="records")),
    )


def _drawing(name: str, figure: "Figure") -> Drawing:
    title, seen = PICTURE_WORDS[name]
    return drawing(figure, name=name, title=title, description=f"{seen} Numbers: table.csv.", caption=seen)


def write_pictures(folder: Path, pictures: "Mapping[str, Figure]", note: str) -> None:
    """Write every picture as PNG and SVG."""
    for name, figure in pictures.items():
        add_note(figure, note)
        for form, metadata in _PICTURE_METADATA.items():
            buffer = io.BytesIO()
            with picture_style():
                figure.savefig(buffer, format=form, dpi=150, metadata=metadata)
            write_atomically(folder / f"{name}.{form}", buffer.getvalue())
