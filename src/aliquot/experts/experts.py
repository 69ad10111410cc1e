"""Experts: networks trained on the real patients, whose way through parameter space the rows must teach."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.digest import digest
from aliquot.hooks import Forgetting, Judge, Memory, Progress, Silence
from aliquot.networks import GsamSettings, Network, Trained, TrainSettings, train_networks


@dataclass(frozen=True, kw_only=True)
class ExpertSettings(TrainSettings):
    """How many experts, how trained, and how long; defaults are the paper's."""

    gsam: GsamSettings = field(default_factory=GsamSettings)  # pyright: ignore[reportIncompatibleVariableOverride]
    count: int = 50
    length: Literal["fixed", "tuning"] = (
        "fixed"  # "fixed": `epochs`; "tuning": the epoch ≤ `epochs` with the best tuning score
    )
    pilots: int = 5  # experts trained to `epochs` to find that length
    block: int = 10  # experts per compiled call; bounds memory, and is what a killed run may lose
    keep_as: Literal["float32", "float16", "bfloat16"] = "float32"  # how whole trajectories are kept


@dataclass(frozen=True)
class Experts:
    """K trained networks: parameters before and after training, and after every epoch where asked for."""

    start: np.ndarray  # (K, P)
    end: np.ndarray  # (K, P)
    epochs: int
    paths: Sequence[np.ndarray] = ()  # K trajectories (E + 1, P), on disk where they were kept there
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # under which experts and paths are kept
    seconds: float = 0.0  # that their training took, whenever that was


def train_experts(
    network: Network,
    settings: ExpertSettings,
    x: Array,
    targets: Array,
    *,
    key: Array,
    kind: str = "sgd",
    judge: Judge | None = None,
    keep_paths: bool = False,
    memory: Memory = Forgetting(),
    progress: Progress = Silence(),
) -> Experts:
    """Train ``settings.count`` experts on the training patients, each from its own key, by ``kind`` sgd or gsam.

    Expert k is the same whatever the number of experts or the size of a block. With ``length="tuning"`` the
    number of epochs is first chosen on the judge's patients: experts that over-train make worse teachers.

    Experts are kept under a name made of patients, network, settings and key: whoever asks for the same ones with the
    same memory finds them. Those kept without trajectories are trained again when trajectories are asked for.
    """
    training = _training(settings, kind)
    if settings.length == "tuning" and judge is not None:
        epochs = _best_length(network, settings, kind, x, targets, key, judge, memory, progress)
        training = replace(training, epochs=epochs)
    name = digest(network.description, training, x, targets, key)
    kinds = {"experts": f"experts-{name}"} | ({"paths": f"paths-{name}-{settings.keep_as}"} if keep_paths else {})
    progress.stage("experts", settings.count)
    blocks, names = [], {part: [] for part in kinds}
    for first in range(0, settings.count, settings.block):
        numbers = jnp.arange(first, min(first + settings.block, settings.count))
        files = {part: f"{kind}-{first}-{len(numbers)}" for part, kind in kinds.items()}
        block = {part: memory.recall(file) for part, file in files.items()}
        if None in block.values():
            since = time.perf_counter()
            trained = train_networks(network, training, x, targets, _keys(key, numbers), keep_path=keep_paths)
            trained = jax.block_until_ready(trained)
            took = time.perf_counter() - since
            block = {part: _kept(memory, file, _part(part, trained, settings, took)) for part, file in files.items()}
        blocks.append(block)
        for part, file in files.items():
            names[part].append(file)
        progress.advance(len(numbers))
    start, end = (np.concatenate([block["experts"][part] for block in blocks]) for part in ("start", "end"))
    paths = [path for block in blocks for path in block["paths"]["path"]] if keep_paths else []
    seconds = float(sum(block["experts"]["seconds"] for block in blocks))
    return Experts(start, end, training.epochs, paths, {part: tuple(files) for part, files in names.items()}, seconds)


def _part(part: str, trained: Trained, settings: ExpertSettings, seconds: float) -> dict[str, np.ndarray]:
    """What is kept of trained networks: their ends, or their whole paths."""
    if part == "experts":
        return {"start": np.asarray(trained.start), "end": np.asarray(trained.end), "seconds": np.asarray(seconds)}
    return {"path": np.asarray(jnp.asarray(trained.path, settings.keep_as))}


def _kept(memory: Memory, name: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays as the memory has them: on disk rather than in working memory, where there is a disk."""
    memory.keep(name, arrays)
    return memory.recall(name) or arrays


def _best_length(network, settings, kind, x, targets, key, judge, memory, progress) -> int:
    """The number of epochs after which pilot experts score best on the tuning patients, on average."""
    keys = _keys(key, jnp.arange(settings.pilots))
    around = {"judge": judge, "memory": memory, "progress": progress}
    watched = watch_training(network, _training(settings, kind), x, targets, keys, name="expert length", **around)
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
    kept_as = f"{name.replace(' ', '-')}-{digest(network.description, training, x, targets, keys, judge.x)}"
    kept = memory.recall(kept_as)
    if kept is None:
        scores, ends = [], []
        for i in range(len(keys)):
            trained = train_networks(network, training, x, targets, keys[i : i + 1], watch=jnp.asarray(judge.x))
            scores.append([judge.score(logits) for logits in np.asarray(trained.watched)[0]])
            ends.append(np.asarray(trained.end)[0])
            progress.advance()
        kept = {"scores": np.asarray(scores), "end": np.asarray(ends)}
        memory.keep(kept_as, kept)
    return Watched(kept["scores"], kept["end"])


def smooth(scores: np.ndarray, width: int = 3) -> np.ndarray:
    """Moving average over neighbouring epochs, so that the best one is not a single lucky epoch.

    >>> smooth(np.array([0.0, 3.0, 0.0, 0.0, 1.0]))
    array([1.5       , 1.        , 1.        , 0.33333333, 0.5       ])
    """
    window = np.ones(width)
    return np.convolve(scores, window, "same") / np.convolve(np.ones_like(scores), window, "same")


def _training(settings: ExpertSettings, kind: str) -> TrainSettings:
    return TrainSettings(
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        momentum=settings.momentum,
        batch_size=settings.batch_size,
        schedule=settings.schedule,
        gsam=settings.gsam if kind == "gsam" else None,
    )


def _keys(key: Array, numbers: Array) -> Array:
    return jax.vmap(lambda number: jax.random.fold_in(key, number))(numbers)
