"""Probabilities for patients, from models trained on rows.

The rows are no sample of the patients. So the log-odds z of a model trained on them are corrected,
p = σ(scale · z + offset), with two numbers that patients decide. With two classes the ranking of patients does not
change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from aliquot.disclosure import SUPPORT, patients_in, to_ten
from aliquot.evaluate.metrics import all_metrics, probabilities, ranking, summarise
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Scores

_LARGEST = 1e3  # logits beyond it come from networks that diverged
_BOUND = np.log(1e3)  # on the log of the scale, either way
_SCALE_PRIOR = 1.0  # precision of the prior on the log of the scale: about what ten patients tell
_OFFSET_PRIOR = 1e-3  # of offsets: only so that they are finite where a class has no patients


@dataclass(frozen=True)
class Correction:
    """What turns logits into log-odds among patients: ``scale`` · z + ``offset``.

    ``offset`` is one number for two classes; for C > 2 one per class, the first 0.

    >>> Correction(scale=2.0, offset=-1.0).apply(np.array([0.0, 1.5]))
    array([-1.,  2.])
    """

    scale: float = 1.0
    offset: float | tuple[float, ...] = 0.0

    @classmethod
    def of_recipe(cls, calibration: Mapping[str, Any]) -> "Correction":
        """The correction in ``recipe.toml``; those of earlier releases have no scale.

        >>> Correction.of_recipe({"logit_offset": [0.0, -0.5, 0.2]})
        Correction(scale=1.0, offset=(0.0, -0.5, 0.2))
        """
        offset = calibration["logit_offset"]
        return cls(calibration.get("logit_scale", 1.0), tuple(offset) if isinstance(offset, list) else offset)

    def rounded(self, decimals: int = 3) -> "Correction":
        """The correction as it is released."""
        scale = max(round(self.scale, decimals), 10.0**-decimals)
        offset = np.round(self.offset, decimals).tolist()
        return Correction(scale, tuple(offset) if isinstance(offset, list) else offset)

    def apply(self, logits: np.ndarray) -> np.ndarray:
        """Corrected logits (…) or (…, C)."""
        return self.scale * np.asarray(logits, np.float64) + np.asarray(self.offset)


AS_THEY_ARE = Correction()


@dataclass(frozen=True)
class ReliabilityBin(Record):
    """Patients with similar predictions: the mean prediction, and the share of them who had the event."""

    predicted: float
    observed: float


@dataclass(frozen=True)
class Reliability(Record):
    """Points of the reliability curve before and after the correction."""

    before: tuple[ReliabilityBin, ...]
    after: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, kw_only=True)
class Calibration(Record):
    """Probabilities before and after the correction; with two classes the ranking is the same."""

    scale: float = 1.0  # earlier releases have none
    offset: float | tuple[float, ...]
    before: Scores
    after: Scores
    reliability: Reliability | None = None


def calibration_of(
    labels: np.ndarray, logits: np.ndarray, correction: Correction, patients: np.ndarray | None = None
) -> Calibration:
    """How good the probabilities of several networks (networks, rows[, C]) are, as they are and corrected."""
    before, after = (np.mean([corrected(one, how) for one in logits], axis=0) for how in (AS_THEY_ARE, correction))
    points = [reliability(labels, p, patients=patients) for p in (before, after)]
    return Calibration(
        scale=correction.scale,
        offset=correction.offset,
        before=score_logits(labels, logits),
        after=score_logits(labels, logits, correction),
        reliability=Reliability(*points) if all(points) else None,
    )


def fit_correction(labels: np.ndarray, logits: np.ndarray) -> Correction:
    """The likeliest scale and offset for the logits (networks, rows[, C]) that networks give to patients.

    Each patient counts once, as the mean over networks, and a weak prior holds the scale near 1. So, nearly, the mean
    probability of each class equals its share among these patients.

    Guarantees: scale and offsets are finite, and the scale is positive, whatever the logits and however few patients.

    >>> fitted = fit_correction(np.array([0, 0, 0, 1]), np.full((1, 4), 2.0))
    >>> round(fitted.scale, 1), round(float(corrected(np.array([2.0]), fitted)[0, 1]), 2)
    (1.0, 0.25)
    """
    z = np.clip(np.asarray(logits, np.float64), -_LARGEST, _LARGEST)
    z = np.stack([np.zeros_like(z), z], axis=-1) if z.ndim == 2 else z
    outcome = np.eye(z.shape[-1])[labels]
    prior = np.r_[_SCALE_PRIOR, np.full(z.shape[-1] - 1, _OFFSET_PRIOR)]

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the log-posterior of the log of the scale and of the offsets but the first, and its gradient."""
        scaled = np.exp(parameters[0]) * z
        log_p = log_softmax(scaled + np.r_[0.0, parameters[1:]], axis=-1)
        residual = (np.exp(log_p) - outcome) / len(z)
        gradient = np.r_[(residual * scaled).sum(), residual.sum(axis=(0, 1))[1:]]
        value = -(outcome * log_p).sum() / len(z) + (prior * parameters**2).sum() / 2
        return float(value), gradient + prior * parameters

    bounds = [(-_BOUND, _BOUND), *[(None, None)] * (len(prior) - 1)]
    precise = {"ftol": 1e-14, "gtol": 1e-7, "maxiter": 500}
    found = minimize(loss, np.zeros(len(prior)), jac=True, method="L-BFGS-B", bounds=bounds, options=precise).x
    offsets = tuple(float(value) for value in found[1:])
    return Correction(float(np.exp(found[0])), offsets[0] if len(offsets) == 1 else (0.0, *offsets))


def reliability(
    labels: np.ndarray, p: np.ndarray, bins: int = 10, patients: np.ndarray | None = None
) -> tuple[ReliabilityBin, ...]:
    """Mean predicted and observed share of the last class, in bins of equal size that join until they are backed.

    Each bin has ten patients or more with the last class, and ten without; the share tells their number to the nearest
    ten. Empty where there are not as many.
    """
    last, outcome = p[:, -1], labels == p.shape[1] - 1
    order = np.argsort(last, kind="stable")
    groups, joined = [], order[:0]
    for part in np.array_split(order, max(1, min(bins, len(order) // SUPPORT))):
        joined = np.concatenate([joined, part])
        if _is_backed(outcome[joined], None if patients is None else patients[joined]):
            groups.append(joined)
            joined = order[:0]
    if groups:
        groups[-1] = np.concatenate([groups[-1], joined])
    return tuple(_bin(last[group], outcome[group]) for group in groups)


def _is_backed(outcome: np.ndarray, patients: np.ndarray | None) -> bool:
    return min(patients_in(outcome, patients), patients_in(~outcome, patients)) >= SUPPORT


def _bin(predicted: np.ndarray, outcome: np.ndarray) -> ReliabilityBin:
    return ReliabilityBin(round(float(predicted.mean()), 3), to_ten(float(outcome.mean()), len(outcome)))


def corrected(logits: np.ndarray, correction: Correction) -> np.ndarray:
    """Class probabilities (rows, C) after the correction."""
    return probabilities(correction.apply(logits))


def score_logits(labels: np.ndarray, logits: np.ndarray, correction: Correction = AS_THEY_ARE) -> Scores:
    """Every metric over several networks' logits (networks, rows[, C]), after the correction."""
    moved = [correction.apply(one) for one in logits]
    return summarise([all_metrics(labels, probabilities(one), ranking(one)) for one in moved])
