"""What every method must keep, whatever it does (style.md, principle 13; methods.md §14: 10, 13)."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from aliquot.curves import CurveSettings
from aliquot.errors import SettingsError, TooFewPatientsError
from aliquot.evaluate.protocol import EvaluationSettings, TuningJudge, logits_of, train_on
from aliquot.experts import ExpertSettings
from aliquot.matching import MatchSettings
from aliquot.methods import METHODS, STARTS, MethodSettings, Task, method_named, starting_rows
from aliquot.networks import TrainSettings, mlp

SETTINGS = MethodSettings(
    start="gaussian",
    expert=ExpertSettings(count=3, epochs=3, learning_rate=0.1, batch_size=64),
    curve=CurveSettings(steps=20),
    match=MatchSettings(iterations=20, judge_every=10, student_steps=4, student_lr=0.1, optimiser="adam", data_lr=0.05),
)


@pytest.fixture(scope="module")
def task(blobs, small_network, small_judge):
    return Task(small_network, *blobs[0], rows_per_class=4, judge=small_judge)


@pytest.fixture(scope="module")
def condense(task):
    results = {}

    def run(name, seed=0):
        if (name, seed) not in results:
            results[name, seed] = METHODS[name].condense(task, SETTINGS, key=jax.random.key(seed))
        return results[name, seed]

    return run


def shared_rows(a, b):
    return {row.tobytes() for row in np.asarray(a, np.float32)} & {row.tobytes() for row in np.asarray(b, np.float32)}


@pytest.mark.parametrize("name", METHODS)
def test_as_many_rows_as_asked_for_each_class(name, condense):
    got = condense(name)
    assert got.x.shape == (8, 5)
    assert got.x.dtype == np.float32
    assert got.targets.tolist() == [0] * 4 + [1] * 4
    assert np.isfinite(got.x).all()


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_rows(name, condense, task):
    again = METHODS[name].condense(task, SETTINGS, key=jax.random.key(0))
    assert (condense(name).x == again.x).all()
    assert (condense(name).x != condense(name, seed=1).x).any()


@pytest.mark.parametrize("name", METHODS)
def test_no_patient_is_returned_unless_declared(name, condense, task):
    shared = shared_rows(condense(name).x, task.x)
    assert bool(shared) == METHODS[name].selects_rows


@pytest.mark.parametrize("start", STARTS)
def test_rows_move_away_from_any_start(start, task):
    settings = replace(SETTINGS, start=start, match=replace(SETTINGS.match, judge_every=20))
    liar = replace(task, judge=OnlyLikesMoved(task.judge))
    got = METHODS["btm"].condense(liar, settings, key=jax.random.key(0))
    assert got.best_iteration == 20
    assert not shared_rows(got.x, task.x)


class OnlyLikesMoved:
    """Scores every look higher than the one before, so that the last rows are returned."""

    def __init__(self, judge):
        self.x, self.score, self._looks, self._judge = judge.x, judge.score, 0, judge

    def rows(self, x, targets):
        self._looks += 1
        return self._judge.rows(x, targets)._replace(mean=float(self._looks))


def test_three_classes(blobs):
    (x, labels), _ = blobs
    three = labels + (x[:, 2] > 1)
    network = mlp(5, 3, (8,))
    judge = TuningJudge(network, EvaluationSettings(search_epochs=5, search_networks=1), x, three, jax.random.key(0))
    got = METHODS["btm"].condense(Task(network, x, three, 2, judge), SETTINGS, key=jax.random.key(0))
    assert got.x.shape == (6, 5)
    assert got.targets.argmax(axis=1).tolist() == [0, 0, 1, 1, 2, 2]


def test_one_logit_and_two_logits_give_the_same_ranking(blobs):
    """A network with one logit z and one with logits (0, z) are the same model; trained alike they rank alike."""
    (x, labels), (held, _) = blobs
    training = TrainSettings(epochs=40, learning_rate=0.1, batch_size=400)
    keys = jax.random.split(jax.random.key(0), 3)
    one, two = mlp(5, 2, (16,), 0.0), mlp(5, 3, (16,), 0.0)
    binary = logits_of(one, train_on(one, training, x, labels.astype(np.float32), keys), held).mean(axis=0)
    onehot = np.eye(3, dtype=np.float32)[labels]  # the third class never occurs
    softmax = logits_of(two, train_on(two, training, x, onehot, keys), held).mean(axis=0)
    difference = softmax[:, 1] - softmax[:, 0]
    assert np.corrcoef(binary.argsort().argsort(), difference.argsort().argsort())[0, 1] > 0.98


def test_starting_rows_have_the_moments_of_their_class(blobs):
    (x, labels), _ = blobs
    rows, codes = starting_rows(x, labels, 100, 2, "gaussian", rng=np.random.default_rng(0))
    for c in (0, 1):
        np.testing.assert_allclose(rows[codes == c].mean(axis=0), x[labels == c].mean(axis=0), atol=0.35)


def test_real_start_takes_no_patient_twice_and_of_the_right_class(blobs):
    (x, labels), _ = blobs
    rows, codes = starting_rows(x, labels, 50, 2, "real", rng=np.random.default_rng(0))
    place = {row.tobytes(): label for row, label in zip(x, labels, strict=True)}
    assert len(shared_rows(rows, x)) == 100
    assert [place[row.tobytes()] for row in rows] == codes.tolist()


def test_errors_name_what_is_known(blobs):
    (x, labels), _ = blobs
    with pytest.raises(SettingsError, match="btm, random"):
        method_named("btmm")
    with pytest.raises(SettingsError, match="gaussian"):
        starting_rows(x, labels, 2, 2, "gauss", rng=np.random.default_rng(0))
    with pytest.raises(TooFewPatientsError):
        starting_rows(x, labels, 399, 2, "noise", rng=np.random.default_rng(0))
