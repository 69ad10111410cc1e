"""Tables as people read them: the same lines as Markdown and as LaTeX."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

UNKNOWN = "–"  # a number that is not at hand


@dataclass(frozen=True)
class Block:
    """Lines under a heading of their own, which may be empty."""

    title: str
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Table:
    """Blocks under common heads; the first column is text, the others numbers. Notes are sentences below."""

    title: str
    heads: Sequence[str]
    blocks: Sequence[Block]
    notes: Sequence[str] = ()


def number(value: float | None, form: str = ".3f") -> str:
    """A number as text; a missing one is a dash.

    >>> number(0.12345), number(None), number(float("nan"))
    ('0.123', '–', '–')
    """
    return UNKNOWN if value is None or value != value else f"{value:{form}}"


def spread(*values: float | None) -> str:
    """A mean and its spreads; what is missing is left out, and all is a dash where there is no mean.

    >>> spread(0.8, 0.01, None), spread(None, 0.1)
    ('0.800 ± 0.010', '–')
    """
    if number(values[0]) == UNKNOWN:
        return UNKNOWN
    return " ± ".join(text for text in map(number, values) if text != UNKNOWN)


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

    >>> print(latex(Table("T", ["a", "b"], [Block("", [["x_1", "5 %"]])]), "50 % & more", "t").splitlines()[7])
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
