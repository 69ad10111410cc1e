"""The loop: guards, determinism, continuing, learned labels and learning rate (methods.md §14: 4, 10, 12)."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aliquot.context import Context, InMemoryStore, Verdict
from aliquot.curves import Curve, straight
from aliquot.errors import DegenerateSegmentError
from aliquot.evaluate.protocol import EvaluationSettings, TuningJudge
from aliquot.matching import Curves, MatchSettings, Rows, Slots, match, questions_of
from aliquot.matching.labels import expert_logits, first_labels
from aliquot.matching.loop import HIGHEST_LR, LOWEST_LR, Draw, Material, begin, draw_iterations, run_block
from aliquot.matching.rows import label_logits, soft_targets
from aliquot.networks import TrainSettings, as_targets, train_networks

SETTINGS = MatchSettings(
    iterations=12,
    student_steps=4,
    student_lr=0.1,
    optimiser="adam",
    data_lr=0.05,
    judge_every=4,
    learn_student_lr=False,
)
BTM = Slots()


@pytest.fixture(scope="module")
def curves(blobs, small_network):
    (x, labels), _ = blobs
    keys = jax.random.split(jax.random.key(0), 3)
    trained = train_networks(
        small_network, TrainSettings(epochs=4, learning_rate=0.1), jnp.asarray(x), as_targets(labels, 2), keys
    )
    return straight(trained.start, trained.end)


@pytest.fixture
def start():
    x = np.random.default_rng(1).normal(size=(6, 5)).astype(np.float32)
    return x, as_targets(np.array([0, 0, 0, 1, 1, 1]), 2)


def run(network, curves, start, judge, settings=SETTINGS, slots=BTM, **stored):
    segments, rows = Curves(curves, settings.segment), Rows(jnp.asarray(start[0]), start[1])
    return match(network, settings, slots, segments, rows, key=jax.random.key(5), context=Context(judge, **stored))


def blocks(network, curves, state, settings=SETTINGS, slots=BTM, *, count, first=0):
    """The state and figures after ``count`` iterations from number ``first`` on."""
    keys = jax.vmap(lambda number: jax.random.fold_in(jax.random.key(0), number))(jnp.arange(first, first + count))
    segments = Curves(curves, settings.segment).draw(keys, np.zeros(count))
    draws = Draw(*segments, fresh=jnp.zeros(count, bool), drawn=None, key=keys)
    return run_block(network, settings, slots, Material(curves.end), state, draws)


def test_same_key_same_rows_and_the_judge_changes_only_the_choice(small_network, curves, start, small_judge, blobs):
    one, two = (run(small_network, curves, start, small_judge) for _ in range(2))
    assert (one.x == two.x).all()
    other = TuningJudge(
        small_network, EvaluationSettings(search_epochs=20, search_networks=2), *blobs[1], jax.random.key(77)
    )
    three = run(small_network, curves, start, other)
    assert (one.history["loss"] == three.history["loss"]).all()
    assert (one.history["tuning"] != three.history["tuning"]).any()


@pytest.mark.parametrize("meta_gradient", ["first_order", "full"])
def test_loss_falls(small_network, curves, start, small_judge, meta_gradient):
    longer = replace(SETTINGS, iterations=120, judge_every=60)
    slots = replace(BTM, gradient=meta_gradient)
    loss = run(small_network, curves, start, small_judge, longer, slots).history["loss"]
    assert loss[-30:].mean() < 0.8 * loss[:30].mean()


def test_the_best_evaluation_is_kept(small_network, curves, start, small_judge):
    got = run(small_network, curves, start, small_judge)
    assert got.history["judged_at"].tolist() == [0, 4, 8, 12]
    best = got.history["tuning"].argmax()
    assert got.best_iteration == got.history["judged_at"][best]
    assert small_judge.rows(got.x, got.targets).mean == pytest.approx(got.history["tuning"][best])


def test_a_stopped_search_continues_to_the_same_rows(small_network, curves, start, small_judge):
    class Stops(InMemoryStore):
        """Stops the search once its first checkpoint is stored."""

        def put(self, name, arrays):
            super().put(name, arrays)
            raise KeyboardInterrupt

    whole, store = run(small_network, curves, start, small_judge), Stops()
    with pytest.raises(KeyboardInterrupt):
        run(small_network, curves, start, small_judge, store=store)
    store.__class__ = InMemoryStore
    continued = run(small_network, curves, start, small_judge, store=store)
    assert (whole.x == continued.x).all()
    for name, figures in whole.history.items():
        assert (figures == continued.history[name]).all(), name


def test_a_step_that_is_not_finite_is_skipped_and_counted(small_network, curves, start):
    broken = Curve(*(part.at[:, 0].set(jnp.nan) for part in curves))
    state = begin(SETTINGS, Rows(jnp.asarray(start[0]), start[1]))
    after, figures = blocks(small_network, broken, state, slots=replace(BTM, average=0.5), count=5)
    assert figures.skipped.all()
    for new, old in zip(jax.tree.leaves(after), jax.tree.leaves(state), strict=True):
        assert (new == old).all()


def test_a_segment_without_length_raises(small_network, curves, start, small_judge):
    still = straight(curves.start, curves.start)
    with pytest.raises(DegenerateSegmentError):
        run(small_network, still, start, small_judge)


@pytest.mark.parametrize("scale", ["raw", "log"])
def test_learned_learning_rate_moves_and_stays_in_its_range(small_network, curves, start, small_judge, scale):
    learn = replace(SETTINGS, learn_student_lr=True, lr_lr=0.01, lr_scale=scale)
    rates = run(small_network, curves, start, small_judge, learn).history["student_lr"]
    assert rates[0] == pytest.approx(0.1)
    assert rates[-1] != rates[0]
    wild = replace(learn, lr_lr=1e6)
    rates = run(small_network, curves, start, small_judge, wild).history["student_lr"]
    assert rates.min() >= LOWEST_LR * 0.99
    assert rates.max() <= HIGHEST_LR * 1.01


def test_learned_labels_move_and_stay_probabilities(small_network, curves, start, small_judge):
    soft = replace(SETTINGS, label_lr=0.5, iterations=20, judge_every=20)
    learned = replace(BTM, labels="learned")
    assert np.isfinite(run(small_network, curves, start, small_judge, soft, learned).history["loss"]).all()
    state = begin(soft, Rows(jnp.asarray(start[0]), label_logits(start[1])))
    after, _ = blocks(small_network, curves, state, soft, learned, count=20)
    p = np.asarray(soft_targets(after.rows.labels))
    assert ((p > 0) & (p < 1)).all()
    assert not np.allclose(after.rows.labels, state.rows.labels)


def test_labels_of_the_teacher_are_those_of_the_last_target(small_network, curves, start):
    state = begin(SETTINGS, Rows(jnp.asarray(start[0]), start[1]))
    one, _ = blocks(small_network, curves, state, slots=replace(BTM, labels="teacher"), count=1)
    _, target = Curves(curves, SETTINGS.segment).draw(jax.random.fold_in(jax.random.key(0), 0)[None], np.zeros(1))
    expected = jax.nn.sigmoid(small_network.logits(target[0], state.rows.x))  # of the rows before they moved
    np.testing.assert_allclose(one.rows.labels, expected, rtol=1e-5)


def test_labels_of_the_ensemble_are_the_experts_mean(small_network, curves, start):
    state = begin(SETTINGS, Rows(jnp.asarray(start[0]), start[1]))
    one, _ = blocks(small_network, curves, state, slots=replace(BTM, labels="ensemble"), count=1)
    each = [jax.nn.sigmoid(small_network.logits(end, state.rows.x)) for end in curves.end]
    np.testing.assert_allclose(one.rows.labels, np.mean(each, axis=0), rtol=1e-5)


def test_starting_labels_may_be_what_all_experts_think(small_network, curves, start):
    x, targets = jnp.asarray(start[0]), start[1]
    logits = first_labels(small_network, replace(BTM, labels="learned"), "ensemble", curves.end, Rows(x, targets))
    each = [jax.nn.sigmoid(small_network.logits(end, x)) for end in curves.end]
    np.testing.assert_allclose(soft_targets(logits), np.mean(each, axis=0), atol=2e-3)


def test_starting_labels_are_the_logits_of_the_experts_that_are_right(small_network, curves, start):
    x, targets = jnp.asarray(start[0]), start[1]
    got = expert_logits(small_network, curves.end, x, targets)
    each = np.stack([small_network.logits(end, x) for end in curves.end])
    for row in range(len(x)):
        right = (each[:, row] > 0) == (targets[row] > 0.5)
        np.testing.assert_allclose(got[row], each[right if right.any() else slice(None), row].mean(), rtol=1e-5)


def test_a_gate_moves_nothing_above_it(small_network, curves, start, small_judge):
    state = begin(SETTINGS, Rows(jnp.asarray(start[0]), start[1]))
    after, figures = blocks(small_network, curves, state, slots=replace(BTM, gate=1e-9), count=4)
    assert figures.gated.all()
    assert not figures.skipped.any()
    assert (after.rows.x == state.rows.x).all()
    open_gate, _ = blocks(small_network, curves, state, slots=replace(BTM, gate=1e9), count=4)
    assert (open_gate.rows.x != state.rows.x).any()
    got = run(small_network, curves, start, small_judge, slots=replace(BTM, gate=1e-9))
    assert got.skipped == 12
    assert "stopped 100% of the iterations" in got.notes[0]


def test_the_average_follows_the_rows_and_with_beta_0_is_the_rows(small_network, curves, start):
    rows = Rows(jnp.asarray(start[0]), start[1])
    state, _ = blocks(small_network, curves, begin(SETTINGS, rows), slots=BTM, count=4)
    assert (state.average.x == state.rows.x).all()
    half, _ = blocks(small_network, curves, begin(SETTINGS, rows), slots=replace(BTM, average=0.5), count=1)
    np.testing.assert_allclose(half.average.x, (rows.x + half.rows.x) / 2, rtol=1e-6)
    assert (half.rows.x == blocks(small_network, curves, begin(SETTINGS, rows), count=1)[0].rows.x).all()


def test_the_average_is_a_second_candidate(small_network, curves, start, small_judge):
    class LikesTheSecond:
        """Scores candidates in the order in which it sees them."""

        x, score = small_judge.x, small_judge.score

        def __init__(self):
            self.seen = []

        def rows(self, x, targets):
            self.seen.append(x)
            return Verdict(float(len(self.seen)), 0.0)

    judge = LikesTheSecond()
    got = run(small_network, curves, start, judge, slots=replace(BTM, average=0.9))
    assert len(judge.seen) == 7  # the starting rows, then rows and average after each of three blocks
    assert (got.x == judge.seen[-1]).all()
    assert got.history["candidate"].tolist() == [0, 1, 1, 1]
    assert "average" in got.notes[0]


def test_mini_batches_and_pairs_of_times(small_network, curves, start, small_judge):
    small = replace(SETTINGS, student_batch=4, segment=replace(SETTINGS.segment, kind="pair"))
    assert np.isfinite(run(small_network, curves, start, small_judge, small).history["loss"]).all()


def test_heavy_ball_on_the_rows_follows_its_formula(small_network, curves, start):
    """v ← μ v + g, x ← x - lr v: the second step is the first's momentum plus its own gradient."""
    sgd = replace(SETTINGS, optimiser="sgd", data_lr=0.1, data_momentum=0.5)
    state = begin(sgd, Rows(jnp.asarray(start[0]), start[1]))
    one, _ = blocks(small_network, curves, state, sgd, count=1)
    two, _ = blocks(small_network, curves, one, sgd, count=1, first=1)
    alone, _ = blocks(small_network, curves, begin(sgd, one.rows), sgd, count=1, first=1)
    first, second = one.rows.x - state.rows.x, two.rows.x - one.rows.x
    np.testing.assert_allclose(second, 0.5 * first + (alone.rows.x - one.rows.x), rtol=1e-4, atol=1e-7)


