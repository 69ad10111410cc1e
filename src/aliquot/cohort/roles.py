"""The three roles of a patient, and the user's own column of roles."""

import numpy as np
import pandas as pd

from aliquot.cohort.values import levels_of
from aliquot.cohort.wording import counted
from aliquot.errors import SplitError

ROLES = ("train", "tuning", "held_out")
TRAIN, TUNING, HELD_OUT = 0, 1, 2

_SYNONYMS = {
    "train": TRAIN,
    "training": TRAIN,
    **dict.fromkeys(("tuning", "val", "valid", "validation", "dev"), TUNING),
    **dict.fromkeys(("held_out", "held-out", "heldout", "holdout", "test"), HELD_OUT),
}


def read_roles(cells: pd.Series, patient: np.ndarray | None) -> np.ndarray:
    """Role code of each row (int8), from the user's words for the roles.

    Guarantees: all three roles occur; with ``patient`` codes given, no patient has two roles.

    >>> read_roles(pd.Series(["train", "Val", "test"]), None).tolist()
    [0, 1, 2]
    """
    codes, levels = levels_of(cells)
    known = np.array([_SYNONYMS.get(level.strip().lower(), -1) for level in levels] + [-1], dtype=np.int8)
    roles = known[codes]
    unknown = int((roles < 0).sum())
    if unknown:
        raise SplitError(
            f"the split column {str(cells.name)!r} has {counted(unknown, 'row')} with a missing or unknown "
            "role; use train, tuning (or val) and held_out (or test)"
        )
    absent = [role for code, role in enumerate(ROLES) if code not in roles]
    if absent:
        raise SplitError(
            f"the split column {str(cells.name)!r} has no row with the role {' or '.join(absent)}; give "
            "every role some patients, or leave the split to Aliquot"
        )
    if patient is not None:
        _check_undivided(str(cells.name), roles, patient)
    return roles


def _check_undivided(name: str, roles: np.ndarray, patient: np.ndarray) -> None:
    first = np.full(patient.max() + 1, -1, dtype=np.int8)
    first[patient] = roles
    divided = np.unique(patient[first[patient] != roles]).size
    if divided:
        raise SplitError(
            f"the split column {name!r} puts {counted(divided, 'patient')} into more than one role; give all "
            "rows of a patient the same role"
        )


def draw_tuning(
    labels: np.ndarray, groups: np.ndarray, roles: np.ndarray, *, seed: int, share: float = 0.15
) -> np.ndarray:
    """The roles with a share of the training patients moved to tuning, drawn by patient within each outcome.

    Guarantees: all rows of a patient move together; rows that do not train stay what they are; an outcome that only
    one training patient has stays in train. A patient with both outcomes counts as 1.

    >>> roles = draw_tuning(np.arange(40) % 2, np.arange(40), np.full(40, "train"), seed=0)
    >>> roles.tolist().count("train"), roles.tolist().count("tuning")
    (34, 6)
    """
    train = np.flatnonzero(roles == "train")
    patient = np.unique(groups[train], return_inverse=True)[1]
    outcome = np.zeros(patient.max(initial=-1) + 1, dtype=np.int64)
    np.maximum.at(outcome, patient, labels[train])
    rng = np.random.default_rng(seed)
    moved = np.zeros(outcome.size, dtype=bool)
    for label in (0, 1):
        members = rng.permutation(np.flatnonzero(outcome == label))
        if members.size > 1:
            moved[members[: max(1, round(share * members.size))]] = True
    carved = roles.astype("U8")
    carved[train[moved[patient]]] = "tuning"
    return carved
