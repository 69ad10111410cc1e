"""Do the rows train other kinds of model too? Any object with ``fit`` and ``predict_proba`` can be asked."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from aliquot.evaluate.labels import lines_of
from aliquot.evaluate.metrics import ranking_metrics, row_classes
from aliquot.evaluate.record import Record

MANY = 1000  # rows, of which a network can set some aside to know when to stop


@dataclass(frozen=True)
class ModelScores(Record):
    """AUROC and AUPRC on held_out of a model that was trained once."""

    auroc: float
    auprc: float


@dataclass(frozen=True)
class ModelTransfer(Record):
    """A kind of model by what it was trained on: the rows, as many random patients, records around the rows, patients.

    ``full`` are all training patients, or as many as ``transfer_patients`` of the results says.
    """

    aliquot: ModelScores
    random: ModelScores | None = None
    expanded: ModelScores | None = None
    full: ModelScores | None = None


MODELS: dict[str, Callable[[int, int], Any]] = {  # by seed and number of training rows
    "logistic regression": lambda seed, n: LogisticRegression(max_iter=2000),
    "multilayer perceptron": lambda seed, n: MLPClassifier(
        (64,), max_iter=500, early_stopping=n >= MANY, random_state=seed
    ),
    "gradient boosting": lambda seed, n: HistGradientBoostingClassifier(
        min_samples_leaf=5,
        early_stopping=False,  # pyright: ignore[reportArgumentType]
        random_state=seed,
    ),
    "random forest": lambda seed, n: RandomForestClassifier(200, min_samples_leaf=2, n_jobs=-1, random_state=seed),
    "k nearest neighbours": lambda seed, n: KNeighborsClassifier(min(15, n), weights="distance"),
}
WITHOUT_WEIGHTS = ("k nearest neighbours",)  # each row votes for the class it was made for


def transfer_metrics(
    name: str, x: np.ndarray, targets: np.ndarray, held_x: np.ndarray, held_labels: np.ndarray, *, seed: int
) -> ModelScores:
    """AUROC and AUPRC on held_out of the named model trained on rows with hard or soft targets.

    Rows of one class alone teach nothing: whoever is trained on them scores as chance.
    """
    model, x = MODELS[name](seed, len(x)), as_table(x)
    p = np.zeros((len(held_x), 2 if targets.ndim == 1 else targets.shape[1]))
    rows, labels, weights = as_weighted(x, targets)
    if name in WITHOUT_WEIGHTS:
        rows, labels, weights = x, row_classes(targets), None
    if len(np.unique(labels)) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(rows, labels, **({} if weights is None else {"sample_weight": weights}))
        if name == "random forest":
            model.set_params(n_jobs=1)  # threads would add the trees' votes in any order
        p[:, model.classes_] = model.predict_proba(as_table(held_x))
    found: dict[str, Any] = ranking_metrics(held_labels, p)
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
    lines = lines_of(targets)
    return x[lines.row], lines.code, lines.weight
