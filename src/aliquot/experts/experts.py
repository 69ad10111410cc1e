"""Experts: networks trained on the real patients, whose way through parameter space the rows must teach."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from aliquot.context import Context, Store
from aliquot.experts.watch import Watched, watch_training
from aliquot.identity import identity
from aliquot.networks import GsamSettings, Network, Trained, TrainSettings, train_networks


@dataclass(frozen=True, kw_only=True)
class ExpertSettings(TrainSettings):
    """How many experts, how trained, and how long; defaults are the paper's."""

    gsam: GsamSettings = field(default_factory=GsamSettings)  # pyright: ignore[reportIncompatibleVariableOverride]
    count: int = 50
    length: Literal["fixed", "tuning", "ensemble"] = "fixed"  # see best_length
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
    keep_paths: bool = False,
    block: int | None = None,
    context: Context = Context(),
) -> Experts:
    """Train ``settings.count`` experts on the training patients, each from its own key, by ``kind`` sgd or gsam.

    Expert k is the same whatever the number of experts or the size of a block. With ``length="tuning"`` the
    number of epochs is first chosen on the judge's patients: experts that over-train make worse teachers. The pilots
    who were trained for that are the first experts.

    Experts are kept under a name made of patients, network, settings and key: whoever asks for the same ones with the
    same store finds them. Those kept without trajectories are trained again when trajectories are asked for. With
    ``block``, a place in :func:`expert_blocks`, only the experts of that block are trained, kept and returned.
    """
    training, pilots = _training(settings, kind), None
    if settings.length != "fixed":
        pilots = train_pilots(network, settings, x, targets, key=key, kind=kind, context=context)
        training = replace(training, epochs=best_length(settings, pilots))
        pilots = pilots if training.schedule == "constant" else None  # else they were slower all the way
    decisive = network.description, training, x, targets, key
    kinds = {"experts": identity("experts", *decisive)}
    kinds |= {"paths": identity("paths", *decisive, settings.keep_as)} if keep_paths else {}
    context.progress.stage("experts", settings.count)
    blocks, names = [], {part: [] for part in kinds}
    asked = slice(None) if block is None else slice(block, block + 1)
    for numbers in _blocks(settings, 0 if pilots is None else len(pilots.paths))[asked]:
        files = {part: f"{kind}-{numbers[0]}-{len(numbers)}" for part, kind in kinds.items()}
        kept = {part: context.common.get(file) for part, file in files.items()}
        if None in kept.values():
            if pilots is not None and numbers[0] < len(pilots.paths):
                trained, took = _cut(pilots, numbers, training.epochs)
            else:
                keys = expert_keys(key, jnp.asarray(numbers))
                trained, took = _timed(train_networks, network, training, x, targets, keys, keep_path=keep_paths)
            kept = {
                part: _kept(context.common, file, _part(part, trained, settings, took)) for part, file in files.items()
            }
        blocks.append(kept)
        for part, file in files.items():
            names[part].append(file)
        context.progress.advance(len(numbers))
    start, end = (np.concatenate([kept["experts"][part] for kept in blocks]) for part in ("start", "end"))
    paths = [path for kept in blocks for path in kept["paths"]["path"]] if keep_paths else []
    seconds = float(sum(kept["experts"]["seconds"] for kept in blocks))
    return Experts(start, end, training.epochs, paths, {part: tuple(files) for part, files in names.items()}, seconds)


def train_pilots(
    network: Network,
    settings: ExpertSettings,
    x: Array,
    targets: Array,
    *,
    key: Array,
    kind: str = "sgd",
    only: int | None = None,
    context: Context = Context(),
) -> Watched:
    """The first experts, trained for ``settings.epochs`` and watched on the judge's patients; ``only`` one of them."""
    keys = expert_keys(key, jnp.arange(min(settings.pilots, settings.count)))
    training = _training(settings, kind)
    return watch_training(network, training, x, targets, keys, name="expert length", only=only, context=context)


def best_length(settings: ExpertSettings, pilots: Watched) -> int:
    """How many epochs experts are trained: for ``tuning``, until each is best; for ``ensemble``, all together."""
    return pilots.best_ensemble_epoch if settings.length == "ensemble" else pilots.best_epoch


def pilot_count(settings: ExpertSettings) -> int:
    """How many experts are trained first, to find the length of all."""
    return 0 if settings.length == "fixed" else min(settings.pilots, settings.count)


def expert_blocks(settings: ExpertSettings) -> list[range]:
    """Numbers of the experts that are trained and kept together, where there is a judge.

    >>> expert_blocks(ExpertSettings(count=6, block=2, length="tuning", pilots=3))
    [range(0, 2), range(2, 3), range(3, 5), range(5, 6)]
    """
    return _blocks(settings, pilot_count(settings) if settings.schedule == "constant" else 0)


def _blocks(settings: ExpertSettings, pilots: int) -> list[range]:
    """Numbers of the experts that are trained and kept together; pilots apart from the others."""
    starts = [*range(0, pilots, settings.block), *range(pilots, settings.count, settings.block)]
    return [range(first, end) for first, end in pairwise([*starts, settings.count])]


def _cut(pilots: Watched, numbers: range, epochs: int) -> tuple[Trained, float]:
    """Pilots are experts who went on for too long: cut where the others stop."""
    path = jnp.stack([pilots.paths[number][: epochs + 1] for number in numbers])
    return Trained(path[:, 0], path[:, -1], None, path), pilots.seconds * len(numbers) / len(pilots.paths)


def _timed(function: Callable[..., Trained], *inputs: Any, **options: Any) -> tuple[Trained, float]:
    since = time.perf_counter()
    result = jax.block_until_ready(function(*inputs, **options))
    return result, time.perf_counter() - since


def _part(part: str, trained: Trained, settings: ExpertSettings, seconds: float) -> dict[str, np.ndarray]:
    """What is kept of trained networks: their ends, or their whole paths."""
    if part == "experts":
        return {"start": np.asarray(trained.start), "end": np.asarray(trained.end), "seconds": np.asarray(seconds)}
    return {"path": np.asarray(jnp.asarray(trained.path, settings.keep_as))}


def _kept(store: Store, name: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays as the store has them: on disk rather than in working memory, where there is a disk."""
    store.put(name, arrays)
    return store.get(name) or arrays


def _training(settings: ExpertSettings, kind: str) -> TrainSettings:
    """What of the settings is training; GSAM only where the method's experts are trained by it."""
    training = TrainSettings(**{part.name: getattr(settings, part.name) for part in fields(TrainSettings)})
    return replace(training, gsam=settings.gsam if kind == "gsam" else None)


def expert_keys(key: Array, numbers: Array) -> Array:
    """The keys of experts by their numbers."""
    return jax.vmap(lambda number: jax.random.fold_in(key, number))(numbers)
