"""Starting rows: from where the synthetic rows are learned."""

from collections.abc import Callable

import numpy as np

from aliquot.disclosure import masked_count
from aliquot.errors import SettingsError, TooFewPatientsError
from aliquot.methods.centroids import check_support, count_patients, group_means, spread_out
from aliquot.registry import STARTS

REAL_STARTS = ("real", "recognised")  # rows start from real patients


def starting_rows(
    x: np.ndarray,
    labels: np.ndarray,
    rows_per_class: int,
    n_classes: int,
    kind: str,
    *,
    rng: np.random.Generator,
    own_class: Callable[[], np.ndarray] | None = None,
    whose: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their class codes, ``rows_per_class`` for each class, class blocks in class order.

    Rows that are drawn or averaged need ten patients of each class; ``whose`` has a code for the patient of each row of
    ``x``, None: all are different.

    ==============  =================================================================================
    kind            a row of class c is
    ==============  =================================================================================
    ``gaussian``    drawn per feature from a normal distribution with the mean and deviation of class c
    ``kmeans``      the mean of a group of patients of class c, as k-means finds them; none is a patient
    ``spread``      the same, moved away from the mean of all patients until they vary as patients do
    ``real``        a training patient of class c; no patient twice
    ``recognised``  the same among patients whose class the experts recognise: ``own_class()`` (patients,),
                    the probability of each one's own class, is above ½; the next likely where they are too few
    ``noise``       drawn from N(0, 1)
    ==============  =================================================================================

    >>> rng = np.random.default_rng(0)
    >>> x, y = starting_rows(np.zeros((8, 3)), np.array([0, 1] * 4), 2, 2, "noise", rng=rng)
    >>> x.shape, y.tolist()
    ((4, 3), [0, 0, 1, 1])
    """
    if kind not in STARTS:
        raise SettingsError(f"asked for starting rows of kind {kind!r}; known: {', '.join(STARTS)}")
    if kind == "recognised" and own_class is None:
        raise SettingsError("asked for rows that start from recognised patients, but this method has no experts")
    patients = [x[labels == c] for c in range(n_classes)]
    owners = [None if whose is None else whose[labels == c] for c in range(n_classes)]
    check_enough(min(map(len, patients)), rows_per_class)
    if kind in ("kmeans", "spread"):
        flat = [block.reshape(len(block), -1).astype(np.float64) for block in patients]
        means = group_means(flat, rows_per_class, rng.integers(2**31, size=n_classes).tolist(), owners)
        if kind == "spread":
            means = spread_out(means, flat)
        rows = [mean.reshape(-1, *x.shape[1:]) for mean in means]
    else:
        if kind == "gaussian":
            check_support(min(map(count_patients, patients, owners)))
        shares = own_class() if kind == "recognised" and own_class is not None else np.ones(len(labels))
        sure = [shares[labels == c] for c in range(n_classes)]
        rows = [_start_of_class(*block, rows_per_class, kind, rng) for block in zip(patients, sure, strict=True)]
    return np.concatenate(rows).astype(x.dtype), np.repeat(np.arange(n_classes), rows_per_class)


def check_enough(patients: int, rows: int) -> None:
    """A class must have at least as many training patients as rows are asked for."""
    if patients < rows:
        found = masked_count(patients, "training patient")
        raise TooFewPatientsError(
            f"asked for {rows} synthetic rows per class, but one class has only {found}; ask for fewer rows per class"
        )


def _start_of_class(
    patients: np.ndarray, sure: np.ndarray, rows: int, kind: str, rng: np.random.Generator
) -> np.ndarray:
    if kind == "real":
        return patients[rng.choice(len(patients), rows, replace=False)]
    if kind == "recognised":
        order = rng.permutation(len(patients))
        order = order[np.argsort(-np.minimum(sure[order], 0.5), kind="stable")]  # recognised ones first, as drawn
        return patients[order[:rows]]
    noise = rng.standard_normal((rows, *patients.shape[1:]))
    if kind == "noise":
        return noise
    return patients.mean(axis=0) + patients.std(axis=0) * noise
