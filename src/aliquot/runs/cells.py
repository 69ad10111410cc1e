"""One cell of a grid: a method at a size with a seed. A pure function of these and of the data.

A finished cell is one JSON file named by everything that decides it; cells of one folder share experts, curves and
full-data networks through one store.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from aliquot.cohort import Cohort, Parts
from aliquot.digest import checksum, checksum_text, digest
from aliquot.drafts import write_atomically
from aliquot.errors import TamperedError
from aliquot.evaluate import TuningJudge, summarised
from aliquot.evaluate.held_out import score_full_data, score_rows
from aliquot.hooks import Progress, Silence
from aliquot.matching import Condensed
from aliquot.methods import DENSE, method_named
from aliquot.networks import Network, named_network
from aliquot.runs.pipeline import Request, prepare, task_of
from aliquot.runs.settings import Settings, load_settings
from aliquot.runs.store import Notebook, Store
from aliquot.runs.ways import ways_result
from aliquot.seeds import streams

REPORTED = ("auroc", "auprc")
FULL = "full data"  # label of the cell that trains on all patients
PROTOCOL = ("network", "encoder", "evaluation")  # settings that decide every cell
OWN = {  # and those that decide a method's; of one that is not here, all settings do
    **dict.fromkeys(("m3d", "dm"), ("start", "distribution")),
    "dc": ("start", "gradients"),
    "soft-random": ("slots", "expert"),
    **dict.fromkeys(("kmeans", "herding", "kcentre", "random"), ()),
}


@dataclass(frozen=True)
class Cell:
    """What is asked of one cell; its label is what tables call it.

    ========  ===========================================================================================
    ``rows``  condense, and score the rows on held_out
    ``full``  train on all patients
    ``ways``  no rows: experts, their curves, and what both are like
    ========  ===========================================================================================

    ``networks`` are other networks to train on the same rows, or on all patients.
    """

    label: str
    request: Request
    kind: Literal["rows", "full", "ways"] = "rows"
    networks: tuple[str, ...] = ()

    def name(self, data: str) -> str:
        """The name of its file: made of the data's fingerprint and of everything that decides the result."""
        asked = replace(self.request, settings=self._decisive())
        return digest(data, self.kind, self.networks, asked)

    @property
    def needs_experts(self) -> bool:
        """Whether it trains experts, or finds them trained."""
        method = self.request.method
        return self.kind == "ways" or (self.kind == "rows" and (_follows(method) or "expert" in OWN.get(method, ())))

    @property
    def needs_curves(self) -> bool:
        """Whether it fits curves, or finds them fitted."""
        bezier = _follows(self.request.method) and self.request.settings.slots.path == "bezier"
        return self.kind == "ways" or (self.kind == "rows" and bezier)

    @property
    def needs_paths(self) -> bool:
        """Whether it follows whole trajectories of its experts."""
        dense = _follows(self.request.method) and self.request.settings.slots.path in DENSE
        return self.kind == "ways" or (self.kind == "rows" and dense)

    def _decisive(self) -> Any:
        """The settings that decide the result, with their names: to change another one does not run it again."""
        if self.kind == "full":
            own = ()
        elif self.kind == "ways" or _follows(self.request.method):
            follows = ("start", "slots", "match") if self.kind == "rows" else ("slots",)
            own = ("expert", *follows, *(("curve",) if self.needs_curves else ()))
        else:
            own = OWN.get(self.request.method, tuple(vars(self.request.settings)))
        return {name: getattr(self.request.settings, name) for name in sorted({*PROTOCOL, *own})}


def _follows(method: str) -> bool:
    """Whether a method matches trajectories."""
    return "slots" in method_named(method).changes


@dataclass(frozen=True)
class Variant:
    """A method as it is compared: with a preset of its own, and with single settings changed."""

    label: str
    method: str
    preset: str | None = None  # None: as all others
    overrides: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Variant":
        """The variant of ``METHOD[+PATH][:PRESET]``, as in ``btm``, ``mtt+bezier`` or ``btm:paper``."""
        method, _, preset = text.partition(":")
        return cls(text, method, preset or None)


def cells_of(
    variants: Sequence[Variant],
    sizes: Sequence[int],
    seeds: Sequence[int],
    *,
    preset: str = "default",
    budget: str = "cpu",
    looks: int = 40,
    series: bool = False,
    file: Path | None = None,
    overrides: tuple[str, ...] = (),
) -> list[Cell]:
    """All cells of a comparison, seed by seed: full data, then every variant at every size.

    Network, encoder and evaluation are those of ``preset`` for all, and everybody is judged equally often on the tuning
    part, ``looks`` times.
    """
    common = load_settings(preset, budget, series=series, file=file, overrides=overrides)

    def cell(variant: Variant, size: int, seed: int) -> Cell:
        asked = {"method": variant.method, "rows_per_class": size}
        chosen, changes = variant.preset or preset, (*overrides, *variant.overrides)
        settings = load_settings(chosen, budget, series=series, file=file, overrides=changes, **asked)
        settings = _on_equal_terms(settings, common, looks)
        return Cell(variant.label, Request(settings=settings, seed=seed, preset=chosen, budget=budget, **asked))

    cells = []
    for seed in seeds:
        everybody = Request(settings=common, rows_per_class=1, seed=seed, preset=preset, budget=budget)
        cells.append(Cell(FULL, everybody, "full"))
        cells += [cell(variant, size, seed) for size in sizes for variant in variants]
    return cells


