"""Groups of patients and their means, none of which is a patient.

A mean of few patients says much of each: a class of fewer than ten is refused, and a group of fewer is widened to the
ten patients of the class that are nearest to its mean. Patients count, not their rows.

The mean of a group of one patient *is* that patient, and groups of equal patients or plain chance can do the same.
No row may be a patient here, so such a mean is replaced: by the mean of that patient and the nearest different patient
of the class, then of the two nearest, and so on until it is nobody. Two such patients that are each other's nearest
give the same row twice.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from aliquot.disclosure import SUPPORT, patients_in, patients_per
from aliquot.errors import TooFewPatientsError

SAME = 1e-6  # encoded features that differ by less are the same


def group_means(
    blocks: Sequence[np.ndarray], count: int, seeds: Sequence[int], whose: Sequence[np.ndarray | None] | None = None
) -> list[np.ndarray]:
    """Means (count, features) of groups of the patients (patients, features) of each class; none of them is anybody.

    ``whose`` has, for each class, a code for the patient of each row; None: every row is a patient.
    """
    everyone = np.concatenate(blocks)
    whose = [None] * len(blocks) if whose is None else whose
    check_support(min(map(count_patients, blocks, whose)))
    means = [centroids(block, owner, count, seed) for block, owner, seed in zip(blocks, whose, seeds, strict=True)]
    return [nobody(mean, block, everyone) for mean, block in zip(means, blocks, strict=True)]


def check_support(patients: int) -> None:
    """A class from whose patients rows start must have ten of them."""
    if patients < SUPPORT:
        raise TooFewPatientsError(
            f"asked for rows that start from the patients of each class, but one class has fewer than {SUPPORT} "
            "training patients, whom such rows would resemble; merge small classes, or leave their patients out"
        )


def count_patients(rows: np.ndarray, whose: np.ndarray | None) -> int:
    """How many different patients some rows belong to."""
    return patients_in(np.ones(len(rows), bool), whose)


def centroids(patients: np.ndarray, whose: np.ndarray | None, count: int, seed: int) -> np.ndarray:
    """Means (count, features) of the groups that k-means finds, started once by k-means++; none of few patients.

    >>> patients = np.repeat([[0.0], [2.0], [10.0], [12.0]], 5, axis=0)
    >>> centroids(patients, None, 2, seed=0).ravel().round().astype(int).tolist()
    [11, 1]
    """
    distinct, place, weights = np.unique(patients, axis=0, return_inverse=True, return_counts=True)
    groups = KMeans(min(count, len(distinct)), random_state=seed).fit(distinct, sample_weight=weights)
    means = groups.cluster_centers_
    sizes = patients_per(np.asarray(groups.labels_)[place], whose, len(means))
    for row in np.flatnonzero(sizes < SUPPORT):
        means[row] = _nearest(patients, means[row], whose)[:SUPPORT].mean(axis=0)
    return np.resize(means, (count, patients.shape[1]))  # again from the front if patients repeat


def nobody(means: np.ndarray, patients: np.ndarray, everyone: np.ndarray) -> np.ndarray:
    """The means of one class, those that are somebody replaced by means of that patient with its nearest.

    >>> patients = np.array([[0.0], [1.0], [9.0]])
    >>> nobody(np.array([[0.5], [9.0]]), patients, patients).ravel().tolist()
    [0.5, 5.0]
    """
    means = means.copy()
    for row in np.flatnonzero(is_patient(means, everyone)):
        means[row] = _with_neighbours(means[row], patients, everyone)
    return means


def spread_out(means: Sequence[np.ndarray], blocks: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Means of groups vary less than patients: those of all classes, moved away from the mean of all patients.

    Everything moves by one factor, after which the rows of a class vary, over classes and in all, as its patients do.

    >>> means, patients = [np.array([[1.0], [3.0]])], [np.array([[0.0], [2.0], [2.0], [4.0]])]
    >>> spread_out(means, patients)[0].ravel().round(2).tolist()
    [0.59, 3.41]
    """
    centre = np.concatenate(blocks).mean(axis=0)
    of_means, of_patients = (sum(block.var(axis=0).sum() for block in group) for group in (means, blocks))
    factor = np.sqrt(of_patients / of_means) if of_means else 1.0
    return [centre + factor * (mean - centre) for mean in means]


def is_patient(rows: np.ndarray, patients: np.ndarray) -> np.ndarray:
    """Which rows equal a patient, up to rounding.

    >>> is_patient(np.array([[1.0], [1.5]]), np.array([[1.0], [2.0]]))
    array([ True, False])
    """
    nearest = patients[pairwise_distances_argmin(rows, patients)]
    return np.all(np.isclose(rows, nearest, rtol=SAME, atol=SAME), axis=1)


def _nearest(patients: np.ndarray, row: np.ndarray, whose: np.ndarray | None = None) -> np.ndarray:
    """The patients in the order of their distance to the row; of several rows of one patient the nearest."""
    order = np.argsort(((patients - row) ** 2).sum(axis=1), kind="stable")
    return patients[order if whose is None else order[np.sort(np.unique(whose[order], return_index=True)[1])]]


def _with_neighbours(row: np.ndarray, patients: np.ndarray, everyone: np.ndarray) -> np.ndarray:
    different = patients[~is_patient(patients, row[None])]
    nearest = _nearest(different, row)
    for others in range(1, len(nearest) + 1):
        mean = np.vstack([row[None], nearest[:others]]).mean(axis=0)
        if not is_patient(mean[None], everyone).any():
            return mean
    raise TooFewPatientsError(
        "asked for means of groups of patients, but the patients of one class are so alike that such a mean is a "
        "patient again; ask for fewer rows per class or take another method"
    )
