"""How good a model's scores are: ranking, probabilities and calibration."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from aliquot.evaluate.results import Scores, Summary

REPORTED = ("auroc", "auprc")  # of all metrics, those that tables of methods and networks show


def probabilities(logits: np.ndarray) -> np.ndarray:
    """Class probabilities (rows, C) of logits (rows,) for two classes or (rows, C)."""
    logits = np.asarray(logits, np.float64)
    if logits.ndim == 1:
        p = expit(logits)
        return np.column_stack([1 - p, p])
    return softmax(logits, axis=1)


def row_classes(targets: np.ndarray) -> np.ndarray:
    """The class that each row was made for: its hard target; with soft targets, that of its block.

    Rows with soft targets come in blocks of equal size, one per class in class order. Their likeliest class would not
    do: where an outcome is rare, it is the same for all.

    >>> row_classes(np.array([1.0, 0.0, 1.0])), row_classes(np.array([0.1, 0.2, 0.3, 0.4]))
    (array([1, 0, 1]), array([0, 0, 1, 1]))
    """
    if np.isin(targets, (0, 1)).all():
        return targets.astype(int) if targets.ndim == 1 else targets.argmax(axis=1)
    n_classes = 2 if targets.ndim == 1 else targets.shape[1]
    return np.repeat(np.arange(n_classes), len(targets) // n_classes)


def auprc(labels: np.ndarray, logits: np.ndarray) -> float:
    """Average precision (step-wise); for more than two classes the mean over classes, each against the rest."""
    return _over_classes(average_precision_score, labels, ranking(logits))


def ranking(logits: np.ndarray) -> np.ndarray:
    """Scores (rows, C) in the order of the probabilities, without the ties of probabilities that round to 1.

    >>> ranking(np.array([50.0, 60.0]))[:, 1], probabilities(np.array([50.0, 60.0]))[:, 1]
    (array([50., 60.]), array([1., 1.]))
    """
    logits = np.asarray(logits, np.float64)
    return np.column_stack([-logits, logits]) if logits.ndim == 1 else log_softmax(logits, axis=1)


def all_metrics(labels: np.ndarray, p: np.ndarray, scores: np.ndarray | None = None) -> dict[str, float]:
    """Every metric of class probabilities (rows, C); AUROC and AUPRC of ``scores`` where these rank more finely.

    ``brier`` is the mean squared distance of p to the outcome (over classes; halved, so that for two classes it is
    the usual one). ``calibration_slope`` is the slope of the outcome on the log-odds: 1 is ideal, less means too
    extreme.
    """
    labels, p = np.asarray(labels), np.asarray(p, np.float64)  # in single precision 1 - 1e-12 is 1
    clipped = np.clip(p, 1e-12, 1 - 1e-12)
    outcome = np.eye(p.shape[1])[labels]
    scores = p if scores is None else scores
    return {
        **ranking_metrics(labels, scores),
        "log_loss": float(-np.log(clipped[np.arange(len(labels)), labels]).mean()),
        "brier": float(((p - outcome) ** 2).sum(axis=1).mean() / 2),
        "calibration_slope": _over_classes(_slope, labels, clipped),
    }


def ranking_metrics(labels: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """AUROC and AUPRC of scores (rows, C)."""
    return {
        "auroc": _over_classes(roc_auc_score, labels, scores),
        "auprc": _over_classes(average_precision_score, labels, scores),
    }


def _over_classes(metric, labels: np.ndarray, p: np.ndarray) -> float:
    """The metric of the last class against the other; for C > 2 the mean over classes, each against the rest."""
    if p.shape[1] == 2:
        return float(metric(labels == 1, p[:, 1]))
    return float(np.mean([metric(labels == c, p[:, c]) for c in range(p.shape[1]) if (labels == c).any()]))


def _slope(positive: np.ndarray, p: np.ndarray) -> float:
    scores = logit(p)[:, None]
    if np.ptp(scores) == 0:
        return 0.0
    return float(
        LogisticRegression(C=np.inf, max_iter=200).fit(scores / scores.std(), positive).coef_[0, 0] / scores.std()
    )


def deviation(values: ArrayLike, axis: int | None = None) -> np.ndarray:
    """The standard deviation of a sample, divided by n - 1; 0 of a single value.

    >>> float(deviation([1.0, 3.0])), float(deviation([1.0]))
    (1.4142135623730951, 0.0)
    """
    values = np.asarray(values, float)
    n = values.size if axis is None else values.shape[axis]
    return np.std(values, axis=axis, ddof=min(1, n - 1))


def summarise(networks: Sequence[Mapping[str, float]]) -> Scores:
    """Mean, standard deviation and number of networks of each metric.

    >>> summarise([{"auroc": 0.7, "auprc": 0.5}, {"auroc": 0.8, "auprc": 0.5}]).auprc
    Summary(mean=0.5, std=0.0, n=2)
    """
    found: dict[str, Any] = {name: _summary([network[name] for network in networks]) for name in networks[0]}
    return Scores(**found)


def _summary(values: Sequence[float]) -> Summary:
    return Summary(float(np.mean(values)), float(deviation(values)), len(values))
