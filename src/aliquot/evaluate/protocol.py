"""The protocol: networks trained on the rows, judged on tuning while learning, scored on held_out once at the end."""

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from aliquot.context import Verdict
from aliquot.evaluate.metrics import auprc, deviation
from aliquot.networks import Network, TrainSettings, as_targets, train_networks

_LARGEST = 1e30  # stands for logits that overflowed


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """How networks are trained on the rows; defaults are the paper's except that tuning uses several networks."""

    learning_rate: float = 0.05
    momentum: float = 0.9
    weight_decay: float = 0.0  # on rows; on all patients there is none
    batch_size: int = 256
    rows_batch_size: int = 256  # on rows
    search_epochs: int = 50  # while condensing
    search_networks: int = 5
    final_epochs: int = 100  # for the reported numbers
    final_networks: int = 10
    full_epochs: int = 100  # networks trained on all patients
    expanded_records: int = 10_000  # around the rows, on which other kinds of models are trained

    def training(self, epochs: int) -> TrainSettings:
        """These settings for a given number of epochs on rows."""
        return TrainSettings(
            epochs=epochs,
            learning_rate=self.learning_rate,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            batch_size=self.rows_batch_size,
        )

    def full_training(self) -> TrainSettings:
        """These settings for all patients: without the decay, which few rows need and which would lower the bar."""
        return replace(self.training(self.full_epochs), weight_decay=0.0, batch_size=self.batch_size)


class TuningJudge:
    """Trains the same few networks on whatever rows it is shown, and scores them on the tuning part by AUPRC."""

    def __init__(self, network: Network, settings: EvaluationSettings, x: np.ndarray, labels: np.ndarray, key):
        self.x, self.labels = x, labels
        self._network, self._training = network, settings.training(settings.search_epochs)
        self._keys = jax.random.split(key, settings.search_networks)

    def score(self, logits: np.ndarray) -> float:
        """AUPRC of one network's logits on the tuning part; networks that broke score 0."""
        return auprc(self.labels, logits) if np.isfinite(logits).all() else 0.0

    def rows(self, x: np.ndarray, targets: np.ndarray) -> Verdict:
        """Mean and spread of the tuning AUPRC of fresh networks trained on the rows."""
        trained = train_networks(self._network, self._training, jnp.asarray(x), jnp.asarray(targets), self._keys)
        scores = [self.score(logits) for logits in logits_of(self._network, trained.end, self.x)]
        return Verdict(float(np.mean(scores)), float(deviation(scores)))


class Training(NamedTuple):
    """A network, and how it is trained on the rows."""

    network: Network
    settings: TrainSettings

    def train(self, x: ArrayLike, targets: ArrayLike, *, networks: int, key: jax.Array) -> jax.Array:
        """Parameters (networks, P) of fresh networks trained on rows."""
        return train_on(self.network, self.settings, x, targets, jax.random.split(key, networks))


def train_on(network: Network, training: TrainSettings, x: ArrayLike, targets: ArrayLike, keys: jax.Array):
    """Parameters (networks, P) of fresh networks trained on rows or patients, one per key."""
    return train_networks(network, training, jnp.asarray(x), jnp.asarray(targets), keys).end


def logits_of(network: Network, thetas: jax.Array, x: np.ndarray) -> np.ndarray:
    """Logits (networks, rows[, C]) of trained networks; dropout off."""
    return np.asarray(_logits(network, thetas, jnp.asarray(x)))


def finite_logits(network: Network, thetas: jax.Array, x: np.ndarray) -> np.ndarray:
    """The same as finite numbers: a network whose training diverged ranks nobody, which is chance, not an error."""
    logits = np.asarray(logits_of(network, thetas, x), np.float64)
    return np.nan_to_num(logits, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST)


@partial(jax.jit, static_argnames="network")
def _logits(network, thetas, x):
    return jax.lax.map(lambda theta: network.predict(theta, x), thetas)


def hard_targets(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Class codes as training targets on the host."""
    return np.asarray(as_targets(jnp.asarray(labels), n_classes))
