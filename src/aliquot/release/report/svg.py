"""Figures as inline SVG: real text, colours of the page, names that screen readers speak, no clashing ids."""

import html
import io
import re
import warnings
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WHOLE = 7 * 72  # points: figures that are wider take the width of the page


class Colour(StrEnum):
    """Colours to draw with.

    They are stand-ins: each is replaced by a variable of the page's style sheet, so that one figure reads well on
    white, on black and on paper.
    """

    INK = "#000001"
    FAINT = "#000002"
    OURS = "#000003"
    RANDOM = "#000004"
    FULL = "#000005"
    BEST = "#000006"
    REAL = "#000007"
    EXPANDED = "#000008"

    @property
    def variable(self) -> str:
        """The variable of the style sheet."""
        return f"var(--{self.name.lower()})"


_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "aliquot",  # the same ids in every run
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same layout on every machine
    "font.size": 9,
    "text.color": Colour.INK.value,
    "text.parse_math": False,  # a name may hold dollar signs
    "axes.edgecolor": Colour.FAINT.value,
    "axes.labelcolor": Colour.INK.value,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "grid.color": Colour.FAINT.value,
    "grid.alpha": 0.22,
    "grid.linewidth": 0.7,
    "xtick.color": Colour.INK.value,
    "ytick.color": Colour.INK.value,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handlelength": 1.8,
}


@dataclass(frozen=True)
class Drawing:
    """A figure ready for the page."""

    svg: str
    caption: str
    whole: bool = False  # takes the width of the page, and is moved sideways where that is too narrow


def drawn(*figures: Drawing | None) -> list[Drawing]:
    """The figures for which there was something to draw."""
    return [figure for figure in figures if figure is not None]


def canvas(width: float = 4.4, height: float = 2.9) -> "tuple[Figure, Axes]":
    """An empty figure (inches) that fits a phone; call it within :func:`styled`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def styled():
    """The context in which figures are made and written."""
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def drawing(figure: "Figure", *, name: str, title: str, description: str, caption: str) -> Drawing:
    """The figure as inline SVG; ``name`` is unique on the page, ``description`` says what one sees."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the page's font draws the letters that matplotlib's lacks
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    body = text[text.index("<defs>") : text.rindex("</svg>")]  # without prologue, metadata and <svg>
    body = re.sub(r"<style.*?</style>", "", body, count=1, flags=re.DOTALL)
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", body)
    body = re.sub(r"font-family: [^;\"]*;?", "", body)
    for colour in Colour:
        body = body.replace(colour, colour.variable)
    width, height = figure.get_size_inches() * 72
    svg = framed(body, name=name, size=(width, height), title=title, description=description)
    return Drawing(svg, caption, whole=bool(width > WHOLE))


def framed(body: str, *, name: str, size: tuple[float, float], title: str, description: str) -> str:
    """The inside of a figure as a whole ``<svg>`` with the names that screen readers speak."""
    labels = f"{name}-title {name}-description"
    return (
        f'<svg viewBox="0 0 {size[0]:g} {size[1]:g}" role="img" aria-labelledby="{labels}">'
        f'<title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-description">{html.escape(description)}</desc>{body}</svg>'
    )
