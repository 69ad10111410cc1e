"""What card, report and notebook summary all say: the same numbers and sentences, worded once."""

from collections.abc import Sequence
from typing import Any

from aliquot.cohort.wording import SMALL_COUNT
from aliquot.methods import REAL_STARTS, method_named
from aliquot.release.condensation import Condensation

FEW_PATIENTS = 100  # a class with fewer training patients earns a warning
FEWEST_LOOKS = 5  # at the tuning patients, to say what is noise

TRAINED_ON = {  # entries of metrics["held_out"], in the order in which they are shown
    "random": "Random real rows",
    "aliquot": "These rows (Aliquot)",
    "full": "All patients, fixed epochs",
    "full_best_epoch": "All patients, best epoch",
}
NO_GUARANTEE = (
    "No formal privacy guarantee. Condensing is not a privacy mechanism: the rows were made from patients, "
    "and published attacks recover membership and records from such rows. No audit was run. Treat the bundle "
    "as derived from patient data."
)
NOT_BETTER = "These rows did not train better networks than as many real rows drawn at random."
NO_SUBGROUPS = "Subgroups of patients were not scored: for whom the rows work less well was not measured."
PAPER = {
    "authors": "Nganjimi, P. C., Soltan, A., Belgrave, D., Clifton, L., Clifton, D. A. and Thakur, A.",
    "title": "Improving Clinical Dataset Condensation with Mode Connectivity-based Trajectory Surrogates",
    "year": "2025",
    "url": "https://arxiv.org/abs/2510.05805",
}


def is_small(number: int | str) -> bool:
    """Whether a count is too small to be printed; metrics hold such counts as ``"<10"`` already."""
    return isinstance(number, str) or number < SMALL_COUNT


def count(number: int | str) -> str:
    """A count of patients as it may be printed.

    >>> count(6373), count(7), count("<10")
    ('6,373', '<10', '<10')
    """
    return f"<{SMALL_COUNT}" if is_small(number) else f"{number:,}"


def total(numbers: Sequence[int | str]) -> str:
    """The sum of counts, worded so that a small one cannot be worked out from it.

    >>> total([4649, 1724]), total([4649, 3])
    ('6,373', 'at least 4,649')
    """
    known = [int(number) for number in numbers if not is_small(number)]
    return count(sum(known)) if len(known) == len(numbers) else f"at least {count(sum(known))}"


def spread(summary: Any, digits: int = 3) -> str:
    """A summary as mean ± standard deviation (repetitions), or a single number as it is.

    >>> spread({"mean": 0.7061, "std": 0.0042, "n": 10})
    '0.706 ± 0.004 (10)'
    """
    if summary is None:
        return "–"
    if not isinstance(summary, dict):
        return f"{summary:.{digits}f}"
    return f"{summary['mean']:.{digits}f} ± {summary['std']:.{digits}f} ({summary['n']})"


def percent(value: float, digits: int = 0) -> str:
    """A share as people write it.

    >>> percent(0.986, 1), percent(0.05)
    ('98.6 %', '5 %')
    """
    return f"{100 * value:.{digits}f} %"


def share(part: dict[str, Any], whole: dict[str, Any] | None, metric: str) -> str:
    """How much of the other's mean this one reaches, in per cent."""
    if not whole or not whole[metric]["mean"]:
        return "–"
    return percent(part[metric]["mean"] / whole[metric]["mean"], 1)


def method(result: Condensation) -> str:
    """The method's name in words."""
    return method_named(result.metrics["method"]).title


def headline(result: Condensation) -> list[dict[str, str]]:
    """One row per training set: its name, AUROC and AUPRC with spread, and their share of the honest bar."""
    held_out = result.metrics["held_out"]
    bar = held_out.get("full_best_epoch")
    return [
        {
            "key": key,
            "name": name,
            "auroc": spread(held_out[key]["auroc"]),
            "auprc": spread(held_out[key]["auprc"]),
            "auroc_share": share(held_out[key], bar, "auroc"),
            "auprc_share": share(held_out[key], bar, "auprc"),
        }
        for key, name in TRAINED_ON.items()
        if key in held_out
    ]


def compression(result: Condensation) -> str:
    """How many rows stand for how many patients, in one sentence."""
    return f"{len(result.x):,} rows stand for {total(result.metrics['data']['train'])} training patients."


def verdict(result: Condensation) -> str:
    """Does it train as well? The answer in a sentence or two, with the numbers."""
    held_out = result.metrics["held_out"]
    ours, bar, chance = held_out["aliquot"], held_out.get("full_best_epoch"), held_out.get("random")
    mean, std = (f"{ours['auprc'][name]:.3f}" for name in ("mean", "std"))
    text = f"Networks trained on these rows reach an AUPRC of {mean} ± {std} on held-out patients"
    if bar:
        text += f", {share(ours, bar, 'auprc')} of the {bar['auprc']['mean']:.3f} reached with all patients"
    if chance:
        text += f"; as many real rows drawn at random reach {chance['auprc']['mean']:.3f}"
    return text + "."


