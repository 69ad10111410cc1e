"""A cell on its way through the pipeline: the stages of a run, then scores instead of a whole report."""

from dataclasses import dataclass, replace

import numpy as np

from aliquot.cohort import Parts
from aliquot.context import Context
from aliquot.evaluate import TuningJudge, score_logits
from aliquot.evaluate.held_out import random_draws, score_full_data, score_rows
from aliquot.evaluate.results import Scores
from aliquot.grid.cell import Cell, CellResult, Evaluations
from aliquot.grid.geometry import SHOWN_EXPERTS, paths_result
from aliquot.identity import checksum
from aliquot.matching import Condensed
from aliquot.methods.geometry import expert_paths
from aliquot.networks import Network
from aliquot.run.stage import UNSET, Run, Stage, run_stages
from aliquot.run.stages.condense import CONDENSE
from aliquot.run.stages.prepare import PREPARE

BEST_EPOCH = "full_best_epoch"


@dataclass(frozen=True, kw_only=True)
class CellRun(Run):
    """A run that ends with a cell's result instead of a release."""

    cell: Cell
    result: CellResult = UNSET

    @property
    def others(self) -> dict[str, Network]:
        """The other networks that the cell asks for."""
        shape, n_classes = self.parts.train.x.shape[1:], self.parts.n_classes
        return {name: self.request.settings.network.named(name, shape, n_classes) for name in self.cell.networks}


def cell_result(cell: Cell, parts: Parts, context: Context, *, keep_paths: bool = False) -> CellResult:
    """The result of a cell on its patients."""
    run = CellRun(cell=cell, request=cell.request, parts=parts, context=context, keep_paths=keep_paths)
    return run_stages(run, PIPELINES[cell.kind]).result


def rows_result(run: CellRun) -> CellRun:
    """Networks trained on the rows, or on random patients drawn again for each of them, on held_out."""
    found, how = run.condensed, run.request.settings.evaluation
    sets = [(found.x, found.targets)]
    if run.request.chosen.redrawn:
        size, n_classes = run.request.rows_per_class, run.parts.n_classes
        sets = random_draws(run.parts.train, size, n_classes, how, run.keys["random rows"])

    def scores(network: Network) -> Scores:
        correction, logits = score_rows(network, how, run.parts, sets, run.keys)
        return score_logits(run.parts.held_out.labels, logits, correction)

    ours = scores(run.networks.trained)
    result = replace(
        _asked(run),
        auroc=ours.auroc,
        auprc=ours.auprc,
        others={name: _ranking(scores(network)) for name, network in run.others.items()},
        tuning=_tuning(run),
        iterations=len(found.history.get("loss", ())),
        best_iteration=found.best_iteration,
        skipped=found.skipped,
        seconds=run.clock.stages["condense"],
        expert_seconds=round(found.expert_seconds, 2),
        expert_epochs=found.expert_epochs,
        trajectory_bytes=run.context.common.size(*found.stored),
        notes=found.notes,
        history=_evaluations(found),
        rows_sha256=checksum({"x": found.x, "targets": found.targets}),
    )
    return replace(run, result=result)


def full_data_result(run: CellRun) -> CellRun:
    """Networks trained on all patients, on held_out."""
    how = run.request.settings.evaluation

    def scores(network: Network) -> tuple[dict[str, Scores], int]:
        tuning = run.parts.tuning
        judge = TuningJudge(network, how, tuning.x, tuning.labels, run.keys["tuning networks"])
        return score_full_data(network, how, run.parts, run.keys, replace(run.context, judge=judge))

    ours, epoch = scores(run.networks.trained)
    result = replace(
        _asked(run),
        auroc=ours[BEST_EPOCH].auroc,
        auprc=ours[BEST_EPOCH].auprc,
        others={name: _ranking(scores(network)[0][BEST_EPOCH]) for name, network in run.others.items()},
        fixed_epochs=_ranking(ours["full"]),
        best_epoch=epoch,
    )
    return replace(run, result=result)


def paths_measured(run: CellRun) -> CellRun:
    """Experts, the curves between their ends, and what both are like."""
    found = expert_paths(run.task, run.request.settings, key=run.keys["condense"], count=SHOWN_EXPERTS)
    return replace(run, result=replace(_asked(run), paths=paths_result(found, run.context.common)))


PIPELINES = {
    "rows": (PREPARE, CONDENSE, Stage("score rows", rows_result)),
    "full": (PREPARE, Stage("score full data", full_data_result)),
    "geometry": (PREPARE, Stage("measure paths", paths_measured)),
}


def _asked(run: CellRun) -> CellResult:
    request = run.request
    asked = {name: getattr(request, name) for name in ("preset", "budget", "rows_per_class", "seed")}
    return CellResult(method=request.chosen.name, **asked)


def _ranking(scores: Scores) -> Scores:
    return Scores(scores.auroc, scores.auprc)


def _tuning(run: CellRun) -> float:
    """The best score on tuning; rows that nothing was chosen among are evaluated once."""
    scores = run.condensed.history.get("tuning")
    if scores is None:
        return run.context.judge.rows(run.condensed.x, run.condensed.targets).mean
    return float(max(scores))


def _evaluations(found: Condensed) -> Evaluations:
    at = [int(iteration) for iteration in found.history.get("judged_at", ())]
    blocks = [np.asarray(found.history["loss"][first:last]) for first, last in zip([0, *at], at, strict=False)]
    finite = [block[np.isfinite(block)] for block in blocks]
    return Evaluations(
        iteration=tuple(at),
        loss=tuple(float(block.mean()) if len(block) else None for block in finite),
        tuning=tuple(float(score) for score in found.history.get("tuning", ())),
    )
