"""Results of cells as lines of tables: means over seeds, the paper's number beside, reasons of what failed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from aliquot.paper.published import METRICS, published
from aliquot.paper.studies import Line
from aliquot.runs.cells import FULL
from aliquot.runs.compare import summary

FIXED, BEST = "full", "full best"  # full data: the paper's epochs, and the best epoch on tuning


@dataclass(frozen=True)
class Found:
    """A line of a study with what its cell gave."""

    line: Line
    result: dict[str, Any]

    @property
    def failed(self) -> str:
        """Why there is no result; empty where there is one."""
        return self.result.get("failed", "")


def summarised(study: str, found: Sequence[Found]) -> pd.DataFrame:
    """One row per cohort, label and size: as :func:`aliquot.runs.compare.summary`, and the paper's numbers.

    Full data makes two rows, after the paper's number of epochs and at the best epoch.
    """
    tables = []
    for cohort in dict.fromkeys(one.line.cohort for one in found):
        mine = [one for one in found if one.line.cohort == cohort]
        methods = {one.line.cell.label: one.line.method for one in mine}
        table = summary([line for one in mine for line in _plain(one)])
        table = table.rename(columns={"method": "label"})
        full = table["label"].isin([FULL, FIXED])
        table["rows_per_class"] = table["rows_per_class"].where(~full)
        table["method"] = [{FULL: BEST, FIXED: FIXED}.get(label, methods.get(label)) for label in table["label"]]
        tables.append(table.assign(cohort=cohort))
    whole = pd.concat(tables, ignore_index=True)
    for metric in METRICS:
        for part in (metric, f"{metric}_std"):
            whole[f"paper_{part}"] = [
                published(study, row["cohort"], row["method"], _rows(row)).get(part) for _, row in whole.iterrows()
            ]
    front = ["cohort", "method", "label", "rows_per_class"]
    return whole[[*front, *(name for name in whole if name not in front)]]


def _rows(row: pd.Series) -> int | None:
    return None if pd.isna(row["rows_per_class"]) else int(row["rows_per_class"])


def _plain(one: Found) -> list[dict[str, Any]]:
    request = one.line.cell.request
    line = {**one.result, "label": one.line.cell.label, "rows_per_class": request.rows_per_class, "seed": request.seed}
    if line["label"] != FULL:
        return [line]
    return [{**line, "label": FIXED, **line.get("fixed_epochs", {})}, line]


def reasons(found: Sequence[Found]) -> list[str]:
    """One sentence for every cell that failed."""
    return [f"Failed – {described(one.line)}: {one.failed}." for one in found if one.failed]


def described(line: Line) -> str:
    """A cell in words."""
    size = "" if line.rows is None else f", {line.rows} rows per class"
    return f"{line.cohort}, {line.cell.label}{size}, seed {line.cell.request.seed}"