def offset(result: Condensation) -> str:
    """The constant that the calibration adds to log-odds; one per class where there are more than two."""
    value = result.recipe["calibration"]["logit_offset"]
    if isinstance(value, list):
        parts = (f"{name}: {_signed(part)}" for name, part in zip(result.classes, value, strict=True))
        return ", ".join(parts)
    return _signed(value)


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


BEGAN = {  # starts of rows that are no patients
    "gaussian": "a random draw, feature by feature, from a normal distribution with the mean and standard deviation of "
    "the training patients of its class",
    "kmeans": "the mean of a group of training patients of its class, which may be as few as two",
    "spread": "the mean of a group of training patients of its class, which may be as few as two, moved away from the "
    "mean of all patients",
    "noise": "random noise",
}


def origin(result: Condensation) -> str:
    """From where the rows come, said plainly."""
    metrics = result.metrics
    if are_patients(result):
        return "THESE ROWS ARE REAL PATIENTS: each row is the record of one training patient, as it was encoded."
    if uses_real_rows(result):
        return "THESE ROWS STARTED FROM REAL PATIENTS: each began as one training patient's record, then moved."
    if not method_named(metrics["method"]).uses_start:
        return "Each row is the mean of a group of training patients of its class, never of one alone."
    began = f"Each row began as {BEGAN[metrics.get('start', 'gaussian')]}; no row began as one patient's record."
    moved = metrics.get("tuning", {}).get("best_iteration", 1) != 0
    return began if moved else f"{began} Learning found nothing better on the tuning part: the rows are as they began."


def are_patients(result: Condensation) -> bool:
    """Whether the rows are real patients, who were selected."""
    return method_named(result.metrics["method"]).selects_rows


def title(result: Condensation) -> str:
    """What the rows are, as a heading."""
    return f"{kind(result)} for {result.target}"


def kind(result: Condensation) -> str:
    """What the rows are, in three words."""
    return "Selected real patients" if are_patients(result) else "Synthetic training set"


def uses_real_rows(result: Condensation) -> bool:
    """Whether the rows are, or started from, real patients."""
    learned = method_named(result.metrics["method"]).uses_start
    return bool(result.metrics.get("real_rows")) or (learned and result.settings.get("start") in REAL_STARTS)


def warnings(result: Condensation) -> list[str]:
    """What a reader must not miss, the most serious first."""
    metrics = result.metrics
    found = [origin(result)] if uses_real_rows(result) else []
    for name, patients in zip(result.classes, metrics["data"]["train"], strict=True):
        if are_few(patients):
            found.append(few_patients(name, patients))
    ours, chance = metrics["held_out"]["aliquot"], metrics["held_out"].get("random")
    if chance and metrics["method"] != "random" and ours["auprc"]["mean"] <= chance["auprc"]["mean"]:
        found.append(NOT_BETTER)
    noise = tuning_noise(metrics)
    if noise is not None:
        found.append(noise)
    found.append(NO_GUARANTEE)
    if not any("aliquot" in group for groups in metrics.get("subgroups", {}).values() for group in groups):
        found.append(NO_SUBGROUPS)
    return found


def are_few(patients: int | str) -> bool:
    """Whether a class has so few training patients that a reader must know."""
    return is_small(patients) or int(patients) < FEW_PATIENTS


def few_patients(name: object, patients: int | str) -> str:
    """What to say of a class of few patients."""
    return f"Class {name} has only {count(patients)} training patients; what was learned about it is uncertain."


def tuning_noise(metrics: dict[str, Any]) -> str | None:
    """A sentence where the chosen rows are no better on tuning than the middle of all looks, but for noise."""
    found = within_noise(metrics)
    return None if found is None else f"The choice of the rows is {found}."


def within_noise(metrics: dict[str, Any]) -> str | None:
    """The numbers of a choice that could be luck; None where it could not, or where there were too few looks."""
    learning = metrics.get("learning") or {}
    if len(learning.get("judged_at", ())) < FEWEST_LOOKS:
        return None
    scores = learning["tuning"]
    best = max(range(len(scores)), key=lambda look: scores[look])
    usual, spread = sorted(scores)[len(scores) // 2], learning["tuning_std"][best]
    if scores[best] - usual > spread:
        return None
    return (
        f"within the noise: {scores[best]:.3f} ± {spread:.3f} on tuning, the middle of {len(scores)} looks {usual:.3f}"
    )
