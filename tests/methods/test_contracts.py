"""What every method must keep, whatever it does (style.md, principle 13; methods.md §14: 10, 13)."""

from dataclasses import replace

import jax
import numpy as np
import pytest

import aliquot.experts.experts as experts_module
from aliquot.context import Context, InMemoryStore
from aliquot.errors import SettingsError, TooFewPatientsError
from aliquot.evaluate.metrics import row_classes
from aliquot.evaluate.protocol import EvaluationSettings, TuningJudge, logits_of, train_on
from aliquot.methods import METHODS, Task, get_method, starting_rows
from aliquot.networks import TrainSettings, lstm, mlp
from aliquot.presets.settings import load_settings
from aliquot.registry import STARTS

SETTINGS = {
    "network": {"hidden": [8]},
    "expert": {"count": 3, "epochs": 3, "learning_rate": 0.1, "batch_size": 64, "length": "fixed"},
    "curve": {"steps": 20, "check_every": 0},
    "match": {"iterations": 20, "judge_every": 10, "student_steps": 4, "student_lr": 0.1, "segment": {"epochs": 1}},
    "distribution": {"iterations": 20, "judge_every": 10, "real_batch": 16},
    "gradients": {"iterations": 2, "judge_every": 1, "outer_steps": 2, "inner_epochs": 2, "real_batch": 16},
}
LEARNING = [name for name, method in METHODS.items() if method.uses_start]
TRAJECTORY = [name for name, method in METHODS.items() if method.on_path is not None]


def settings_of(name, **changes):
    return load_settings("default", "smoke", method=name, changes={**SETTINGS, **changes})


@pytest.fixture(scope="module")
def task(blobs, small_network, small_judge):
    return Task(small_network, *blobs[0], rows_per_class=4, context=Context(small_judge))


@pytest.fixture(scope="module")
def condense(task):
    results = {}

    def run(name, seed=0):
        if (name, seed) not in results:
            results[name, seed] = METHODS[name].condense(task, settings_of(name), key=jax.random.key(seed))
        return results[name, seed]

    return run


def shared_rows(a, b):
    return {row.tobytes() for row in np.asarray(a, np.float32)} & {row.tobytes() for row in np.asarray(b, np.float32)}


@pytest.mark.parametrize("name", METHODS)
def test_as_many_rows_as_asked_for_each_class(name, condense):
    got = condense(name)
    assert got.x.shape == (8, 5)
    assert got.x.dtype == np.float32
    assert row_classes(got.targets).tolist() == [0] * 4 + [1] * 4
    assert ((got.targets >= 0) & (got.targets <= 1)).all()
    assert np.isfinite(got.x).all()


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_rows(name, condense, task):
    again = METHODS[name].condense(task, settings_of(name), key=jax.random.key(0))
    assert (condense(name).x == again.x).all()
    assert (condense(name).targets == again.targets).all()
    assert bool((condense(name).x != condense(name, seed=1).x).any()) != METHODS[name].deterministic


@pytest.mark.parametrize("name", METHODS)
def test_no_patient_is_returned_unless_declared(name, condense, task):
    shared = shared_rows(condense(name).x, task.x)
    assert bool(shared) == METHODS[name].selects_rows


@pytest.mark.parametrize("name", LEARNING)
def test_rows_move_away_from_real_patients(name, task):
    liar = replace(task, context=Context(OnlyLikesMoved(task.context.judge)))
    got = METHODS[name].condense(liar, settings_of(name, start="real", slots={"gate": 0.0}), key=jax.random.key(0))
    assert got.best_iteration == len(got.history["loss"])
    assert not shared_rows(got.x, task.x)


@pytest.mark.parametrize("start", STARTS)
def test_rows_move_away_from_any_start(start, task):
    liar = replace(task, context=Context(OnlyLikesMoved(task.context.judge)))
    got = METHODS["btm"].condense(liar, settings_of("btm", start=start), key=jax.random.key(0))
    assert got.best_iteration == 20
    assert not shared_rows(got.x, task.x)


@pytest.mark.parametrize("name", LEARNING)
def test_a_stopped_run_continues_to_the_same_rows(name, condense, task):
    class Stops(InMemoryStore):
        """Stops the run as soon as a checkpoint of the matching is kept."""

        def put(self, name, arrays):
            super().put(name, arrays)
            if name.startswith("matching-"):
                raise KeyboardInterrupt

    store = Stops()
    stored = replace(task, context=replace(task.context, store=store))
    with pytest.raises(KeyboardInterrupt):
        METHODS[name].condense(stored, settings_of(name), key=jax.random.key(0))
    store.__class__ = InMemoryStore
    got = METHODS[name].condense(stored, settings_of(name), key=jax.random.key(0))
    assert (got.x == condense(name).x).all()


