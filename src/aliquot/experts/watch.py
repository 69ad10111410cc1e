"""Networks trained on the patients while somebody watches: after how many epochs are they best?"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.context import Context, Judge
from aliquot.identity import identity
from aliquot.networks import Network, TrainSettings, train_networks

SMOOTHED = 9  # epochs over which the ensemble's score is smoothed (decision 16)


@dataclass(frozen=True)
class Watched:
    """K networks whose training was watched on the tuning patients."""

    scores: np.ndarray  # (K, E) tuning score of each network after each epoch
    ensemble: np.ndarray  # (E,) tuning score of the mean of their logits
    paths: Sequence[np.ndarray]  # K trajectories (E + 1, P), on disk where they were kept there
    seconds: float  # that their training took, whenever that was

    @property
    def best_epoch(self) -> int:
        """The number of epochs with the best mean score, smoothed over neighbours."""
        return int(np.argmax(smooth(self.scores.mean(axis=0)))) + 1

    @property
    def best_ensemble_epoch(self) -> int:
        """The number of epochs after which they are best together, smoothed over neighbours."""
        return int(np.argmax(smooth(self.ensemble, SMOOTHED))) + 1

    def after(self, epoch: int) -> np.ndarray:
        """Parameters (K, P) after that many epochs."""
        return np.stack([path[epoch] for path in self.paths])


def watch_training(
    network: Network,
    training: TrainSettings,
    x: Array,
    targets: Array,
    keys: Array,
    *,
    name: str,
    only: int | None = None,
    context: Context = Context(),
) -> Watched:
    """Train one network per key on the patients, and score each on the tuning part after every epoch, and all together.

    One after the other, and each kept as soon as it is trained: with large networks that is what a killed run loses.
    ``only`` is the number of one of them, to train that one alone; nothing is scored then. Whoever asks for the same
    networks under another ``name``, which only says what they are for, finds them.
    """
    numbers = range(len(keys)) if only is None else range(only, only + 1)
    context.progress.stage(name, len(numbers))
    data = identity("training", network.description, training, x, targets)
    names, trained = [identity("watched", data, keys[number]) for number in numbers], []
    for number, kept_as in zip(numbers, names, strict=True):
        trained.append(_kept(context, kept_as, partial(_train, network, training, x, targets, keys[number])))
        context.progress.advance()
    paths, seconds = [one["path"] for one in trained], float(sum(one["seconds"] for one in trained))
    if only is not None:
        return Watched(np.empty((0, 0)), np.empty(0), paths, seconds)
    scored_as = identity("scores", *names, context.judge.x)
    found = _kept(context, scored_as, partial(_score, network, paths, context.judge))
    return Watched(found["scores"], found["ensemble"], paths, seconds)


def _kept(context: Context, name: str, make: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """What the common store has under a name, made and put there if it has nothing."""
    kept = context.common.get(name)
    if kept is None:
        kept = make()
        context.common.put(name, kept)
        kept = context.common.get(name) or kept
    return kept


def _train(network, training, x, targets, key) -> dict[str, np.ndarray]:
    since = time.perf_counter()
    path = np.asarray(train_networks(network, training, x, targets, key[None], keep_path=True).path)[0]
    return {"path": path, "seconds": np.asarray(time.perf_counter() - since)}


def _score(network, paths, judge: Judge) -> dict[str, np.ndarray]:
    """Scores of the networks after each epoch, each and together."""
    tuning, scores, ensemble = jnp.asarray(judge.x), [], []
    for epoch in range(1, len(paths[0])):
        logits = np.asarray(_logits(network, jnp.asarray(np.stack([path[epoch] for path in paths])), tuning))
        scores.append([judge.score(one) for one in logits])
        ensemble.append(judge.score(logits.mean(axis=0)))
    return {"scores": np.asarray(scores).T, "ensemble": np.asarray(ensemble)}


@partial(jax.jit, static_argnames="network")
def _logits(network, thetas, x):
    return jax.lax.map(lambda theta: network.predict(theta, x), thetas)


def smooth(scores: np.ndarray, width: int = 3) -> np.ndarray:
    """Moving average over neighbouring epochs, so that the best one is not a single lucky epoch.

    >>> smooth(np.array([0.0, 3.0, 0.0, 0.0, 1.0]))
    array([1.5       , 1.        , 1.        , 0.33333333, 0.5       ])
    """
    window = np.ones(min(width, len(scores)))
    return np.convolve(scores, window, "same") / np.convolve(np.ones_like(scores), window, "same")
