"""From a cohort to a condensation: the whole way through the house, once."""

import dataclasses
import json
import platform
import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import jax
import numpy as np

from aliquot.cohort import HELD_OUT, Cohort, Parts, encode_parts, split_patients
from aliquot.evaluate import TuningJudge, evaluate_held_out
from aliquot.evaluate.subgroups import held_out_groups
from aliquot.hooks import Progress, Silence
from aliquot.matching import Condensed
from aliquot.methods import REAL_STARTS, Task, curve_geometry, method_named
from aliquot.networks import Build, Network
from aliquot.networks.named import resolved
from aliquot.release.condensation import Condensation
from aliquot.release.report.facts import SMALL_COUNT
from aliquot.runs.aggregates import learning_curves, likeness, path_figures
from aliquot.runs.forecast import Forecast, work_of
from aliquot.runs.progress import MINUTES_LEFT
from aliquot.runs.settings import Settings, settings_to
from aliquot.runs.store import Notebook, Store
from aliquot.seeds import streams


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a run, apart from the data."""

    settings: Settings
    method: str = "btm"
    rows_per_class: int = 50
    seed: int = 0
    preset: str = "default"
    budget: str = "cpu"

    @property
    def real_rows(self) -> bool:
        """Whether the rows are, or start from, real patients."""
        method = method_named(self.method)
        return method.selects_rows or (method.uses_start and self.settings.start in REAL_STARTS)


def run(
    cohort: Cohort,
    request: Request,
    *,
    parts: Parts | None = None,
    memory: Store | Notebook | None = None,
    shared: Store | Notebook | None = None,
    progress: Progress = Silence(),
    own: Build | None = None,
) -> Condensation:
    """Condense the cohort as requested, and measure the result.

    Everything follows from the seed: the same cohort, request, versions and machine give the same rows. Experts, curves
    and full-data networks are looked for, and kept, in ``shared``, by default in ``memory``. ``own`` builds the user's
    own network instead of the one that the settings name.
    """
    memory = Notebook() if memory is None else memory
    settings, keys = request.settings, streams(request.seed)
    parts = prepare(cohort, request) if parts is None else parts
    rows = request.rows_per_class * cohort.n_classes
    network = settings.network.network(parts.train.x.shape[1:], cohort.n_classes, own)
    matched = settings.network.matched_network(parts.train.x.shape[1:], cohort.n_classes, own)
    share = matched.n_parameters / network.n_parameters
    clock = Stopwatch(progress, Forecast(work_of(settings, request.method, parts, rows, share)))
    task = task_of(cohort, request, parts, memory, shared, clock, own)
    kept = memory if shared is None else shared
    condensed = method_named(request.method).condense(task, settings, key=keys["condense"])
    if condensed.expert_epochs and matched.n_parameters != network.n_parameters:
        note = f"experts and students were small networks ({matched.n_parameters:,} parameters); rows were chosen and"
        note += f" scored with the network itself ({network.n_parameters:,})"
        condensed = dataclasses.replace(condensed, notes=(*condensed.notes, note))
    follows = bool(condensed.stored) and "slots" in method_named(request.method).changes
    geometry = curve_geometry(task, settings, key=keys["condense"]) if follows else None
    held_out = split_patients(cohort, seed=request.seed) == HELD_OUT
    scores = evaluate_held_out(
        network,
        settings.evaluation,
        parts,
        condensed.x,
        condensed.targets,
        keys=keys,
        judge=task.judge,
        memory=kept,
        progress=clock,
        groups=held_out_groups(cohort, seed=request.seed),
        patient=None if cohort.patient is None else cohort.patient[held_out],
    )
    scores |= likeness(cohort, parts, condensed, seed=request.seed, key=jax.random.fold_in(keys["transfer"], 1))
    clock.finish()
    storage = _storage(task.network, request, condensed, kept)
    metrics = _metrics(cohort, request, parts, condensed, scores, clock.seconds, storage)
    metrics["paths"] = path_figures(geometry)
    return Condensation(
        x=condensed.x,
        targets=condensed.targets,
        target=cohort.target,
        classes=cohort.classes,
        encoder=parts.encoder,
        recipe=_recipe(cohort, request, network, condensed, metrics, "own" if own else settings.network.kind),
        metrics=metrics,
        settings=settings_to(settings),
        history=dict(condensed.history),
        curves=None if geometry is None else dataclasses.asdict(geometry),
        notes=(*cohort.notes, *condensed.notes),
    )


def prepare(cohort: Cohort, request: Request) -> Parts:
    """The cohort split and encoded; every reason why it cannot be condensed shows here, before any work."""
    method_named(request.method)
    return encode_parts(
        cohort, seed=request.seed, settings=request.settings.encoder, rows_per_class=request.rows_per_class
    )


def task_of(
    cohort: Cohort,
    request: Request,
    parts: Parts,
    memory: Store | Notebook,
    shared: Store | Notebook | None = None,
    progress: Progress = Silence(),
    own: Build | None = None,
) -> Task:
    """The task that a request sets a method, with the judge on the tuning part.

    What is shared is kept whole: the next method may follow every checkpoint.
    """
    settings, train, tuning = request.settings, parts.train, parts.tuning
    shape, key = train.x.shape[1:], streams(request.seed)["tuning networks"]
    network = settings.network.network(shape, cohort.n_classes, own)
    matched = settings.network.matched_network(shape, cohort.n_classes, own)
    judge = TuningJudge(network, settings.evaluation, tuning.x, tuning.labels, key)
    dense = shared is not None
    return Task(matched, train.x, train.labels, request.rows_per_class, judge, memory, shared, progress, dense)


class Stopwatch:
    """Passes progress on with the minutes that are left, and notes how long each stage took."""

    def __init__(self, listener: Progress, forecast: Forecast):
        self.seconds: dict[str, float] = {}
        self._listener, self._forecast, self._running = listener, forecast, ("", 0.0)

    def stage(self, name: str, total: int) -> None:
        """The stage before ends, a new one begins."""
        self.finish()
        self._running = (name, time.perf_counter())
        self._forecast.stage(name, total)
        self._listener.stage(name, total)

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Pass on, with what is left of the whole run where that is known."""
        left = self._forecast.advance(amount)
        if left is not None:
            figures[MINUTES_LEFT] = left / 60
        self._listener.advance(amount, **figures)

    def finish(self) -> None:
        """The running stage ends."""
        name, since = self._running
        if name:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - since, 2)
        self._running = ("", 0.0)


