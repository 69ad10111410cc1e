"""Experts: networks trained on the real patients, whose way through parameter space the rows must teach."""

from dataclasses import dataclass, replace
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.hooks import Forgetting, Judge, Memory, Progress, Silence
from aliquot.networks import Network, TrainSettings, train_networks


@dataclass(frozen=True, kw_only=True)
class ExpertSettings(TrainSettings):
    """How many experts, how trained, and how long; defaults are the paper's."""

    count: int = 50
    length: Literal["fixed", "tuning"] = (
        "fixed"  # "fixed": `epochs`; "tuning": the epoch ≤ `epochs` with the best tuning score
    )
    pilots: int = 5  # experts trained to `epochs` to find that length
    block: int = 10  # experts per compiled call; bounds memory, and is what a killed run may lose


@dataclass(frozen=True)
class Experts:
    """K trained networks: parameters before and after training, and after every epoch where asked for."""

    start: np.ndarray  # (K, P)
    end: np.ndarray  # (K, P)
    epochs: int
    path: np.ndarray | None = None  # (K, E + 1, P)


def train_experts(
    network: Network,
    settings: ExpertSettings,
    x: Array,
    targets: Array,
    *,
    key: Array,
    judge: Judge | None = None,
    keep_path: bool = False,
    memory: Memory = Forgetting(),
    progress: Progress = Silence(),
) -> Experts:
    """Train ``settings.count`` experts on the training patients, each from its own key.

    Expert k is the same whatever the number of experts or the size of a block. With ``length="tuning"`` the
    number of epochs is first chosen on the judge's patients: experts that over-train make worse teachers.
    """
    training = _training(settings)
    if settings.length == "tuning" and judge is not None:
        training = replace(training, epochs=_best_length(network, settings, x, targets, key, judge, memory, progress))
    progress.stage("experts", settings.count)
    blocks = []
    for first in range(0, settings.count, settings.block):
        name = f"experts-{first}"
        numbers = jnp.arange(first, min(first + settings.block, settings.count))
        block = memory.recall(name)
        if block is None:
            trained = train_networks(network, training, x, targets, _keys(key, numbers), keep_path=keep_path)
            block = {part: np.asarray(value) for part, value in trained._asdict().items() if value is not None}
            memory.keep(name, block)
        blocks.append(block)
        progress.advance(len(numbers))
    whole = {part: np.concatenate([block[part] for block in blocks]) for part in blocks[0]}
    return Experts(whole["start"], whole["end"], training.epochs, whole.get("path"))


def _best_length(network, settings, x, targets, key, judge, memory, progress) -> int:
    """The number of epochs after which pilot experts score best on the tuning patients, on average."""
    keys = _keys(key, jnp.arange(settings.pilots))
    around = {"judge": judge, "memory": memory, "progress": progress}
    watched = watch_training(network, _training(settings), x, targets, keys, name="expert length", **around)
    return watched.best_epoch


@dataclass(frozen=True)
class Watched:
    """Networks whose training was watched on the tuning patients."""

    scores: np.ndarray  # (K, E) tuning score of each network after each epoch
    end: np.ndarray  # (K, P) parameters after the last epoch

    @property
    def best_epoch(self) -> int:
        """The number of epochs with the best mean score, smoothed over neighbours."""
        return int(np.argmax(smooth(self.scores.mean(axis=0)))) + 1


def watch_training(
    network: Network,
    training: TrainSettings,
    x: Array,
    targets: Array,
    keys: Array,
    *,
    judge: Judge,
    name: str,
    memory: Memory = Forgetting(),
    progress: Progress = Silence(),
) -> Watched:
    """Train one network per key on the patients, and score each on the tuning part after every epoch."""
    progress.stage(name, len(keys))
    kept = memory.recall(name.replace(" ", "-"))
    if kept is None:
        scores, ends = [], []
        for i in range(len(keys)):
            trained = train_networks(network, training, x, targets, keys[i : i + 1], watch=jnp.asarray(judge.x))
            scores.append([judge.score(logits) for logits in np.asarray(trained.watched)[0]])
            ends.append(np.asarray(trained.end)[0])
            progress.advance()
        kept = {"scores": np.asarray(scores), "end": np.asarray(ends)}
        memory.keep(name.replace(" ", "-"), kept)
    return Watched(kept["scores"], kept["end"])


def smooth(scores: np.ndarray, width: int = 3) -> np.ndarray:
    """Moving average over neighbouring epochs, so that the best one is not a single lucky epoch.

    >>> smooth(np.array([0.0, 3.0, 0.0, 0.0, 1.0]))
    array([1.5       , 1.        , 1.        , 0.33333333, 0.5       ])
    """
    window = np.ones(width)
    return np.convolve(scores, window, "same") / np.convolve(np.ones_like(scores), window, "same")


def _training(settings: ExpertSettings) -> TrainSettings:
    return TrainSettings(
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        momentum=settings.momentum,
        batch_size=settings.batch_size,
    )


def _keys(key: Array, numbers: Array) -> Array:
    return jax.vmap(lambda number: jax.random.fold_in(key, number))(numbers)
