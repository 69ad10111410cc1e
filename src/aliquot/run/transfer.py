"""Do the rows of a finished run train other networks too? Scored on the run's own held_out part."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from aliquot.context import Context, Progress, Store
from aliquot.drafts import write_atomically
from aliquot.errors import RunFolderError
from aliquot.evaluate import EvaluationSettings, TuningJudge, score_logits
from aliquot.evaluate.held_out import random_draws, score_full_data, score_rows
from aliquot.evaluate.metrics import REPORTED
from aliquot.evaluate.results import Scores
from aliquot.identity import identity
from aliquot.networks import Network
from aliquot.networks.architecture import other_networks
from aliquot.release.bundle import Release, read_release
from aliquot.run.folder import request_of, run_plan, source_of
from aliquot.run.stage import Run
from aliquot.run.stages.prepare import prepare
from aliquot.run.store import FolderStore

FIGURES = [(metric, part) for metric in REPORTED for part in ("mean", "std")]  # of a line
_RANDOM_ROWS, _OUR_ROWS, _ALL_PATIENTS = "random", "aliquot", "full_best_epoch"  # as in metrics.json


def transfer_into(
    folder: Path, names: Sequence[str], progress: Progress, *, count: int = 10, full: bool = False
) -> pd.DataFrame:
    """One line per network and what it was trained on: AUROC and AUPRC on held_out; also written as ``transfer.csv``.

    Trained on the run's rows, on as many random patients, and, where ``full`` asks for it, on all training patients to
    the best epoch. No names: the paper's other networks. Each network's scores are kept, so that a call that was
    stopped goes on where it was.
    """
    plan = run_plan(folder)
    request, cohort = request_of(plan), source_of(plan).read()
    run = prepare(Run(cohort=cohort, request=request))
    if request.name(run.parts.fingerprint, cohort.licence) != plan["name"]:
        raise RunFolderError("asked to try other networks, but the run's data has changed since it began; put it back")
    release, how = read_release(folder), request.settings
    shape = release.x.shape[1:]
    made = {name: how.network.named(name, shape, cohort.n_classes) for name in tuple(names) or other_networks(shape)}
    trial = _Trial(
        run, release, replace(how.evaluation, final_networks=count), FolderStore(folder / "private" / "store")
    )
    trained_on = (_RANDOM_ROWS, _OUR_ROWS, _ALL_PATIENTS) if full else (_RANDOM_ROWS, _OUR_ROWS)
    progress.stage("other networks", len(made) * len(trained_on))
    lines = []
    for name, network in made.items():
        for what in trained_on:
            lines.append({"network": name, "trained on": what, **trial.line(network, what)})
            progress.advance()
    table = pd.DataFrame(lines)
    write_atomically(folder / "transfer.csv", table.to_csv(index=False).encode())
    return table


@dataclass(frozen=True)
class _Trial:
    run: Run
    release: Release
    settings: EvaluationSettings
    store: Store

    def line(self, network: Network, trained_on: str) -> dict[str, float]:
        """Mean and deviation of AUROC and AUPRC on held_out, from the store where they are there."""
        rows = self.release.x, self.release.targets
        seed = self.run.request.seed
        name = identity("transfer", network.description, self.settings, seed, trained_on, *rows)
        stored = self.store.get(name)
        if stored is None:
            found = self._scores(network, trained_on)
            stored = {f"{metric}_{part}": np.asarray(getattr(getattr(found, metric), part)) for metric, part in FIGURES}
            self.store.put(name, stored)
        return {f"{metric}_{part}": float(stored[f"{metric}_{part}"]) for metric, part in FIGURES}

    def _scores(self, network: Network, trained_on: str) -> Scores:
        parts, keys = self.run.parts, self.run.keys
        if trained_on == _ALL_PATIENTS:
            tuning = parts.tuning
            judge = TuningJudge(network, self.settings, tuning.x, tuning.labels, keys["tuning networks"])
            context = Context(judge=judge, store=self.store)
            return score_full_data(network, self.settings, parts, keys, context)[0][trained_on]
        sets = [(self.release.x, self.release.targets)]
        if trained_on == _RANDOM_ROWS:
            per_class = len(self.release.x) // network.n_classes
            sets = random_draws(parts.train, per_class, network.n_classes, self.settings, keys["random rows"])
        correction, logits = score_rows(network, self.settings, parts, sets, keys)
        return score_logits(parts.held_out.labels, logits, correction)