def _recipe(
    cohort: Cohort, request: Request, network: Network, condensed: Condensed, metrics, kind: str
) -> dict[str, Any]:
    """How to train on the rows, as in recipe.toml."""
    settings = request.settings
    hard = bool(np.isin(condensed.targets, (0, 1)).all())
    shape = {"hidden": list(settings.network.hidden), "activation": "relu", "dropout": settings.network.dropout}
    if condensed.x.ndim > 2:
        shape = {"steps": int(condensed.x.shape[1])}  # the name tells the rest of a network of series
    return {
        "network": {
            "kind": kind if kind == "own" else resolved(kind, condensed.x.shape[1:]),
            "inputs": int(condensed.x[0].size),
            **shape,
            "outputs": network.n_outputs,
        },
        "training": {
            "optimiser": "sgd",
            "learning_rate": settings.evaluation.learning_rate,
            "momentum": settings.evaluation.momentum,
            "weight_decay": settings.evaluation.weight_decay,
            "batch_size": settings.evaluation.batch_size,
            "epochs": settings.evaluation.final_epochs,
            "loss": "binary cross-entropy" if network.n_outputs == 1 else "cross-entropy",
        },
        "labels": {
            "target": cohort.target,
            "classes": list(cohort.classes),
            "kind": "hard" if hard else "soft",
        },
        "calibration": {
            "prevalence": metrics["data"]["prevalence"],
            "logit_offset": metrics["calibration"]["offset"],
        },
    }


def _metrics(
    cohort: Cohort,
    request: Request,
    parts: Parts,
    condensed: Condensed,
    scores,
    seconds,
    storage,
) -> dict[str, Any]:
    counts = {role: getattr(parts, role).counts(cohort.n_classes) for role in ("train", "tuning", "held_out")}
    small = min(map(min, counts.values())) < SMALL_COUNT  # then totals must not give a small count away either
    return {
        "method": request.method,
        "rows_per_class": request.rows_per_class,
        "seed": request.seed,
        "preset": request.preset,
        "budget": request.budget,
        "start": request.settings.start,
        "real_rows": request.real_rows,
        "notes": [*cohort.notes, *condensed.notes],
        "versions": versions(),
        "data": {
            "patients": cohort.n // 10 * 10 if small else cohort.n,
            "columns": len(cohort.schema) + (0 if cohort.series is None else len(cohort.series.channels)),
            "features": int(condensed.x.shape[-1]),
            **({} if cohort.series is None else {"steps": int(condensed.x.shape[1])}),
            "classes": [str(name) for name in cohort.classes],
            "prevalence": shares(cohort.prevalence, small),
            **({"licence": cohort.licence} if cohort.licence else {}),
            **{role: [f"<{SMALL_COUNT}" if n < SMALL_COUNT else n for n in part] for role, part in counts.items()},
        },
        "held_out": scores["held_out"],
        "calibration": scores["calibration"],
        "transfer": scores["transfer"],
        **{name: scores[name] for name in ("ranking", "subgroups", "features", "outside_range", "copying")},
        "learning": learning_curves(condensed.history),
        "tuning": {
            "best_iteration": condensed.best_iteration,
            "iterations": len(condensed.history.get("loss", ())),
            "skipped": condensed.skipped,
            "expert_epochs": condensed.expert_epochs,
            "full_best_epoch": scores["full_best_epoch"],
        },
        "seconds": seconds,
        "storage_bytes": storage,
        "settings": json.loads(json.dumps(settings_to(request.settings))),  # as it will be read back
    }


def _storage(network: Network, request: Request, condensed: Condensed, memory: Store | Notebook) -> dict[str, int]:
    """Bytes of what the student followed, as kept, and of all checkpoints of its experts had they been kept."""
    epochs = condensed.expert_epochs
    dense = request.settings.expert.count * (epochs + 1) * network.n_parameters * 4
    return {
        "curves": memory.size(*condensed.stored),
        "trajectories_if_dense": dense if epochs else 0,
    }


def shares(prevalence: tuple[float, ...], small: bool) -> list[float]:
    """Class shares as they may be exported: coarser where a class is small.

    >>> shares((0.98765432, 0.01234568), small=True)
    [0.99, 0.01]
    """
    return [round(share, 2 if small else 4) for share in prevalence]


def versions() -> dict[str, str]:
    """Versions of what decides the numbers."""
    packages = ("aliquot", "jax", "numpy", "pandas", "scikit-learn")
    return {name: version(name) for name in packages} | {"python": platform.python_version()}
