"""Probabilities for the real prevalence, from models trained on balanced rows.

Rows come in equal numbers per class, patients do not. A model trained on the rows predicts probabilities for a world
like the rows; adding a constant to its log-odds moves them to the world of the patients and changes no ranking.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, softmax

from aliquot.evaluate.metrics import all_metrics, probabilities, ranking, summarise
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Scores


@dataclass(frozen=True)
class ReliabilityBin(Record):
    """Patients with similar predictions: the mean prediction, and the share of them who had the event."""

    predicted: float
    observed: float


@dataclass(frozen=True)
class Reliability(Record):
    """Points of the reliability curve before and after the prior correction."""

    before: tuple[ReliabilityBin, ...]
    after: tuple[ReliabilityBin, ...]


@dataclass(frozen=True)
class Calibration(Record):
    """Probabilities before and after the prior correction; the ranking is the same."""

    offset: float | tuple[float, ...]
    before: Scores
    after: Scores
    reliability: Reliability | None = None


def calibration_of(labels: np.ndarray, logits: np.ndarray, offset: np.ndarray | float) -> Calibration:
    """How good the probabilities of several networks (networks, rows[, C]) are, as they are and with the offset."""
    before, after = (np.mean([corrected(one, add) for one in logits], axis=0) for add in (0.0, offset))
    listed = np.asarray(offset).tolist()
    return Calibration(
        tuple(listed) if isinstance(listed, list) else listed,
        score_logits(labels, logits, 0.0),
        score_logits(labels, logits, offset),
        Reliability(reliability(labels, before), reliability(labels, after)),
    )


def prior_offset(logits: np.ndarray, prevalence: np.ndarray) -> np.ndarray:
    """The constant to add to logits so that the mean probability of each class equals its prevalence.

    Shape () for two classes, (C,) for C > 2 (the first entry 0). The logits are those of networks on the tuning
    part, any leading axes; the prevalence is the training part's.

    >>> offset = prior_offset(np.array([2.0, 2.0]), np.array([0.75, 0.25]))
    >>> round(float(expit(2.0 + offset)), 6)
    0.25
    """
    if len(prevalence) == 2:
        low, high = -60 - logits.max(), 60 - logits.min()
        return np.asarray(brentq(lambda b: expit(logits + b).mean() - prevalence[1], low, high))
    flat = logits.reshape(-1, logits.shape[-1]).astype(np.float64)
    offset = np.zeros(len(prevalence))
    for _ in range(200):  # a fixed-point iteration; each round scales the classes to their prevalence
        step = np.log(prevalence) - np.log(softmax(flat + offset, axis=1).mean(axis=0))
        offset += step
        if np.abs(step).max() < 1e-10:
            break
    return offset - offset[0]


def reliability(labels: np.ndarray, p: np.ndarray, bins: int = 10, smallest: int = 10) -> tuple[ReliabilityBin, ...]:
    """Mean predicted and observed share of the last class in bins of equal size, each of ≥ ``smallest`` patients."""
    last = p[:, -1]
    order = np.argsort(last, kind="stable")
    groups = np.array_split(order, max(1, min(bins, len(order) // smallest)))
    outcome = labels == p.shape[1] - 1
    return tuple(ReliabilityBin(float(last[g].mean()), float(outcome[g].mean())) for g in groups)


def corrected(logits: np.ndarray, offset: np.ndarray | float) -> np.ndarray:
    """Class probabilities (rows, C) after the prior correction."""
    return probabilities(np.asarray(logits, np.float64) + offset)


def score_logits(labels: np.ndarray, logits: np.ndarray, offset: np.ndarray | float) -> Scores:
    """Every metric over several networks' logits (networks, rows[, C]), after the prior correction."""
    return summarise([all_metrics(labels, corrected(one, offset), ranking(one + offset)) for one in logits])
