"""Networks trained on the patients while somebody watches: after how many epochs are they best?"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.context import Context
from aliquot.identity import identity
from aliquot.networks import Network, TrainSettings, train_networks


@dataclass(frozen=True)
class Watched:
    """K networks whose training was watched on the tuning patients."""

    scores: np.ndarray  # (K, E) tuning score of each network after each epoch
    paths: Sequence[np.ndarray]  # K trajectories (E + 1, P), on disk where they were kept there
    seconds: float  # that their training took, whenever that was

    @property
    def best_epoch(self) -> int:
        """The number of epochs with the best mean score, smoothed over neighbours."""
        return int(np.argmax(smooth(self.scores.mean(axis=0)))) + 1

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
    """Train one network per key on the patients, and score each on the tuning part after every epoch.

    One after the other, and each kept as soon as it is trained: with large networks that is what a killed run loses.
    ``only`` is the number of one of them, to train that one alone.
    """
    numbers = range(len(keys)) if only is None else range(only, only + 1)
    context.progress.stage(name, len(numbers))
    kept_as = identity(name.replace(" ", "-"), network.description, training, x, targets, keys, context.judge.x)
    watched = []
    for number in numbers:
        kept = context.common.get(f"{kept_as}-{number}")
        if kept is None:
            kept = _watch(network, training, x, targets, keys[number : number + 1], context.judge)
            context.common.put(f"{kept_as}-{number}", kept)
            kept = context.common.get(f"{kept_as}-{number}") or kept
        watched.append(kept)
        context.progress.advance()
    return Watched(
        np.stack([one["scores"] for one in watched]),
        [one["path"] for one in watched],
        float(sum(one["seconds"] for one in watched)),
    )


def _watch(network, training, x, targets, key, judge) -> dict[str, np.ndarray]:
    since = time.perf_counter()
    trained = train_networks(network, training, x, targets, key, watch=jnp.asarray(judge.x), keep_path=True)
    scores = [judge.score(logits) for logits in np.asarray(trained.watched)[0]]
    seconds = time.perf_counter() - since
    return {"scores": np.asarray(scores), "path": np.asarray(trained.path)[0], "seconds": np.asarray(seconds)}


def smooth(scores: np.ndarray, width: int = 3) -> np.ndarray:
    """Moving average over neighbouring epochs, so that the best one is not a single lucky epoch.

    >>> smooth(np.array([0.0, 3.0, 0.0, 0.0, 1.0]))
    array([1.5       , 1.        , 1.        , 0.33333333, 0.5       ])
    """
    window = np.ones(width)
    return np.convolve(scores, window, "same") / np.convolve(np.ones_like(scores), window, "same")
