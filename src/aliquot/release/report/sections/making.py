"""How the rows were made: method, start, classes, settings, versions and time."""

from collections.abc import Mapping
from typing import Any

from aliquot.release.condensation import Condensation
from aliquot.release.report import facts
from aliquot.release.report.section import Check, Section


def class_table(result: Condensation) -> list[list[str]]:
    """Rows and patients of each class."""
    data = result.results.data
    table = [["class", "rows", "training patients", "tuning patients", "held-out patients"]]
    for code, name in enumerate(result.classes):
        patients = [facts.count(part[code]) for part in (data.train, data.tuning, data.held_out)]
        table.append([str(name), str((result.codes == code).sum()), *patients])
    return table


def _content(result: Condensation) -> dict[str, Any]:
    results = result.results
    return {
        "method": facts.method(result),
        "origin": facts.origin(result),
        "classes": class_table(result),
        "settings": _flat(result.settings),
        "seconds": {stage: f"{time:,.1f} s" for stage, time in (results.seconds or {}).items()},
        "storage": results.storage_bytes,
    }


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested settings as one level of dotted names.

    >>> _flat({"start": "gaussian", "match": {"data_lr": 0.01}})
    {'start': 'gaussian', 'match.data_lr': '0.01'}
    """
    found: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return found


def _checks(result: Condensation) -> list[Check]:
    return [_real(result), _enough(result)]


def _real(result: Condensation) -> Check:
    asked, results = "Is a row a patient?", result.results
    if facts.uses_real_rows(result):
        return Check(asked, facts.origin(result), heed=True, order=10, loud=True, section="making")
    grouped = {"kmeans", "spread"} & {results.method, results.start}
    means = " Rows began as means of groups of ten patients or more." if grouped else ""
    answer = f"No: none is, or began as, one patient's record.{means}"
    return Check(asked, answer, heed=False, order=10, section="making")


def _enough(result: Condensation) -> Check:
    asked, counts = "Enough patients?", result.results.data.train
    few = [facts.few_patients(name, n) for name, n in zip(result.classes, counts, strict=True) if facts.are_few(n)]
    if few:
        return Check(asked, " ".join(few), heed=True, order=40, section="making")
    fewest = min(int(n) for n in counts)
    answer = f"Yes: every class has {facts.FEW_PATIENTS} or more, the smallest {fewest:,}."
    return Check(asked, answer, heed=False, order=40)


SECTION = Section(key="making", title="How the rows were made", order=100, content=_content, checks=_checks)
