"""One self-contained page about a condensation, and a short summary for notebooks.

The page is a list of sections; each has a template ``section_<key>.html``. A new section needs a line in
``SECTIONS``, its template and, where it shows pictures, functions in ``figures``. Everything on the page comes from the
release, so that ``aliquot report`` can write it again.
"""

from collections.abc import Callable
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from aliquot.release.condensation import Condensation
from aliquot.release.report import facts, snippets
from aliquot.release.report.checks import checks
from aliquot.release.report.tables import (
    calibration_table,
    class_table,
    distance_table,
    flat,
    subgroup_table,
    transfer_table,
)


class Section(NamedTuple):
    """A part of the page: its title, and whether the numbers of a release allow it; old ones lack some."""

    title: str
    is_there: Callable[[dict[str, Any]], bool] = lambda metrics: True


SECTIONS = {
    "learning": Section("How the rows were learned", lambda metrics: "learning" in metrics),
    "paths": Section("The paths that they follow", lambda metrics: bool(metrics.get("paths"))),
    "ranking": Section("ROC and precision-recall", lambda metrics: any((metrics.get("ranking") or {}).values())),
    "calibration": Section("How good the probabilities are"),
    "transfer": Section("Other kinds of models"),
    "subgroups": Section("For whom it works", lambda metrics: bool(metrics.get("subgroups"))),
    "features": Section("Real and synthetic values", lambda metrics: bool(metrics.get("features"))),
    "copying": Section("How near the rows are to patients", lambda metrics: bool(metrics.get("copying"))),
    "use": Section("How to train on the rows"),
    "making": Section("How the rows were made"),
    "cite": Section("How to cite"),
}
FIRST_COLUMNS = 12  # small figures that are open at once


def report(result: Condensation) -> str:
    """The report: one HTML file that loads nothing from elsewhere."""
    return environment().get_template("page.html").render(**_content(result), **_drawings(result.metrics))


def summary_html(result: Condensation) -> str:
    """A short fragment for notebooks: the headline numbers and the first rows in the source's units."""
    rows = result.readable.head().to_html(index=False, border=0, max_cols=12, float_format="{:g}".format)
    return environment().get_template("summary.html").render(**_content(result), rows=rows)


def environment() -> Environment:
    """Templates of this folder, every text escaped."""
    found = Environment(
        loader=PackageLoader("aliquot.release.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.policies["json.dumps_kwargs"] = {"allow_nan": False}
    found.filters |= {"total": facts.total, "spread": facts.spread, "count": facts.count, "percent": facts.percent}
    found.globals["css"] = files(__name__).joinpath("style.css").read_text("utf-8")
    return found


def _content(result: Condensation) -> dict[str, Any]:
    metrics = result.metrics
    subgroups = metrics.get("subgroups") or {}
    return {
        "result": result,
        "metrics": metrics,
        "sections": {key: section.title for key, section in SECTIONS.items() if section.is_there(metrics)},
        "method": facts.method(result),
        "headline": facts.headline(result),
        "verdict": facts.verdict(result),
        "compression": facts.compression(result),
        "origin": facts.origin(result),
        "title": facts.title(result),
        "kind": facts.kind(result).lower(),
        "offset": facts.offset(result),
        "real": facts.uses_real_rows(result),
        "checks": checks(result),
        "no_guarantee": facts.NO_GUARANTEE,
        "paper": facts.PAPER,
        "train": snippets.TRAIN,
        "class_table": class_table(result),
        "calibration_table": calibration_table(result),
        "transfer_table": transfer_table(result),
        "subgroup_tables": {column: subgroup_table(metrics, column) for column in subgroups},
        "distance_table": distance_table(metrics),
        "outside": metrics.get("outside_range"),
        "series": result.x.ndim == 3,
        "settings": flat(result.settings),
        "versions": flat(metrics["versions"]),
        "seconds": {stage: f"{time:,.1f} s" for stage, time in metrics.get("seconds", {}).items()},
        "storage": metrics.get("storage_bytes", {}),
        "first_columns": FIRST_COLUMNS,
    }


def _drawings(metrics: dict[str, Any]) -> dict[str, Any]:
    from aliquot.release.report import figures  # matplotlib is heavy, and summaries do without

    groups = enumerate(metrics.get("subgroups") or {})
    return {
        "score_figures": [figures.scores(metrics, metric) for metric in ("auprc", "auroc")],
        "learning_figures": _there(figures.tuning(metrics), figures.matching_loss(metrics)),
        "path_figures": _there(figures.path_loss(metrics), figures.plane(metrics)),
        "ranking_figures": _there(figures.roc(metrics), figures.precision_recall(metrics)),
        "calibration_figures": _there(figures.reliability(metrics)),
        "transfer_figures": _there(figures.transfer(metrics), figures.transfer(metrics, "auroc")),
        "subgroup_figures": {
            column: _there(*(figures.subgroups(metrics, column, number, metric) for metric in ("auprc", "auroc")))
            for number, column in groups
        },
        "column_figures": figures.column_figures(metrics),
        "distance_figures": _there(figures.distances(metrics)),
    }


def _there(*drawings: Any) -> list[Any]:
    return [drawing for drawing in drawings if drawing is not None]
