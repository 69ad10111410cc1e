"""Who trains, who tunes and who is held out: patients are split, never rows."""

import numpy as np

from aliquot.cohort.cohort import Cohort
from aliquot.cohort.roles import HELD_OUT, ROLES, TRAIN, TUNING
from aliquot.errors import SettingsError, TooFewPatientsError


def split_patients(cohort: Cohort, *, seed: int, tuning: float = 0.15, held_out: float = 0.15) -> np.ndarray:
    """Role code of each row (int8), drawn by patient within each outcome, or the user's own if there is one.

    Guarantees: all rows of a patient have one role; every class occurs in every role; the same seed gives the
    same split. A patient with several outcomes counts as the largest one.

    >>> cohort = Cohort.from_arrays(np.arange(200.0)[:, None], np.arange(200) % 2)
    >>> np.bincount(split_patients(cohort, seed=0)).tolist()
    [140, 30, 30]
    """
    if not (0 < tuning < 1 and 0 < held_out < 1 and tuning + held_out < 1):
        raise SettingsError("the shares of tuning and held_out must be above 0 and sum to less than 1; change them")
    roles = cohort.split if cohort.split is not None else _draw(cohort, seed, tuning, held_out)
    _check_classes(cohort, roles)
    return roles


def _draw(cohort: Cohort, seed: int, tuning: float, held_out: float) -> np.ndarray:
    patient = np.arange(cohort.n) if cohort.patient is None else np.unique(cohort.patient, return_inverse=True)[1]
    outcome = np.zeros(patient.max() + 1, dtype=np.int64)
    np.maximum.at(outcome, patient, cohort.labels)
    rng = np.random.default_rng(seed)
    role = np.full(outcome.size, TRAIN, dtype=np.int8)
    for label in range(cohort.n_classes):
        members = rng.permutation(np.flatnonzero(outcome == label))
        n_tuning, n_held_out = (max(1, round(share * members.size)) for share in (tuning, held_out))
        if n_tuning + n_held_out < members.size:  # too few for three roles stay in train; _check_classes says so
            role[members[:n_tuning]] = TUNING
            role[members[n_tuning : n_tuning + n_held_out]] = HELD_OUT
    return role[patient]


def _check_classes(cohort: Cohort, roles: np.ndarray) -> None:
    for code, role in enumerate(ROLES):
        rows_per_class = np.bincount(cohort.labels[roles == code], minlength=cohort.n_classes)
        absent = int((rows_per_class == 0).sum())
        if absent:
            raise TooFewPatientsError(
                f"{absent} of the {cohort.n_classes} classes of {cohort.target!r} have no patient in the "
                f"part {role!r}; add patients, merge small classes, or change the split"
            )
