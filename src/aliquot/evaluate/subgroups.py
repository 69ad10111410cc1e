"""For whom does it work? Scores on groups of held-out patients, without a count that would point at a few of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from aliquot.cohort import HELD_OUT, TRAIN, Cohort, split_patients
from aliquot.cohort.codes import MISSING, RARE
from aliquot.cohort.wording import SMALL_COUNT
from aliquot.evaluate.metrics import ranking, ranking_metrics, summary

FEW = f"<{SMALL_COUNT}"


def held_out_groups(cohort: Cohort, *, seed: int) -> "dict[str, pd.Categorical[str]]":
    """The group of every held-out row by each column; levels of few training patients are one, ``(rare)``."""
    if cohort.groups is None:
        return {}
    roles = split_patients(cohort, seed=seed)
    return {
        str(name): _pooled(cells[roles == TRAIN], cells[roles == HELD_OUT]) for name, cells in cohort.groups.items()
    }


def subgroup_scores(
    groups: "Mapping[str, pd.Categorical[str]]",
    labels: np.ndarray,
    logits: Mapping[str, np.ndarray],
    patient: np.ndarray | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """AUROC and AUPRC of several sets of networks (networks, rows[, C]) in every group of each column.

    =============================================  =====================================
    group                                          entry
    =============================================  =====================================
    under 10 patients                              ``"patients": "<10"``, no scores
    under 10 patients of some class                its patients, no scores
    would give a smaller one away by subtraction   ``"patients": None``, no scores
    =============================================  =====================================
    """
    patient = np.arange(len(labels)) if patient is None else patient
    return {name: _column(cells, labels, logits, patient) for name, cells in groups.items()}


def hidden(counts: np.ndarray) -> np.ndarray:
    """Which counts must not be shown when their sum is known: the small ones, and as many others as protect them.

    >>> hidden(np.array([3, 40, 25])).tolist(), hidden(np.array([12, 40])).tolist()
    ([True, False, True], [False, False])
    """
    shown = counts >= SMALL_COUNT
    if shown.all():
        return ~shown
    for place in np.argsort(counts, kind="stable"):
        if counts[~shown].sum() >= SMALL_COUNT:
            break
        shown[place] = False
    return ~shown


def _pooled(train: pd.Series, held_out: pd.Series) -> "pd.Categorical[str]":
    counts = train.value_counts(sort=False)
    kept = [level for level in counts.index if counts[level] >= SMALL_COUNT or level == MISSING]
    rare = [RARE] if len(kept) < len(counts) else []
    names = np.where(held_out.isin(kept), held_out.astype(object), RARE)
    return pd.Categorical(names, categories=pd.Index([*kept, *rare]))


def _column(cells: "pd.Categorical[str]", labels, logits, patient) -> list[dict[str, Any]]:
    members = [np.asarray(cells == name) for name in cells.categories]
    counts = np.array([len(np.unique(patient[of])) for of in members], dtype=int)
    unseen = hidden(counts)
    found = []
    for name, of, count, away in zip(cells.categories, members, counts, unseen, strict=True):
        if count == 0:
            continue
        entry: dict[str, Any] = {"name": str(name), "patients": int(count)}
        if away:
            entry["patients"] = FEW if count < SMALL_COUNT else None
        elif _enough(labels[of], patient[of], np.unique(labels)):
            entry |= {source: _scores(labels[of], one[:, of]) for source, one in logits.items()}
        found.append(entry)
    return found


def _enough(labels: np.ndarray, patient: np.ndarray, classes: np.ndarray) -> bool:
    return all(len(np.unique(patient[labels == code])) >= SMALL_COUNT for code in classes)


def _scores(labels: np.ndarray, logits: np.ndarray) -> dict[str, dict[str, float]]:
    return summary([ranking_metrics(labels, ranking(one)) for one in logits])
