"""One self-contained page about a condensation, and a short summary for notebooks.

The page is a list of sections; each has a template ``section_<key>.html``. A new section needs a line in
``SECTIONS``, its template and, where it shows pictures, functions in ``figures``.
"""

from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from aliquot.release.condensation import Condensation
from aliquot.release.report import facts, snippets
from aliquot.release.report.tables import calibration_table, class_table, flat, transfer_table

SECTIONS = {
    "learning": "How the rows were learned",
    "calibration": "How good the probabilities are",
    "transfer": "Other kinds of models",
    "use": "How to train on the rows",
    "making": "How the rows were made",
    "cite": "How to cite",
}


def report(result: Condensation) -> str:
    """The report: one HTML file that loads nothing from elsewhere."""
    return _environment().get_template("page.html").render(**_content(result), **_drawings(result))


def summary_html(result: Condensation) -> str:
    """A short fragment for notebooks: the headline numbers and the first rows in the source's units."""
    rows = result.readable.head().to_html(index=False, border=0, max_cols=12, float_format="{:g}".format)
    return _environment().get_template("summary.html").render(**_content(result), rows=rows)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("aliquot.release.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False}
    environment.filters |= {"total": facts.total, "spread": facts.spread}
    return environment


def _content(result: Condensation) -> dict[str, Any]:
    metrics = result.metrics
    return {
        "result": result,
        "metrics": metrics,
        "sections": SECTIONS,
        "css": files(__name__).joinpath("style.css").read_text("utf-8"),
        "method": facts.method(result),
        "headline": facts.headline(result),
        "verdict": facts.verdict(result),
        "compression": facts.compression(result),
        "origin": facts.origin(result),
        "title": facts.title(result),
        "offset": facts.offset(result),
        "real": facts.uses_real_rows(result),
        "warnings": facts.warnings(result),
        "paper": facts.PAPER,
        "train": snippets.TRAIN,
        "class_table": class_table(result),
        "calibration_table": calibration_table(result),
        "transfer_table": transfer_table(result),
        "series": result.x.ndim == 3,
        "settings": flat(result.settings),
        "versions": flat(metrics["versions"]),
        "seconds": {stage: f"{time:,.1f} s" for stage, time in metrics.get("seconds", {}).items()},
        "storage": metrics.get("storage_bytes", {}),
    }


def _drawings(result: Condensation) -> dict[str, Any]:
    from aliquot.release.report import figures  # matplotlib is heavy, and summaries do without

    learning = (figures.tuning(result), figures.matching_loss(result), figures.path_loss(result))
    return {
        "score_figures": [figures.scores(result, metric) for metric in ("auprc", "auroc")],
        "learning_figures": [figure for figure in learning if figure is not None],
        "calibration_figures": [figure for figure in (figures.reliability(result),) if figure is not None],
    }
