"""How good a model's scores are: ranking, probabilities and calibration."""

import numpy as np
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

METRICS = ("auroc", "auprc", "log_loss", "brier", "calibration_slope")


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


def summary(runs: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Mean, standard deviation and number of repetitions of each metric.

    >>> summary([{"auroc": 0.7}, {"auroc": 0.8}])["auroc"]["n"]
    2
    """
    return {
        name: {
            "mean": float(np.mean([run[name] for run in runs])),
            "std": float(np.std([run[name] for run in runs], ddof=1)) if len(runs) > 1 else 0.0,
            "n": len(runs),
        }
        for name in runs[0]
    }
