"""Function matching: the student is judged by what it predicts on patients, not by where its weights are.

With z(x) the logits of the student at the end of its way on a patient x, and p(x) what the experts think of x, the
matching loss is

    L = mean over x of w(x) · KL( p(x) ‖ σ(e^g z(x) + c) )

c moves the world of the rows, in which classes are equally frequent, to that of the patients: it is the log-odds of the
prevalence (for more than two classes, its logarithms). g is learned, so that rows and labels need not carry how sure a
network is. Patients are drawn with chances q(x), half of them equal and half in proportion to √(p(1 - p)), and weighted
by w = 1 / (n q): where an outcome is rare, a batch would otherwise hold hardly anybody about whom there is a question.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.matching.rows import ensemble_logits, soft_targets
from aliquot.networks import Network
from aliquot.networks.network import row_losses


class Questions(NamedTuple):
    """The patients about whom students are asked, and what the experts think of them."""

    x: Array  # (n, …)
    answers: Array  # (n,) or (n, C) probabilities
    chances: Array  # (n,) of being drawn; they sum to 1
    offset: Array  # c: () or (C,)


class Drawn(NamedTuple):
    """Patients of one iteration or, with one more axis, of several."""

    numbers: Array
    weights: Array


def questions_of(network: Network, ends: Array, x: Array, labels: np.ndarray) -> Questions:
    """Every training patient as a question to which the experts' mean logits are the answer."""
    answers = soft_targets(ensemble_logits(network, ends, x))
    doubt = answers * (1 - answers) if answers.ndim == 1 else (answers * (1 - answers)).sum(axis=1)
    doubt = jnp.sqrt(doubt)
    chances = 0.5 / len(x) + 0.5 * doubt / doubt.sum()
    return Questions(x, answers, chances, prior_logit(labels, network.n_classes).astype(x.dtype))


def prior_logit(labels: np.ndarray, n_classes: int) -> Array:
    """The log-odds of the last of two classes, or the logarithms of the shares of more, less their mean.

    >>> prior_logit(np.array([0, 0, 0, 1]), 2)
    Array(-1.0986123, dtype=float32)
    """
    shares = np.bincount(labels, minlength=n_classes) / len(labels)
    logs = np.log(shares)
    return jnp.asarray(logs[1] - logs[0] if n_classes == 2 else logs - logs.mean())


def draw_questions(questions: Questions, keys: Array, count: int) -> Drawn:
    """``count`` patients for each key, evenly spread over the chances; all patients where there are no more."""
    n = len(questions.chances)
    if n <= count:
        numbers = np.broadcast_to(np.arange(n, dtype=np.int32), (len(keys), n))
        return Drawn(jnp.asarray(numbers), jnp.ones(numbers.shape, questions.chances.dtype))
    chances = np.asarray(questions.chances, np.float64)
    ends = np.cumsum(chances)
    first = np.asarray(jax.vmap(jax.random.uniform)(keys), np.float64)
    places = (np.arange(count) + first[:, None]) / count * ends[-1]
    numbers = np.minimum(np.searchsorted(ends, places), n - 1).astype(np.int32)
    return Drawn(jnp.asarray(numbers), jnp.asarray(1 / (n * chances[numbers]), questions.chances.dtype))


def prediction_loss(network: Network, questions: Questions, drawn: Drawn, theta: Array, log_scale: Array) -> Array:
    """How far the predictions of ``theta`` on the drawn patients are from the experts': the weighted mean of KL."""
    logits = jnp.exp(log_scale) * network.predict(theta, questions.x[drawn.numbers]) + questions.offset
    answers = questions.answers[drawn.numbers]
    losses = row_losses(logits, answers) - _entropy(answers)
    return jnp.mean(drawn.weights * losses)


def _entropy(p: Array) -> Array:
    """The entropy of each row's probabilities: what even the best prediction loses."""
    if p.ndim == 1:
        return -jax.scipy.special.xlogy(p, p) - jax.scipy.special.xlogy(1 - p, 1 - p)
    return -jax.scipy.special.xlogy(p, p).sum(axis=1)
