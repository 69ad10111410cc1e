"""A page as files: HTML, Markdown, CSV, LaTeX, and pictures as PNG and SVG."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aliquot.drafts import write_atomically
from aliquot.paper import figures
from aliquot.paper.page import Page
from aliquot.paper.tables import latex, markdown
from aliquot.release.report.comparison import Block, comparison_page
from aliquot.release.report.svg import drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}  # the same bytes whenever it is drawn


def write_page(folder: Path, page: Page, title: str, caption: Sequence[str], made: str, note: str) -> str:
    """Write the page into a folder, and return its Markdown.

    The caption is in Markdown and LaTeX, how it was ``made`` only in the former; the note is below every picture.
    """
    folder.mkdir(exist_ok=True)
    tables = [markdown(table).rstrip() for table in page.tables]
    shown = [f"![{' – '.join(figures.WORDS[name])}]({name}.png)" for name in page.pictures]
    text = "\n\n".join([f"# {title}", *caption, made, *tables, *shown]) + "\n"
    write_atomically(folder / "table.md", text.encode())
    write_atomically(folder / "table.csv", page.frame.to_csv(index=False).encode())
    printed = [
        latex(table, f"{table.title}. {' '.join(caption)}", f"{folder.name}-{number}")
        for number, table in enumerate(page.tables, 1)
    ]
    write_atomically(folder / "table.tex", "\n".join(printed).encode())
    draw(folder, page.pictures, note)
    write_atomically(folder / "table.html", as_html(page, title, caption, made, note).encode())
    return text


def as_html(page: Page, title: str, caption: Sequence[str], made: str, note: str) -> str:
    """The page as one HTML file that loads nothing from elsewhere; what the budget leaves out comes last."""
    blocks = []
    for table in page.tables:
        for part in table.blocks:
            notes = " ".join(table.notes) if part is table.blocks[-1] else ""
            blocks.append(Block(": ".join(filter(None, (table.title, part.title))), table.heads, part.lines, notes))
    with figures.style():
        shown = []
        for name, figure in page.pictures.items():
            what, seen = figures.WORDS[name]
            shown.append(
                drawing(figure, name=name, title=what, description=f"{seen} Numbers: table.csv.", caption=seen)
            )
    numbers = json.loads(page.frame.to_json(orient="records"))
    leaves_out, patients, *more = caption
    lead = f"{note.partition(',')[0].capitalize()}; what it leaves out is said at the end. {patients}"
    notes = [leaves_out, *more, made.replace("`", "")]
    return comparison_page(title, blocks, lead=lead, figures=shown, notes=notes, data=numbers)


def draw(folder: Path, pictures: "Mapping[str, Figure]", note: str) -> None:
    """Write every picture in every kind."""
    for name, figure in pictures.items():
        figures.noted(figure, note)
        for kind, metadata in KINDS.items():
            buffer = io.BytesIO()
            with figures.style():
                figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
            write_atomically(folder / f"{name}.{kind}", buffer.getvalue())
