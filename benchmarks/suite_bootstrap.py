"""How sure a share of AUPRC is, as far as the held-out patients decide: a paired bootstrap."""

import numpy as np

RESAMPLES = 400
LEVEL = 0.95


def share_interval(
    labels: np.ndarray,
    rows: np.ndarray,
    full: np.ndarray,
    *,
    patients: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """The interval of mean AUPRC of the networks ``rows`` over that of ``full``; both are (networks, patients).

    Each resample draws the same patients, with all their rows, for all networks. Those without an event are left out.
    """
    rng, patient = np.random.default_rng(seed), np.arange(len(labels))
    if patients is not None:
        patient = np.unique(patients, return_inverse=True)[1]
    n = patient.max() + 1
    drawn = [np.bincount(rng.integers(n, size=n), minlength=n)[patient] for _ in range(resamples)]
    drawn = np.array([counts for counts in drawn if (counts * labels).any()])
    shares = _mean_auprc(labels, rows, drawn) / _mean_auprc(labels, full, drawn)
    low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def weighted_auprc(labels: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Average precision (step-wise) under each of several weightings (m, n) of the patients.

    >>> weighted_auprc(np.array([0, 1, 1]), np.array([2.0, 3.0, 1.0]), np.array([[1, 1, 1], [0, 1, 1]]))
    array([0.83333333, 1.        ])
    """
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0, True)  # ties are one threshold
    total = np.cumsum(weights[:, order], axis=1, dtype=float)[:, last]
    events = np.cumsum(weights[:, order] * labels[order], axis=1, dtype=float)[:, last]
    precision = events / np.maximum(total, 1e-300)
    gained = np.diff(events, axis=1, prepend=0.0)
    return (precision * gained).sum(axis=1) / events[:, -1]


def _mean_auprc(labels: np.ndarray, logits: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    return np.mean([weighted_auprc(labels, scores, drawn) for scores in logits], axis=0)
