"""What card, report and notebook summary all say: the same numbers and sentences, worded once."""

from collections.abc import Sequence
from typing import Any

from aliquot.disclosure import FEW, SUPPORT
from aliquot.evaluate.calibration import Correction
from aliquot.evaluate.results import Results, Scores, Summary
from aliquot.methods import REAL_STARTS
from aliquot.release.condensation import Condensation

FEW_PATIENTS = 100  # a class with fewer training patients earns a warning

SOURCE_NAMES = {  # what networks were trained on
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
CITATION = {
    "authors": "Nganjimi, P. C., Soltan, A., Belgrave, D., Clifton, L., Clifton, D. A. and Thakur, A.",
    "title": "Improving Clinical Dataset Condensation with Mode Connectivity-based Trajectory Surrogates",
    "year": "2025",
    "url": "https://arxiv.org/abs/2510.05805",
}


def is_small(number: int | str) -> bool:
    """Whether a count is too small to be printed; metrics hold such counts as ``"<10"`` already."""
    return isinstance(number, str) or number < SUPPORT


def count(number: int | str) -> str:
    """A count of patients as it may be printed.

    >>> count(6373), count(7), count("<10")
    ('6,373', '<10', '<10')
    """
    return FEW if is_small(number) else f"{number:,}"


def total(numbers: Sequence[int | str]) -> str:
    """The sum of counts, worded so that a small one cannot be worked out from it.

    >>> total([4649, 1724]), total([4649, 3])
    ('6,373', 'at least 4,649')
    """
    known = [int(number) for number in numbers if not is_small(number)]
    return count(sum(known)) if len(known) == len(numbers) else f"at least {count(sum(known))}"


def mean_std_n(summary: Summary | None) -> str:
    """A summary as mean ± standard deviation (networks).

    >>> mean_std_n(Summary(0.7061, 0.0042, 10)), mean_std_n(None)
    ('0.706 ± 0.004 (10)', '–')
    """
    return "–" if summary is None else f"{summary.mean:.3f} ± {summary.std:.3f} ({summary.n})"


def three_digits(value: float | None) -> str:
    """A single score.

    >>> three_digits(0.70612), three_digits(None)
    ('0.706', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def percent(value: float, digits: int = 0) -> str:
    """A share as people write it.

    >>> percent(0.986, 1), percent(0.05)
    ('98.6 %', '5 %')
    """
    return f"{100 * value:.{digits}f} %"


def share_of(whole: Scores | None, part: Scores, metric: str) -> str:
    """How much of the other's mean this one reaches, in per cent."""
    means = [0.0 if scores is None else getattr(scores, metric).mean for scores in (part, whole)]
    return percent(means[0] / means[1], 1) if means[1] else "–"


def method(result: Condensation) -> str:
    """The method's name in words."""
    return result.results.method_facts.title


def aliquot_version(results: Results) -> str:
    """The version of Aliquot that made the rows; may be empty."""
    return results.versions.get("aliquot", "")


def headline(result: Condensation) -> list[dict[str, str]]:
    """One row per training set: its name, AUROC and AUPRC with spread, and their share of the honest bar."""
    held_out = result.results.held_out
    bar = held_out.full_best_epoch
    return [
        {
            "key": key,
            "name": SOURCE_NAMES[key],
            "auroc": mean_std_n(scores.auroc),
            "auprc": mean_std_n(scores.auprc),
            "auroc_share": share_of(bar, scores, "auroc"),
            "auprc_share": share_of(bar, scores, "auprc"),
        }
        for key, scores in held_out.by_source().items()
    ]


def compression(result: Condensation) -> str:
    """How many rows stand for how many patients, in one sentence."""
    return f"{len(result.x):,} rows stand for {total(result.results.data.train)} training patients."


def verdict(result: Condensation) -> str:
    """Does it train as well? The answer in a sentence or two, with the numbers."""
    held_out = result.results.held_out
    ours, bar, chance = held_out.aliquot, held_out.full_best_epoch, held_out.random
    text = f"Networks trained on these rows reach an AUPRC of {ours.auprc.mean:.3f} ± {ours.auprc.std:.3f}"
    text += " on held-out patients"
    if bar:
        text += f", {share_of(bar, ours, 'auprc')} of the {bar.auprc.mean:.3f} reached with all patients"
    if chance:
        text += f"; as many real rows drawn at random reach {chance.auprc.mean:.3f}"
    return text + "."


def better_than_random(results: Results) -> bool:
    """Whether the rows train better networks than as many random patients, or were drawn at random themselves."""
    held_out = results.held_out
    if held_out.random is None or results.method == "random":
        return True
    return held_out.aliquot.auprc.mean > held_out.random.auprc.mean


def scale(result: Condensation) -> str:
    """The factor by which the calibration multiplies log-odds."""
    return f"{Correction.of_recipe(result.recipe['calibration']).scale:.3f}"


def offset(result: Condensation) -> str:
    """The constant that the calibration adds to log-odds; one per class where there are more than two."""
    value = Correction.of_recipe(result.recipe["calibration"]).offset
    if isinstance(value, tuple):
        parts = (f"{name}: {_signed(part)}" for name, part in zip(result.classes, value, strict=True))
        return ", ".join(parts)
    return _signed(value)


def correction(result: Condensation) -> str:
    """What the calibration does to predictions, in plain words."""
    factor, added = float(scale(result)), Correction.of_recipe(result.recipe["calibration"]).offset
    differ = "more" if factor > 1 else "less" if factor < 1 else "as much as before"
    scaled = f"The scale lets predictions differ {differ} between patients."
    if isinstance(added, tuple):
        return f"{scaled} The larger the offset of a class, the more likely its predictions become."
    moves = "raises" if added > 0 else "lowers"
    return f"{scaled} The offset {moves} every predicted probability of class {result.classes[-1]}."


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


_BEGAN = {  # starts of rows that are no patients
    "gaussian": "a random draw, feature by feature, from a normal distribution with the mean and standard deviation of "
    "the training patients of its class",
    "kmeans": "the mean of a group of training patients of its class (of at least ten)",
    "spread": "the mean of a group of training patients of its class (of at least ten), "
    "moved away from the mean of all patients",
    "noise": "random noise",
}


def origin(result: Condensation) -> str:
    """From where the rows come, said plainly."""
    results = result.results
    if are_patients(result):
        return "THESE ROWS ARE REAL PATIENTS: each row is the record of one training patient, as it was encoded."
    if uses_real_rows(result):
        return "THESE ROWS STARTED FROM REAL PATIENTS: each began as one training patient's record, then moved."
    about = results.method_facts
    if not about.uses_start:
        return about.origin or f"The rows were made from training patients by {about.title}."
    began = f"Each row began as {_BEGAN[results.start or 'gaussian']}; no row began as one patient's record."
    moved = results.tuning is None or results.tuning.best_iteration != 0
    return began if moved else f"{began} Learning found nothing better on the tuning part: the rows are as they began."


def are_patients(result: Condensation) -> bool:
    """Whether the rows are real patients, who were selected."""
    return result.results.method_facts.selects_rows


def title(result: Condensation) -> str:
    """What the rows are, as a heading."""
    return f"{kind(result)} for {result.target}"


def kind(result: Condensation) -> str:
    """What the rows are, in three words."""
    return "Selected real patients" if are_patients(result) else "Synthetic training set"


def uses_real_rows(result: Condensation) -> bool:
    """Whether the rows are, or started from, real patients."""
    learned = result.results.method_facts.uses_start
    return bool(result.results.real_rows) or (learned and result.settings.get("start") in REAL_STARTS)


def are_few(patients: int | str) -> bool:
    """Whether a class has so few training patients that a reader must know."""
    return is_small(patients) or int(patients) < FEW_PATIENTS


def few_patients(name: object, patients: int | str) -> str:
    """What to say of a class of few patients."""
    return f"Class {name} has only {count(patients)} training patients; what was learned about it is uncertain."


def slot(results: Results, name: str) -> Any:
    """What a method put into a slot of the one loop; None in old releases and of methods that have none."""
    return (results.settings or {}).get("slots", {}).get(name)


def keeps_last(results: Results) -> bool:
    """Whether the rows are those after the last iteration, so that nothing was chosen on tuning."""
    return slot(results, "keep") == "last"
