import jax
import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

from aliquot.evaluate import all_metrics, auprc, reliability
from aliquot.evaluate.metrics import deviation, probabilities, ranking, row_classes, summarise
from aliquot.evaluate.other_models import MODELS, as_weighted, transfer_metrics
from aliquot.evaluate.protocol import EvaluationSettings, TuningJudge


def test_weight_decay_is_for_rows_and_does_not_lower_the_bar():
    how = EvaluationSettings(weight_decay=0.003)
    assert how.training(how.final_epochs).weight_decay == 0.003
    assert how.full_training().weight_decay == 0
    assert how.full_training().epochs == how.full_epochs


@pytest.fixture
def scored():
    rng = np.random.default_rng(0)
    z = rng.normal(-1, 2, 2000)
    return (rng.random(2000) < expit(z)).astype(int), z


def test_two_class_metrics_are_scikit_learns(scored):
    labels, z = scored
    p = expit(z)
    got = all_metrics(labels, probabilities(z))
    assert got["auroc"] == pytest.approx(roc_auc_score(labels, p))
    assert got["auprc"] == pytest.approx(average_precision_score(labels, p)) == auprc(labels, z)
    assert got["log_loss"] == pytest.approx(log_loss(labels, p))
    assert got["brier"] == pytest.approx(brier_score_loss(labels, p))
    assert got["calibration_slope"] == pytest.approx(1, abs=0.15)


def test_slope_tells_too_extreme_probabilities(scored):
    labels, z = scored
    assert all_metrics(labels, probabilities(3 * z))["calibration_slope"] == pytest.approx(1 / 3, abs=0.05)


def test_three_class_metrics_are_means_over_classes():
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    p = softmax(z, axis=1)
    expected = np.mean([average_precision_score(labels == c, p[:, c]) for c in range(3)])
    assert all_metrics(labels, p)["auprc"] == pytest.approx(expected)
    assert all_metrics(labels, p)["auroc"] == pytest.approx(roc_auc_score(labels, p, multi_class="ovr"))


def test_reliability_bins_are_backed_by_ten_patients_with_and_without_the_event(scored):
    labels, z = scored
    found = reliability(labels, probabilities(z))
    assert 5 < len(found) < 10  # those at the ends, of next to nobody with or without the event, joined others
    for group in found:
        assert group.observed == pytest.approx(group.predicted, abs=0.12)
        assert group.observed * 200 == pytest.approx(round(group.observed * 20) * 10)  # tens of the 200 in a bin
    assert len(reliability(labels[:25], probabilities(z[:25]))) <= 1
    assert reliability(np.zeros(200, int), probabilities(z[:200])) == ()
    assert reliability(labels, probabilities(z), patients=np.arange(2000) % 9) == ()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("soft", [False, True])
def test_models_learn_from_hard_and_soft_rows(name, soft, blobs):
    (x, labels), (held, held_labels) = blobs
    rows = np.concatenate([np.flatnonzero(labels == c)[:50] for c in (0, 1)])  # blocks of classes, as rows come
    targets = np.where(labels == 1, 0.9, 0.2) if soft else labels.astype(float)
    got = transfer_metrics(name, x[rows], targets[rows], held, held_labels, seed=0)
    assert got.auroc > 0.65
    assert set(got.to_json()) == {"auroc", "auprc"}


def test_weighted_rows_carry_all_of_the_probability():
    targets = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    x, labels, weights = as_weighted(np.arange(4.0).reshape(2, 2), targets)
    assert labels.tolist() == [0, 1, 2, 0]
    assert weights.sum() == pytest.approx(2)
    assert x[3].tolist() == [2.0, 3.0]
    assert row_classes(np.repeat(targets, 3, axis=0)).tolist() == [0, 0, 1, 1, 2, 2]
    assert row_classes(np.eye(3)[[2, 0]]).tolist() == [2, 0]


def test_summary():
    got = summarise([{"auroc": 1.0, "auprc": 0.5}, {"auroc": 3.0, "auprc": 0.5}]).auroc
    assert (got.mean, got.std, got.n) == (2.0, pytest.approx(2**0.5), 2)
    assert summarise([{"auroc": 1.0, "auprc": 0.5}]).auroc.std == 0


def test_deviations_are_those_of_a_sample_along_any_axis():
    values = np.random.default_rng(0).normal(size=(4, 3))
    np.testing.assert_allclose(deviation(values, axis=0), values.std(axis=0, ddof=1))
    assert deviation(values[:1], axis=0).tolist() == [0, 0, 0]


def test_extreme_logits_keep_their_ranking():
    labels = np.array([0, 0, 1, 1])
    z = np.array([100.0, 200.0, 300.0, 400.0])
    assert auprc(labels, z) == 1
    assert all_metrics(labels, probabilities(z))["auprc"] == 0.5
    assert all_metrics(labels, probabilities(z), ranking(z))["auprc"] == 1


def test_certain_probabilities_in_single_precision_have_a_slope():
    p = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1]], np.float32)
    metrics = all_metrics(np.array([0, 0, 1, 1, 1, 0]), p)
    assert all(np.isfinite(value) for value in metrics.values())


@pytest.mark.parametrize("networks", [1, 3])
def test_the_judges_deviation_is_that_of_a_sample(blobs, small_network, monkeypatch, networks):
    (x, labels), tuning = blobs
    how = EvaluationSettings(search_networks=networks, search_epochs=1)
    judge = TuningJudge(small_network, how, *tuning, jax.random.key(0))
    scores, score = [], judge.score
    monkeypatch.setattr(judge, "score", lambda logits: scores.append(score(logits)) or scores[-1])
    verdict = judge.rows(x[:20], labels[:20].astype(np.float32))
    assert verdict.std == pytest.approx(np.std(scores, ddof=1) if networks > 1 else 0.0)


def test_rows_of_one_class_teach_other_models_nothing():
    x, held_labels = np.arange(12.0).reshape(6, 2), np.array([0, 1, 1, 0])
    for name in MODELS:
        found = transfer_metrics(name, x, np.ones(6), x[:4], held_labels, seed=0)
        assert (found.auroc, found.auprc) == (0.5, 0.5)


def test_classes_that_no_row_has_are_predicted_for_nobody():
    x, targets = np.arange(24.0).reshape(12, 2), np.eye(3)[np.arange(12) % 2]
    found = transfer_metrics("logistic regression", x, targets, x, np.arange(12) % 3, seed=0)
    assert 0 < found.auroc < 1