def _on_equal_terms(settings: Settings, common: Settings, looks: int) -> Settings:
    """A method's settings with the protocol that all share."""

    def every(iterations: int) -> int:
        return -(-iterations // looks)

    return replace(
        settings,
        network=common.network,
        encoder=common.encoder,
        evaluation=common.evaluation,
        match=replace(settings.match, judge_every=every(settings.match.iterations)),
        distribution=replace(settings.distribution, judge_every=every(settings.distribution.iterations)),
        gradients=replace(settings.gradients, judge_every=every(settings.gradients.iterations)),
    )


def needs_dense(cell: Cell, cells: Sequence[Cell]) -> bool:
    """Whether another cell will follow whole trajectories of the same experts."""
    return any(other.needs_paths and experts_of(other) == experts_of(cell) for other in cells)


def experts_of(cell: Cell) -> tuple[Any, ...]:
    """All that decides a cell's experts, apart from the data."""
    settings = cell.request.settings
    return settings.network, settings.encoder, settings.expert, settings.slots.experts, cell.request.seed


@dataclass(frozen=True)
class Around:
    """What a cell is run with: its own memory, the one that it shares with others, and who listens."""

    own: Store | Notebook
    shared: Store | Notebook
    dense: bool = False  # keep whole trajectories of the experts, because another cell will follow them
    networks: tuple[str, ...] = ()
    progress: Progress = Silence()


def cell_result(cohort: Cohort, cell: Cell, around: Around) -> dict[str, Any]:
    """The result of a cell on its patients."""
    run = {"rows": _condensed, "full": _full_data, "ways": ways_result}[cell.kind]
    asked = ("method", "preset", "budget", "rows_per_class", "seed")
    result = run(cohort, cell.request, replace(around, networks=cell.networks))
    return {**{name: getattr(cell.request, name) for name in asked}, **result}


def write_result(path: Path, result: dict[str, Any]) -> None:
    """Keep a cell's result, all or nothing, with a checksum."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"result": result, "sha256": checksum_text(json.dumps(result))}
    write_atomically(path, json.dumps(document, indent=1).encode())


def read_result(path: Path) -> dict[str, Any]:
    """A finished cell; a file that is not what was written is an error that says how to have it done again."""
    try:
        document = json.loads(path.read_text("utf-8"))
        result = document["result"]
        intact = document["sha256"] == checksum_text(json.dumps(result))
    except (ValueError, KeyError, TypeError):
        intact, result = False, {}
    if not intact:
        raise TamperedError(
            f"the result {path.name} was changed or is not whole; delete it to have that cell run again"
        )
    return result


def _condensed(cohort: Cohort, request: Request, around: Around) -> dict[str, Any]:
    parts, settings, keys = prepare(cohort, request), request.settings, streams(request.seed)
    task = task_of(cohort, request, parts, around.own, around.shared, around.progress)
    since = time.perf_counter()
    found = method_named(request.method).condense(replace(task, dense=around.dense), settings, key=keys["condense"])
    seconds = time.perf_counter() - since

    def scores(network: Network) -> dict[str, Any]:
        offset, logits = score_rows(network, settings.evaluation, parts, [(found.x, found.targets)], keys=keys)
        return _reported(summarised(parts.held_out.labels, logits, offset))

    network, others = _networks(cohort, request, parts, around.networks)
    return {
        **scores(network),
        **({"others": {name: scores(network) for name, network in others.items()}} if others else {}),
        "tuning": float(max(found.history.get("tuning", [task.judge.rows(found.x, found.targets).mean]))),
        "iterations": len(found.history.get("loss", ())),
        "best_iteration": found.best_iteration,
        "skipped": found.skipped,
        "seconds": round(seconds, 2),
        "expert_seconds": round(found.expert_seconds, 2),
        "expert_epochs": found.expert_epochs,
        "trajectory_bytes": around.shared.size(*found.stored),
        "notes": list(found.notes),
        "history": _looks(found),
        "rows_sha256": checksum({"x": found.x, "targets": found.targets}),
    }


def _full_data(cohort: Cohort, request: Request, around: Around) -> dict[str, Any]:
    parts, settings, keys = prepare(cohort, request), request.settings.evaluation, streams(request.seed)

    def scores(network: Network) -> tuple[dict[str, Any], int]:
        judge = TuningJudge(network, settings, parts.tuning.x, parts.tuning.labels, keys["tuning networks"])
        listeners = {"judge": judge, "memory": around.shared, "progress": around.progress}
        return score_full_data(network, settings, parts, keys=keys, **listeners)

    network, others = _networks(cohort, request, parts, around.networks)
    found, epoch = scores(network)
    best = {name: _reported(scores(network)[0]["full_best_epoch"]) for name, network in others.items()}
    return {
        **_reported(found["full_best_epoch"]),
        **({"others": best} if others else {}),
        "fixed_epochs": _reported(found["full"]),
        "best_epoch": epoch,
    }


def _networks(
    cohort: Cohort, request: Request, parts: Parts, names: Sequence[str]
) -> tuple[Network, dict[str, Network]]:
    """The network that is trained on the rows, and others by name."""
    how, shape = request.settings.network, parts.train.x.shape[1:]
    others = {name: named_network(name, shape, cohort.n_classes, how.hidden, how.dropout) for name in names}
    return how.network(shape, cohort.n_classes), others


def _reported(scores: dict[str, Any]) -> dict[str, Any]:
    return {metric: scores[metric] for metric in REPORTED}


def _looks(found: Condensed) -> dict[str, list[Any]]:
    """Every look at the tuning part: its iteration, the mean loss since the look before, the score."""
    at = [int(iteration) for iteration in found.history.get("judged_at", ())]
    blocks = [np.asarray(found.history["loss"][first:last]) for first, last in zip([0, *at], at, strict=False)]
    finite = [block[np.isfinite(block)] for block in blocks]
    return {
        "iteration": at,
        "loss": [float(block.mean()) if len(block) else None for block in finite],  # none before the first iteration
        "tuning": [float(score) for score in found.history.get("tuning", ())],
    }