def test_experts_are_trained_once_for_all_methods(task, monkeypatch):
    trained = []
    train = experts_module.train_networks
    monkeypatch.setattr(
        experts_module, "train_networks", lambda *args, **options: trained.append(1) or train(*args, **options)
    )
    shared = replace(task, context=replace(task.context, shared=InMemoryStore()))
    for name in ("mtt", "tesla", "btm", "mtt+linear", "mtt+displacement", "soft-random"):
        experts = {**SETTINGS["expert"], "balance": False}  # our BTM asks for others
        get_method(name).condense(shared, settings_of(name, expert=experts), key=jax.random.key(0))
    assert len(trained) == 1


@pytest.mark.parametrize("name", ["mtt+bezier", "ftd+bezier", "datm+bezier", "tesla+linear", "mtt+displacement"])
def test_any_trajectory_method_can_take_any_path(name, task):
    got = get_method(name).condense(task, settings_of(name), key=jax.random.key(0))
    assert got.x.shape == (8, 5)
    assert np.isfinite(got.history["loss"]).all()


@pytest.mark.parametrize("name", TRAJECTORY)
def test_loss_falls_on_a_toy_task(name, task):
    plain = {"student_momentum": 0.0, "student_steps": 8, "segment": {"epochs": 2}}
    match = {**SETTINGS["match"], **plain, "iterations": 200, "judge_every": 100}
    loss = METHODS[name].condense(task, settings_of(name, match=match), key=jax.random.key(0)).history["loss"]
    assert loss[-50:].mean() < 0.9 * loss[:50].mean()


def test_released_datm_learns_labels_from_the_experts_and_starts_from_recognised_patients(task):
    settings = load_settings("official", "smoke", method="datm", rows_per_class=4, changes=SETTINGS)
    got = METHODS["datm"].condense(task, settings, key=jax.random.key(0))
    assert ((got.targets > 0) & (got.targets < 1)).all()


class OnlyLikesMoved:
    """Scores every evaluation higher than the one before, so that the last rows are returned."""

    def __init__(self, judge):
        self.x, self.score, self._evaluations, self._judge = judge.x, judge.score, 0, judge

    def rows(self, x, targets):
        self._evaluations += 1
        return self._judge.rows(x, targets)._replace(mean=float(self._evaluations))


@pytest.mark.parametrize("name", METHODS)
def test_three_classes(name, blobs):
    (x, labels), _ = blobs
    three = labels + (x[:, 2] > 1)
    network = mlp(5, 3, (8,))
    judge = TuningJudge(network, EvaluationSettings(search_epochs=5, search_networks=1), x, three, jax.random.key(0))
    got = METHODS[name].condense(Task(network, x, three, 2, Context(judge)), settings_of(name), key=jax.random.key(0))
    assert got.x.shape == (6, 5)
    assert row_classes(got.targets).tolist() == [0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(got.targets.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_series_over_time(name):
    rng = np.random.default_rng(0)
    labels = (np.arange(90) % 3 == 0).astype(np.int32)
    x = (rng.normal(size=(90, 4, 2)) + labels[:, None, None]).astype(np.float32)
    network = lstm(2, 2, 3)
    judge = TuningJudge(network, EvaluationSettings(search_epochs=2, search_networks=1), x, labels, jax.random.key(0))
    got = METHODS[name].condense(Task(network, x, labels, 3, Context(judge)), settings_of(name), key=jax.random.key(0))
    assert got.x.shape == (6, 4, 2)
    assert np.isfinite(got.x).all()
    assert bool(shared_rows(got.x, x)) == METHODS[name].selects_rows


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


def test_recognised_start_takes_patients_whose_class_is_likely_first(blobs):
    (x, labels), _ = blobs
    sure = np.linspace(0, 1, len(labels))
    rows, _ = starting_rows(x, labels, 10, 2, "recognised", rng=np.random.default_rng(0), own_class=lambda: sure)
    place = {row.tobytes(): number for number, row in enumerate(x)}
    assert (sure[[place[row.tobytes()] for row in rows]] > 0.5).all()
    few = np.where(np.arange(len(labels)) < 5, 1.0, 0.1 * sure)
    rows, _ = starting_rows(x, labels, 10, 2, "recognised", rng=np.random.default_rng(0), own_class=lambda: few)
    chosen = [place[row.tobytes()] for row in rows]
    assert set(range(5)) <= set(chosen)
    rest = [number for number in chosen if number >= 5]
    assert min(rest) > 300  # the next likely of each class


def test_errors_name_what_is_known(blobs):
    (x, labels), _ = blobs
    with pytest.raises(SettingsError, match=r"btm, mtt, .* random"):
        get_method("btmm")
    with pytest.raises(SettingsError, match="sgd, displacement, linear, bezier"):
        get_method("mtt+spline")
    with pytest.raises(SettingsError, match="put on a path: bfm, btm, mtt, tesla, ftd, datm"):
        get_method("m3d+bezier")
    with pytest.raises(SettingsError, match="gaussian"):
        starting_rows(x, labels, 2, 2, "gauss", rng=np.random.default_rng(0))
    with pytest.raises(TooFewPatientsError):
        starting_rows(x, labels, 399, 2, "noise", rng=np.random.default_rng(0))
