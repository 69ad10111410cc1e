"""Small tables of results, as people read them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    import pandas as pd

NAMES = {
    "random": "random rows",
    "aliquot": "Aliquot",
    "full": "full data, fixed epochs",
    "full_best_epoch": "full data, best epoch",
}


def console(width: int = 0) -> Console:
    """Where results go, as they are: a name or path may hold what would be markup; at least so wide."""
    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False, width=max(width, Console().width))


def spread(metric: dict[str, float]) -> str:
    """Mean ± standard deviation.

    >>> spread({"mean": 0.7012, "std": 0.0049, "n": 10})
    '0.701 ± 0.005'
    """
    return f"{metric['mean']:.3f} ± {metric['std']:.3f}"


def results_table(metrics: dict[str, Any], *, sources: tuple[str, ...] = tuple(NAMES)) -> Table:
    """AUROC and AUPRC on held_out of networks trained on random rows, on Aliquot's and on everything."""
    from aliquot.release.report.facts import total

    networks = metrics["held_out"]["aliquot"]["auroc"]["n"]
    table = Table(title=f"Held-out patients, mean ± std of {networks} networks", title_justify="left")
    table.add_column("trained on")
    table.add_column("rows", justify="right")
    table.add_column("AUROC", justify="right")
    table.add_column("AUPRC", justify="right")
    small = metrics["rows_per_class"] * len(metrics["data"]["classes"])
    whole = total(metrics["data"]["train"])
    best = metrics["held_out"]["full_best_epoch"]["auprc"]["mean"]
    for source in sources:
        scores = metrics["held_out"][source]
        share = "" if source.startswith("full") else f"  ({scores['auprc']['mean'] / best:.0%} of full)"
        rows = whole if source.startswith("full") else f"{small:,}"
        table.add_row(NAMES[source], rows, spread(scores["auroc"]), spread(scores["auprc"]) + share)
    return table


def transfer_table(metrics: dict[str, Any]) -> Table:
    """AUPRC on held_out of other kinds of model."""
    table = Table(title="Other models, AUPRC on held-out patients", title_justify="left")
    for name in ("model", "random rows", "Aliquot", "full data"):
        table.add_column(name, justify="left" if name == "model" else "right")
    for model, scores in metrics["transfer"].items():
        table.add_row(model, *(f"{scores[source]['auprc']:.3f}" for source in ("random", "aliquot", "full")))
    return table


def networks_table(scores: "pd.DataFrame", count: int) -> Table:
    """AUROC and AUPRC on held_out of other networks, by what they were trained on."""
    table = Table(title=f"Held-out patients, mean ± std of {count} networks", title_justify="left")
    for name in ("network", "trained on", "AUROC", "AUPRC"):
        table.add_column(name, justify="right" if name.isupper() else "left")
    for _, line in scores.iterrows():
        shown = [f"{line[f'{m}_mean']:.3f} ± {line[f'{m}_std']:.3f}" for m in ("auroc", "auprc")]
        table.add_row(line["network"], NAMES[line["trained on"]], *shown)
    return table


def calibration_table(calibration: dict[str, Any]) -> Table:
    """Probabilities before and after the prior correction."""
    table = Table(title="Probabilities of networks trained on the rows", title_justify="left")
    for name in ("", "log-loss", "Brier score", "calibration slope"):
        table.add_column(name, justify="right" if name else "left")
    for when in ("before", "after"):
        scores = calibration[when]
        shown = (spread(scores[name]) for name in ("log_loss", "brier", "calibration_slope"))
        table.add_row(f"{when} prior correction", *shown)
    return table


def comparison_tables(table: "pd.DataFrame") -> Iterator[Table]:
    """One table per size, best AUPRC first; full data beside."""
    from aliquot.runs.compare import HEADS, blocks

    for title, lines in blocks(table):
        shown = Table(title=title, title_justify="left")
        for number, head in enumerate(HEADS):
            shown.add_column(head, justify="right" if number else "left")
        for line in lines:
            shown.add_row(*line)
        yield shown
