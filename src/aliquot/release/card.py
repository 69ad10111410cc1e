"""The dataset card: what the rows are, what they are worth, what could leak, and how to train on them."""

import json
import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from aliquot.cohort import SeriesEncoder
from aliquot.release.condensation import Condensation
from aliquot.release.report import facts, snippets
from aliquot.release.report.sections.calibration import calibration_table
from aliquot.release.report.sections.features import are_valid, outside_sentence
from aliquot.release.report.sections.learning import within_noise
from aliquot.release.report.sections.making import class_table
from aliquot.release.report.sections.subgroups import NO_SUBGROUPS, scored_groups
from aliquot.release.report.sections.transfer import transfer_in, transfer_table, weak_models

SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))  # as the Hub words them
MARKDOWN_SIGNS = re.compile(r"([\\`*_\[\]<>#|&!~$])")


def card(result: Condensation) -> str:
    """The card in Markdown, with the front matter that the Hugging Face Hub reads."""
    return _environment().get_template("card_template.md").render(**_content(result))


def plain(text: object) -> str:
    """Text that Markdown shows as it is, in one line.

    >>> print(plain("a_b <i>c</i>"))
    a\\_b \\<i\\>c\\</i\\>
    """
    return MARKDOWN_SIGNS.sub(r"\\\1", " ".join(str(text).split()))


def code(text: object) -> str:
    """Text as an inline code span, also inside a table; the fence is longer than any run of backticks in it.

    >>> print(code("x`y"))
    `` x`y ``
    """
    line = " ".join(str(text).split()).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{fence}{line}{fence}" if fence == "`" else f"{fence} {line} {fence}"


def markdown_table(table: list[list[str]]) -> str:
    """A table, header first, in Markdown.

    >>> print(markdown_table([["class", "rows"], ["died", "50"]]))
    | class | rows |
    |---|---|
    | died | 50 |
    """
    lines = ["| " + " | ".join(plain(cell) for cell in row) + " |" for row in table]
    return "\n".join([lines[0], "|---" * len(table[0]) + "|", *lines[1:]])


def _environment() -> Environment:
    environment = Environment(  # Markdown, not HTML: the template escapes names with the filters below
        loader=PackageLoader("aliquot.release", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "plain": plain,
        "code": code,
        "grid": markdown_table,
        "total": facts.total,
        "yaml": lambda text: json.dumps(str(text), ensure_ascii=False),  # a JSON string is a YAML string
    }
    return environment


def warnings(result: Condensation) -> list[str]:
    """What a reader must not miss, the most serious first."""
    results = result.results
    noise, classes = within_noise(results), zip(result.classes, results.data.train, strict=True)
    return [
        *([facts.origin(result)] if facts.uses_real_rows(result) else []),
        *(facts.few_patients(name, patients) for name, patients in classes if facts.are_few(patients)),
        *([] if facts.better_than_random(results) else [facts.NOT_BETTER]),
        *([] if noise is None else [f"The choice of the rows is {noise}."]),
        facts.NO_GUARANTEE,
        *([] if scored_groups(results) else [NO_SUBGROUPS]),
    ]


def _content(result: Condensation) -> dict[str, Any]:
    results, series = result.results, isinstance(result.encoder, SeriesEncoder)
    return {
        "result": result,
        "results": results,
        "size": next((words for limit, words in SIZES if len(result.x) < limit), "n>1M"),
        "method": facts.method(result),
        "headline": facts.headline(result),
        "verdict": facts.verdict(result),
        "compression": facts.compression(result),
        "scale": facts.scale(result),
        "offset": facts.offset(result),
        "correction": facts.correction(result),
        "origin": facts.origin(result),
        "last": facts.keeps_last(results),
        "title": facts.title(result),
        "outside": outside_sentence(result),
        "valid": are_valid(result),
        "are_patients": facts.are_patients(result),
        "real": facts.uses_real_rows(result),
        "warnings": warnings(result),
        "no_guarantee": facts.NO_GUARANTEE,
        "class_table": class_table(result),
        "calibration_table": calibration_table(results),
        "transfer_table": transfer_table(results),
        "models": list(transfer_in(results)),
        "weak": weak_models(results),
        "paper": facts.CITATION,
        "train": snippets.TRAIN_PROGRAM,
        "series": series,
        "encode": snippets.ENCODE_SERIES_PROGRAM if series else snippets.ENCODE_PROGRAM,
        "version": facts.aliquot_version(results),
    }