FUNCTION = Slots(goal="predictions", begin="both", gradient="full", labels="learned", average=0.9, keep="last")
BY_PREDICTIONS = replace(
    SETTINGS,
    iterations=40,
    student_steps=8,
    window=3,
    student_momentum=0.9,
    student_dropout=True,
    label_lr=0.1,
    label_start="balanced",
    scale_lr=0.03,
    decay=0.02,
    normalise=True,
    questions=64,
    judge_every=20,
    segment=replace(SETTINGS.segment, length=0.0),
)


@pytest.fixture(scope="module")
def questions(blobs, small_network, curves):
    (x, labels), _ = blobs
    return questions_of(small_network, curves.end, jnp.asarray(x), labels)


def by_predictions(network, curves, start, judge, questions, settings=BY_PREDICTIONS, slots=FUNCTION, **stored):
    segments, rows = Curves(curves, settings.segment), Rows(jnp.asarray(start[0]), start[1])
    context = Context(judge, **stored)
    return match(network, settings, slots, segments, rows, questions=questions, key=jax.random.key(5), context=context)


@pytest.mark.parametrize("begin", ["path", "fresh", "both"])
def test_predictions_come_nearer_to_those_of_the_experts(small_network, curves, start, small_judge, questions, begin):
    longer = replace(BY_PREDICTIONS, iterations=150, judge_every=75)
    slots = replace(FUNCTION, begin=begin)
    loss = by_predictions(small_network, curves, start, small_judge, questions, longer, slots).history["loss"]
    assert loss[-30:].mean() < 0.8 * loss[:30].mean()
    assert loss.min() >= 0


