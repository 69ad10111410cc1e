"""Tables of the report as lists of text, header first."""

from typing import Any

from aliquot.release.condensation import Condensation
from aliquot.release.report.facts import count, percent, spread

CALIBRATION_MEASURES = {
    "log_loss": "log loss (low is good)",
    "brier": "Brier score (low is good)",
    "calibration_slope": "calibration slope (1 is good)",
}


def class_table(result: Condensation) -> list[list[str]]:
    """Rows and patients of each class."""
    data = result.metrics["data"]
    table = [["class", "rows", "training patients", "tuning patients", "held-out patients"]]
    for code, name in enumerate(result.classes):
        patients = [count(data[role][code]) for role in ("train", "tuning", "held_out")]
        table.append([str(name), str((result.codes == code).sum()), *patients])
    return table


def calibration_table(result: Condensation) -> list[list[str]]:
    """Quality of the probabilities before and after the offset."""
    before, after = (result.metrics["calibration"][key] for key in ("before", "after"))
    table = [["measure", "before the offset", "after the offset"]]
    for key, name in CALIBRATION_MEASURES.items():
        table.append([name, spread(before.get(key)), spread(after.get(key))])
    return table


def transfer_table(result: Condensation) -> list[list[str]]:
    """Scores of other models trained on random rows, on these rows and on all patients; may be empty."""
    transfer = result.metrics.get("transfer")
    if not transfer:
        return []
    sets = {"random": "random real rows", "aliquot": "these rows", "full": "all patients"}
    table = [["model", *(f"{metric}, {name}" for metric in ("AUPRC", "AUROC") for name in sets.values())]]
    for model, scores in transfer.items():
        cells = [spread(scores.get(key, {}).get(metric)) for metric in ("auprc", "auroc") for key in sets]
        table.append([model, *cells])
    return table


def subgroup_table(metrics: dict[str, Any], column: str) -> list[list[str]]:
    """Patients and scores of each group of a column; small groups without."""
    table = [
        ["group", "patients", "AUPRC, these rows", "AUPRC, all patients", "AUROC, these rows", "AUROC, all patients"]
    ]
    for group in metrics["subgroups"][column]:
        patients = group["patients"]
        cells = [
            spread(group[key][metric]) if key in group else "–"
            for metric in ("auprc", "auroc")
            for key in ("aliquot", "full_best_epoch")
        ]
        table.append([group["name"], "not shown" if patients is None else count(patients), *cells])
    return table


def distance_table(metrics: dict[str, Any]) -> list[list[str]]:
    """Quantiles of the distance to the nearest training patient; may be empty."""
    copying = metrics.get("copying")
    if not copying:
        return []
    quantiles = copying["quantiles"]
    table = [["share with a smaller distance", *(percent(level) for level in quantiles["levels"])]]
    for key, name in (("rows", "these rows"), ("held_out", "held-out patients")):
        table.append([name, *(f"{value:.3f}" for value in quantiles[key])])
    return table


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested settings as one level of dotted names.

    >>> flat({"start": "gaussian", "match": {"data_lr": 0.01}})
    {'start': 'gaussian', 'match.data_lr': '0.01'}
    """
    found: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return found
