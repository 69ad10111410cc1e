"""Do the rows of a finished run train other networks too? Scored on the run's own held_out part."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from aliquot.cohort import Parts
from aliquot.digest import digest
from aliquot.drafts import write_atomically
from aliquot.errors import RunFolderError
from aliquot.evaluate import EvaluationSettings, TuningJudge, summarised
from aliquot.evaluate.held_out import random_draws, score_full_data, score_rows
from aliquot.hooks import Progress
from aliquot.networks import Network, named_network
from aliquot.networks.mlp import mlp_variants
from aliquot.networks.named import SERIES
from aliquot.release.bundle import Release, read_release
from aliquot.runs.cells import REPORTED
from aliquot.runs.folder import plan_of
from aliquot.runs.pipeline import prepare
from aliquot.runs.store import Store
from aliquot.seeds import streams

RANDOM, ROWS, FULL = "random", "aliquot", "full_best_epoch"


def other_networks(shape: tuple[int, ...]) -> tuple[str, ...]:
    """The paper's networks for rows of a shape, apart from the one that it condenses with.

    >>> other_networks((27,)), other_networks((48, 60))
    (('mlp-1', 'mlp-2', 'mlp-3', 'mlp-4'), ('tcn-1', 'tcn-2', 'lstm-1', 'lstm-2'))
    """
    names = tuple(mlp_variants(1)) if len(shape) == 1 else tuple(SERIES)
    return tuple(name for name in names if name not in ("mlp", "tcn"))


def transfer_into(
    folder: Path, names: Sequence[str], progress: Progress, *, count: int = 10, full: bool = False
) -> pd.DataFrame:
    """One line per network and what it was trained on: AUROC and AUPRC on held_out; also written as ``transfer.csv``.

    Trained on the run's rows, on as many random patients, and, where ``full`` asks for it, on all training patients to
    the best epoch. No names: the paper's other networks. Each network's scores are kept, so that a call that was
    stopped goes on where it was.
    """
    source, request, data = plan_of(folder)
    cohort, found = source.read()
    if found != data:
        raise RunFolderError("asked to try other networks, but the run's data has changed since it began; put it back")
    release, how = read_release(folder), request.settings.network
    shape = release.x.shape[1:]
    names = tuple(names) or other_networks(shape)
    made = {name: named_network(name, shape, cohort.n_classes, how.hidden, how.dropout) for name in names}
    settings = replace(request.settings.evaluation, final_networks=count)
    task = _Task(prepare(cohort, request), release, settings, request.seed, Store(folder / "private" / "store"))
    sources = (RANDOM, ROWS, FULL) if full else (RANDOM, ROWS)
    progress.stage("other networks", len(made) * len(sources))
    lines = []
    for name, network in made.items():
        for trained_on in sources:
            lines.append({"network": name, "trained on": trained_on, **task.scores(network, trained_on)})
            progress.advance()
    table = pd.DataFrame(lines)
    write_atomically(folder / "transfer.csv", table.to_csv(index=False).encode())
    return table


@dataclass(frozen=True)
class _Task:
    parts: Parts
    release: Release
    settings: EvaluationSettings
    seed: int
    store: Store

    def scores(self, network: Network, trained_on: str) -> dict[str, float]:
        """Mean and deviation of AUROC and AUPRC on held_out, from the store where they are there."""
        rows = self.release.x, self.release.targets
        name = f"transfer-{digest(network.description, self.settings, self.seed, trained_on, *rows)}"
        kept = self.store.recall(name)
        if kept is None:
            found = self._score(network, trained_on)
            kept = {f"{m}_{part}": np.asarray(found[m][part]) for m in REPORTED for part in ("mean", "std")}
            self.store.keep(name, kept)
        return {part: float(value) for part, value in kept.items()}

    def _score(self, network: Network, trained_on: str) -> dict[str, dict[str, float]]:
        parts, keys, tuning = self.parts, streams(self.seed), self.parts.tuning
        if trained_on == FULL:
            judge = TuningJudge(network, self.settings, tuning.x, tuning.labels, keys["tuning networks"])
            return score_full_data(network, self.settings, parts, keys=keys, judge=judge, memory=self.store)[0][FULL]
        sets = [(self.release.x, self.release.targets)]
        if trained_on == RANDOM:
            per_class = len(self.release.x) // network.n_classes
            sets = random_draws(parts.train, per_class, network.n_classes, self.settings, keys["random rows"])
        offset, logits = score_rows(network, self.settings, parts, sets, keys=keys)
        return summarised(parts.held_out.labels, logits, offset)