def test_students_begin_fresh_and_on_the_curve_in_turns(small_network, curves, questions):
    segments, key = Curves(curves, BY_PREDICTIONS.segment), jax.random.key(1)
    asked = (small_network, BY_PREDICTIONS, FUNCTION, Material(curves.end, questions), segments, key)
    draws = draw_iterations(*asked, np.arange(4))
    assert draws.fresh.tolist() == [True, False, True, False]
    again = draw_iterations(*asked, np.arange(2, 4))  # blocks may be cut anywhere
    assert (again.start == draws.start[2:]).all()
    assert (again.drawn.numbers == draws.drawn.numbers[2:]).all()
    assert not np.allclose(draws.start[0], draws.start[2])


def test_the_last_average_is_kept_whatever_the_judge_says(small_network, curves, start, small_judge, questions):
    class LikesTheFirst:
        """Scores every evaluation lower than the one before."""

        x, score = small_judge.x, small_judge.score

        def __init__(self):
            self.seen = []

        def rows(self, x, targets):
            self.seen.append(x)
            return Verdict(-float(len(self.seen)), 0.0)

    judge = LikesTheFirst()
    got = by_predictions(small_network, curves, start, judge, questions)
    assert len(judge.seen) == 3  # the starting rows, then the average after each of two blocks
    assert (got.x == judge.seen[-1]).all()
    assert got.best_iteration == 40


def test_a_stopped_function_matching_continues_to_the_same_rows(small_network, curves, start, last, questions):
    whole, store = by_predictions(small_network, curves, start, last(), questions), InMemoryStore()
    with pytest.raises(KeyboardInterrupt):
        by_predictions(small_network, curves, start, last(stop_after=2), questions, store=store)
    continued = by_predictions(small_network, curves, start, last(2), questions, store=store)
    assert (whole.x == continued.x).all()
    assert (whole.targets == continued.targets).all()


def test_balanced_labels_start_at_the_experts_opinion_without_the_prior(small_network, curves, start, questions):
    rows = Rows(jnp.asarray(start[0]), start[1])
    got = first_labels(small_network, FUNCTION, "balanced", curves.end, rows, questions.offset)
    each = np.stack([small_network.logits(end, rows.x) for end in curves.end])
    np.testing.assert_allclose(got, each.mean(axis=0) - questions.offset, rtol=1e-4, atol=1e-5)
