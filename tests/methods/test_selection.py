"""Methods that pick or average patients: real rows only where declared, and each good at what it is for."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

from aliquot.context import Context
from aliquot.errors import TooFewPatientsError
from aliquot.methods import MethodSettings, Task
from aliquot.methods.centroids import group_means, is_patient, spread_out
from aliquot.methods.herding import herd, herded_rows
from aliquot.methods.kcentre import centre_rows, farthest_first
from aliquot.methods.kmeans import cluster_means
from aliquot.methods.random import random_rows
from aliquot.methods.start import starting_rows
from aliquot.networks import mlp

PICKING = {"herding": herded_rows, "kcentre": centre_rows, "random": random_rows}
EVERY = {**PICKING, "kmeans": cluster_means}


@pytest.fixture
def task(blobs, small_network, small_judge):
    return Task(small_network, *blobs[0], 8, Context(small_judge))


def rows_of(method, task, seed=0):
    return method(task, MethodSettings(), key=jax.random.key(seed))


def someone(got, task):
    return is_patient(got.x.reshape(len(got.x), -1), task.x.reshape(len(task.x), -1))


def two_classes(task, first):
    """The task on one feature, with these patients of class 0 and twelve others of class 1."""
    x = np.concatenate([first, np.repeat([100.0, 101.5, 103.0, 107.0], 3)]).astype(np.float32)[:, None]
    labels = (np.arange(len(x)) >= len(first)).astype(np.int32)
    return replace(task, x=x, labels=labels, rows_per_class=2)


@pytest.mark.parametrize("name", PICKING)
def test_picked_rows_are_patients_of_their_class_and_no_patient_twice(name, task):
    got = rows_of(PICKING[name], task)
    place = {row.tobytes(): label for row, label in zip(task.x, task.labels, strict=True)}
    assert [place[row.tobytes()] for row in got.x] == got.targets.tolist() == [0] * 8 + [1] * 8
    assert len({row.tobytes() for row in got.x}) == 16


@pytest.mark.parametrize("name", EVERY)
def test_time_series_keep_their_shape_and_three_classes_their_targets(name, task):
    x = np.random.default_rng(0).normal(size=(60, 4, 3)).astype(np.float32)
    series = replace(task, network=mlp(12, 3, (4,)), x=x, labels=np.arange(60) % 3, rows_per_class=2)
    got = rows_of(EVERY[name], series)
    assert got.x.shape == (6, 4, 3)
    assert got.x.dtype == np.float32
    assert got.targets.argmax(axis=1).tolist() == [0, 0, 1, 1, 2, 2]
    assert someone(got, series).tolist() == [name in PICKING] * 6


@pytest.mark.parametrize("name", EVERY)
def test_too_few_patients(name, task):
    with pytest.raises(TooFewPatientsError, match="asked for 399 synthetic rows per class, but one class has only"):
        rows_of(EVERY[name], replace(task, rows_per_class=399))


def test_means_lie_in_their_class_and_follow_the_seed(task):
    got, again, other = (rows_of(cluster_means, task, seed).x for seed in (0, 0, 1))
    assert (got == again).all()
    assert (got != other).any()
    centre = task.x[task.labels == 0].mean(axis=0)
    assert np.abs(got[:8].mean(axis=0) - centre).max() < 0.5


@pytest.mark.parametrize(
    "first",
    [
        [*np.arange(9.0), 50.0],  # an outlier, a group of its own
        [0.0] * 11 + [50.0] * 10,  # groups of equal patients, fewer different ones than rows would need
        [-1.0] * 5 + [0.0] + [1.0] * 5 + [50.0, 51.0, 54.0] * 4,  # a mean that happens to be a patient
        [3.0] * 10 + [4.0],
    ],
    ids=["outlier", "equal", "chance", "pair"],
)
def test_no_mean_is_a_patient(task, first):
    small = two_classes(task, first)
    got = rows_of(cluster_means, small)
    assert not someone(got, small).any()
    assert got.x[:2].min() >= min(first)
    assert got.x[:2].max() <= max(first)


def test_no_mean_is_a_patient_even_with_a_row_for_everyone(task):
    few = int(np.bincount(task.labels).min())
    every = replace(task, rows_per_class=few)
    assert not someone(rows_of(cluster_means, every), every).any()


def test_equal_patients_have_no_mean_that_is_nobody(task):
    with pytest.raises(TooFewPatientsError, match="so alike"):
        rows_of(cluster_means, two_classes(task, [5.0] * 12))


@pytest.mark.parametrize("patients", [3, 9])
@pytest.mark.parametrize("kind", ["gaussian", "kmeans", "spread"])
def test_rows_do_not_start_from_a_class_of_fewer_than_ten_patients(kind, patients):
    x, labels = np.random.default_rng(0).normal(size=(60, 3)), np.zeros(60, int)
    labels[: 2 * patients] = 1
    twice = np.arange(60) // 2  # every patient has two rows
    with pytest.raises(TooFewPatientsError, match="fewer than 10 training patients"):
        starting_rows(x, labels, 1, 2, kind, rng=np.random.default_rng(0), whose=twice)
    assert len(starting_rows(x, labels, 1, 2, "noise", rng=np.random.default_rng(0), whose=twice)[0]) == 2


def test_a_group_of_many_rows_of_one_patient_is_widened():
    rows = np.concatenate([np.linspace(49, 51, 20), np.linspace(-1, 1, 40)])[:, None]
    whose = np.concatenate([np.zeros(20, int), np.arange(1, 41)])
    alone, widened = (max(group_means([rows], 2, [0], [owner])[0].ravel()) for owner in (None, whose))
    assert alone == pytest.approx(50)  # as if each row were a patient
    assert 5 < widened < 6  # the one at 50, and the nine nearest others


def test_herding_keeps_the_mean_and_is_the_same_for_every_seed(task):
    patients = task.x[task.labels == 0]
    centre = patients.mean(axis=0)

    def errors(numbers):
        running = np.cumsum(patients[numbers], axis=0) / np.arange(1, len(numbers) + 1)[:, None]
        return np.linalg.norm(running - centre, axis=1)

    rng = np.random.default_rng(0)
    drawn = np.mean([errors(rng.choice(len(patients), 20, replace=False)) for _ in range(50)], axis=0)
    assert (errors(herd(patients, 20)) < 0.5 * drawn).all()
    assert (rows_of(herded_rows, task, 0).x == rows_of(herded_rows, task, 1).x).all()


def test_k_centre_leaves_nobody_far_away(task):
    patients = task.x[task.labels == 0]

    def radius(numbers):
        return pairwise_distances(patients, patients[numbers]).min(axis=1).max()

    rng = np.random.default_rng(0)
    chosen = farthest_first(patients, 20, first=0)
    assert len(set(chosen)) == 20
    assert radius(chosen) < min(radius(rng.choice(len(patients), 20, replace=False)) for _ in range(50))
    assert (rows_of(centre_rows, task, 0).x != rows_of(centre_rows, task, 1).x).any()


def test_equal_patients_are_still_different_patients():
    patients = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert sorted(farthest_first(patients, 4, first=2)) == [0, 1, 2, 3]
    assert sorted(herd(patients, 4)) == [0, 1, 2, 3]


def test_spread_rows_vary_as_patients_do_and_keep_their_groups():
    rng = np.random.default_rng(0)
    blocks = [rng.normal(loc=c, size=(400, 3)) for c in (0.0, 2.0)]
    means = group_means(blocks, 10, [0, 1])
    spread = spread_out(means, blocks)
    assert sum(rows.var(axis=0).sum() for rows in spread) == pytest.approx(sum(b.var(axis=0).sum() for b in blocks))
    assert spread[1].mean() - spread[0].mean() > means[1].mean() - means[0].mean()  # classes move apart too
    for rows, mean in zip(spread, means, strict=True):
        centred = [one - one.mean(axis=0) for one in (rows, mean)]
        np.testing.assert_allclose(centred[0] / centred[1], (centred[0] / centred[1]).mean(), rtol=1e-6)


def test_equal_patients_cannot_be_spread():
    means = [np.ones((2, 3))]
    assert (spread_out(means, [np.ones((5, 3))])[0] == 1).all()
