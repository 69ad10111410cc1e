"""Trajectory matching, the way that MTT, TESLA, FTD, DATM and BTM share.

1. Train K experts on the patients.
2. Take what the student must follow: their checkpoints, straight lines, or Bézier curves between their ends.
3. Learn rows on which a student that starts at the beginning of a segment ends near the segment's end.

What a method puts in each slot is in its own file.
"""

from dataclasses import asdict, replace
from functools import partial
from typing import get_args, get_type_hints

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.curves import Curve, fit_curves, straight
from aliquot.curves.fit import curves_name
from aliquot.errors import SettingsError
from aliquot.experts import Experts, train_experts
from aliquot.matching import (
    Checkpoints,
    Condensed,
    Curves,
    EqualDisplacement,
    Questions,
    Rows,
    Segments,
    Slots,
    ensemble_targets,
    match,
    questions_of,
)
from aliquot.methods.cost import Cost, Sizes, trajectory_cost
from aliquot.methods.method import Method, MethodKeys
from aliquot.methods.records import measured_as_often
from aliquot.methods.settings import MethodSettings
from aliquot.methods.start import starting_rows
from aliquot.methods.task import Task
from aliquot.networks import as_targets
from aliquot.seeds import generator

PATHS = get_args(get_type_hints(Slots)["path"])
DENSE = ("sgd", "displacement")  # paths that need every checkpoint


def trajectory_method(name: str, title: str, slots: Slots) -> Method:
    """The method that fills the slots so."""
    needs = {"experts"} | ({"curves"} if slots.path == "bezier" else {"paths"} if slots.path in DENSE else set())
    return Method(
        name,
        title,
        trajectory_matching,
        sections=("start", "slots", "expert", "match", *(("curve",) if "curves" in needs else ())),
        needs=frozenset(needs),
        changes={"slots": asdict(slots)},
        candidates=_candidates,
        cost=_cost,
        on_path=partial(_on_path, name, title, slots),
    )


def _on_path(name: str, title: str, slots: Slots, path: str) -> Method:
    if path not in PATHS:
        raise SettingsError(f"asked for method {f'{name}+{path}'!r}; known paths: {', '.join(PATHS)}")
    return trajectory_method(f"{name}+{path}", f"{title}, following {path} paths", replace(slots, path=path))


def _candidates(settings: MethodSettings) -> int:
    """The rows and, where there is one, their running average; the last ones alone where these are kept."""
    return 2 if settings.slots.average and settings.slots.keep == "best" else 1


def _cost(settings: MethodSettings, sizes: Sizes) -> dict[str, Cost]:
    curves = settings.slots.path == "bezier"
    return trajectory_cost(settings, sizes, candidates=_candidates(settings), curves=curves)


def trajectory_matching(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """Synthetic rows on which a student follows the experts, with the slots filled as ``settings.slots`` says."""
    keys = MethodKeys.of(key)
    experts = experts_of(task, settings, key=keys.expert)
    segments, stored = segments_of(task, settings, experts, key=keys.curve)
    start, labels = starting_rows(
        task.x,
        task.labels,
        task.rows_per_class,
        task.network.n_classes,
        settings.start,
        rng=generator(keys.start),
        own_class=lambda: own_class_probability(task, experts),
        whose=task.patients,
    )
    if settings.slots.valid and task.valid is not None:
        start = measured_as_often(task.valid, start)
    found = match(
        task.network,
        settings.match,
        settings.slots,
        segments,
        Rows(jnp.asarray(start), as_targets(labels, task.network.n_classes)),
        questions=_questions(task, settings, experts),
        valid=task.valid,
        key=keys.match,
        context=task.context,
    )
    return replace(found, stored=stored, expert_epochs=experts.epochs, expert_seconds=experts.seconds)


def _questions(task: Task, settings: MethodSettings, experts: Experts) -> Questions | None:
    """What students are asked, where they are judged by what they predict."""
    if settings.slots.goal == "parameters":
        return None
    return questions_of(task.network, jnp.asarray(experts.end), jnp.asarray(task.x), task.labels)


def experts_of(
    task: Task, settings: MethodSettings, *, key: jax.Array, keep_paths: bool = False, block: int | None = None
) -> Experts:
    """The experts of a task, or one block of them, from its common store where they are there."""
    return train_experts(
        task.network,
        settings.expert,
        jnp.asarray(task.x),
        task.targets,
        key=key,
        kind=settings.slots.experts,
        keep_paths=keep_paths or task.keep_paths or settings.slots.path in DENSE,
        block=block,
        context=task.context,
    )


def segments_of(task: Task, settings: MethodSettings, experts: Experts, *, key: jax.Array) -> tuple[Segments, tuple]:
    """What the student follows, and the names under which it is kept."""
    path, segment = settings.slots.path, settings.match.segment
    if path in DENSE:
        kind = Checkpoints if path == "sgd" else EqualDisplacement
        return kind(experts.paths, segment), experts.names["paths"]
    line = straight(jnp.asarray(experts.start), jnp.asarray(experts.end))
    if path == "linear":
        return Curves(line, segment), experts.names["experts"]
    curves, name = curves_of(task, settings, experts, key=key)
    return Curves(curves, segment), (*experts.names["experts"], name)


def curves_of(task: Task, settings: MethodSettings, experts: Experts, *, key: jax.Array) -> tuple[Curve, str]:
    """The fitted curves of experts, from the task's common store where they are there, and their name in it."""
    line = straight(jnp.asarray(experts.start), jnp.asarray(experts.end))
    x, targets = jnp.asarray(task.x), task.targets
    curves = fit_curves(task.network, settings.curve, line, x, targets, key=key, context=task.context)
    return curves, curves_name(settings.curve, line, key)


def own_class_probability(task: Task, experts: Experts) -> np.ndarray:
    """How likely the experts think each patient's own class, on average."""
    shares = np.asarray(ensemble_targets(task.network, jnp.asarray(experts.end), jnp.asarray(task.x)))
    if shares.ndim == 1:
        return np.where(task.labels == 1, shares, 1 - shares)
    return shares[np.arange(len(shares)), task.labels]
