"""For whom does it work? Scores on groups of held-out patients, without a count that would point at a few of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aliquot.cohort import Parts
from aliquot.cohort.codes import MISSING, RARE
from aliquot.disclosure import FEW, SUPPORT, hidden, patients_per, rounded, score_decimals
from aliquot.evaluate.metrics import ranking, ranking_metrics, summarise
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Scores


@dataclass(frozen=True)
class Group(Record):
    """A group of held-out patients, and the scores of networks on it where it is large enough."""

    name: str
    patients: int | str | None  # "<10", or None where it would give a smaller group away
    aliquot: Scores | None = None
    full_best_epoch: Scores | None = None


def held_out_groups(parts: Parts) -> "dict[str, pd.Categorical[str]]":
    """The group of every held-out row by each column; levels of fewer than ten training patients are ``(rare)``."""
    train, held_out = parts.train.groups, parts.held_out.groups
    if train is None or held_out is None:
        return {}
    return {str(name): _pooled(train[name], held_out[name], parts.train.patients) for name in train}


def subgroup_scores(
    groups: "Mapping[str, pd.Categorical[str]]",
    labels: np.ndarray,
    logits: Mapping[str, np.ndarray],
    patient: np.ndarray | None = None,
) -> dict[str, tuple[Group, ...]]:
    """AUROC and AUPRC of several sets of networks (networks, rows[, C]) in every group of each column.

    Patients are counted to the nearest ten, and scores have three decimals, so that neither can be solved for deaths.

    =============================================  =====================================
    group                                          entry
    =============================================  =====================================
    under 10 patients                              patients ``"<10"``, no scores
    under 10 patients of some class                its patients, no scores
    would give a smaller one away by subtraction   patients None, no scores
    =============================================  =====================================
    """
    patient = np.arange(len(labels)) if patient is None else patient
    return {name: _column(cells, labels, logits, patient) for name, cells in groups.items()}


def _pooled(train: pd.Series, held_out: pd.Series, patients: np.ndarray | None) -> "pd.Categorical[str]":
    levels = train.cat.categories
    counts = patients_per(train.cat.codes.to_numpy(), patients, len(levels))
    kept = [level for level, count in zip(levels, counts, strict=True) if count >= SUPPORT or level == MISSING]
    rare = [RARE] if len(kept) < len(levels) else []
    names = np.where(held_out.isin(kept), held_out.astype(object), RARE)
    return pd.Categorical(names, categories=pd.Index([*kept, *rare]))


def _column(cells: "pd.Categorical[str]", labels, logits, patient) -> tuple[Group, ...]:
    members = [np.asarray(cells == name) for name in cells.categories]
    counts = np.array([len(np.unique(patient[of])) for of in members], dtype=int)
    unseen = hidden(counts)
    found = []
    for name, of, count, away in zip(cells.categories, members, counts, unseen, strict=True):
        if count == 0:
            continue
        if away:
            found.append(Group(str(name), FEW if count < SUPPORT else None))
            continue
        (about,) = rounded([count])
        scored = logits if _enough(labels[of], patient[of], np.unique(labels)) else {}
        scores: dict[str, Any] = {source: _scores(labels[of], one[:, of]) for source, one in scored.items()}
        found.append(Group(str(name), about, **scores))
    return tuple(found)


def _enough(labels: np.ndarray, patient: np.ndarray, classes: np.ndarray) -> bool:
    return all(len(np.unique(patient[labels == code])) >= SUPPORT for code in classes)


def _scores(labels: np.ndarray, logits: np.ndarray) -> Scores:
    return summarise([ranking_metrics(labels, ranking(one)) for one in logits]).rounded(score_decimals(SUPPORT))
