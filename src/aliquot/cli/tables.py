"""Small tables of results, as people read them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from aliquot.evaluate.other_models import ModelTransfer
    from aliquot.evaluate.results import Results, Scores, Summary

_SOURCES = {
    "random": "random rows",
    "aliquot": "Aliquot",
    "full": "full data, fixed epochs",
    "full_best_epoch": "full data, best epoch",
}


def console(width: int = 0) -> Console:
    """Where results go, as they are: a name or path may hold what would be markup; at least so wide."""
    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False, width=max(width, Console().width))


def mean_std(summary: "Summary | None") -> str:
    """Mean ± standard deviation.

    >>> from aliquot.evaluate.results import Summary
    >>> mean_std(Summary(0.7012, 0.0049, 10))
    '0.701 ± 0.005'
    """
    return "–" if summary is None else f"{summary.mean:.3f} ± {summary.std:.3f}"


def results_table(results: "Results", *, sources: tuple[str, ...] = tuple(_SOURCES)) -> Table:
    """AUROC and AUPRC on held_out of networks trained on random rows, on Aliquot's and on everything."""
    from aliquot.release.report.facts import total

    held_out = results.held_out
    table = Table(title=f"Held-out patients, mean ± std of {held_out.aliquot.auroc.n} networks", title_justify="left")
    table.add_column("trained on")
    table.add_column("rows", justify="right")
    table.add_column("AUROC", justify="right")
    table.add_column("AUPRC", justify="right", no_wrap=True)
    small = results.rows_per_class * len(results.data.classes)
    whole, best = total(results.data.train), held_out.full_best_epoch
    for source, scores in held_out.by_source().items():
        if source not in sources:
            continue
        full = source.startswith("full")
        share = "" if full or best is None else f"  ({scores.auprc.mean / best.auprc.mean:.0%} of full)"
        rows = whole if full else f"{small:,}"
        table.add_row(_SOURCES[source], rows, mean_std(scores.auroc), mean_std(scores.auprc) + share)
    return table


def models_table(models: "Mapping[str, ModelTransfer]") -> Table:
    """AUPRC on held_out of other kinds of model."""
    table = Table(title="Other models, AUPRC on held-out patients", title_justify="left")
    for name in ("model", "random rows", "Aliquot", "full data"):
        table.add_column(name, justify="left" if name == "model" else "right")
    for model, found in models.items():
        sets = (found.random, found.aliquot, found.full)
        table.add_row(model, *("–" if scores is None else f"{scores.auprc:.3f}" for scores in sets))
    return table


def networks_table(scores: "pd.DataFrame", count: int) -> Table:
    """AUROC and AUPRC on held_out of other networks, by what they were trained on."""
    table = Table(title=f"Held-out patients, mean ± std of {count} networks", title_justify="left")
    for name in ("network", "trained on", "AUROC", "AUPRC"):
        table.add_column(name, justify="right" if name.isupper() else "left")
    for _, line in scores.iterrows():
        shown = [f"{line[f'{m}_mean']:.3f} ± {line[f'{m}_std']:.3f}" for m in ("auroc", "auprc")]
        table.add_row(line["network"], _SOURCES[line["trained on"]], *shown)
    return table


def probabilities_table(before: "Scores", after: "Scores") -> Table:
    """Probabilities before and after the correction."""
    table = Table(title="Probabilities of networks trained on the rows", title_justify="left")
    for name in ("", "log-loss", "Brier score", "calibration slope"):
        table.add_column(name, justify="right" if name else "left")
    for when, scores in (("before", before), ("after", after)):
        shown = (mean_std(summary) for summary in (scores.log_loss, scores.brier, scores.calibration_slope))
        table.add_row(f"{when} correction", *shown)
    return table


def comparison_tables(table: "pd.DataFrame") -> Iterator[Table]:
    """One table per size, best AUPRC first; full data beside."""
    from aliquot.grid.compare import HEADS, blocks

    for title, lines in blocks(table):
        shown = Table(title=title, title_justify="left")
        for number, head in enumerate(HEADS):
            shown.add_column(head, justify="right" if number else "left")
        for line in lines:
            shown.add_row(*line)
        yield shown
