"""Do the rows train other kinds of model too? Any object with ``fit`` and ``predict_proba`` can be asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from aliquot.evaluate.metrics import ranking_metrics, row_classes
from aliquot.evaluate.record import Record

LEAST_WEIGHT = 0.001


@dataclass(frozen=True)
class ModelScores(Record):
    """AUROC and AUPRC on held_out of a model that was trained once."""

    auroc: float
    auprc: float


@dataclass(frozen=True)
class ModelTransfer(Record):
    """A kind of model by what it was trained on: the rows, as many random patients, all training patients."""

    aliquot: ModelScores
    random: ModelScores | None = None
    full: ModelScores | None = None


MODELS: dict[str, Callable[[int], Any]] = {
    "logistic regression": lambda seed: LogisticRegression(max_iter=2000),
    "gradient boosting": lambda seed: HistGradientBoostingClassifier(
        min_samples_leaf=5,
        early_stopping=False,  # pyright: ignore[reportArgumentType]
        random_state=seed,
    ),
    "random forest": lambda seed: RandomForestClassifier(200, min_samples_leaf=2, random_state=seed, n_jobs=-1),
    "k nearest neighbours": lambda seed: KNeighborsClassifier(15, weights="distance"),
}


def transfer_metrics(
    name: str, x: np.ndarray, targets: np.ndarray, held_x: np.ndarray, held_labels: np.ndarray, *, seed: int
) -> ModelScores:
    """AUROC and AUPRC on held_out of the named model trained on rows with hard or soft targets."""
    model = MODELS[name](seed)
    x, held_x = as_table(x), as_table(held_x)
    if name == "k nearest neighbours":  # takes no weights: each row votes for its own class
        model.set_params(n_neighbors=min(model.n_neighbors, len(x)))
        model.fit(x, row_classes(targets))
    else:
        rows, labels, weights = as_weighted(x, targets)
        model.fit(rows, labels, sample_weight=weights)
    found: dict[str, Any] = ranking_metrics(held_labels, model.predict_proba(held_x))
    return ModelScores(**found)


def as_table(x: np.ndarray) -> np.ndarray:
    """Rows as models of tables take them: of series (n, T, C), the mean of each channel and its last value.

    >>> as_table(np.array([[[1.0], [2.0], [6.0]]]))
    array([[3., 6.]])
    """
    return x if x.ndim == 2 else np.concatenate([x.mean(axis=1), x[:, -1]], axis=1)


def as_weighted(x: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Soft targets as rows that appear once per class, weighted by its probability; hard targets stay single.

    >>> _, labels, weights = as_weighted(np.zeros((2, 1)), np.array([0.0, 0.25]))
    >>> labels.tolist(), weights.tolist()
    ([0, 0, 1], [1.0, 0.75, 0.25])
    """
    row, label, weight = weighted_classes(targets)
    return x[row], label, weight


def weighted_classes(targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, class code and weight of each line, where a row has one for every class with a weight above 0.001."""
    p = np.column_stack([1 - targets, targets]) if targets.ndim == 1 else targets
    row, label = np.nonzero(p > LEAST_WEIGHT)
    return row, label, p[row, label]
