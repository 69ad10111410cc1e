"""One line of the development suite: what rows of one cohort, split, number and recipe are worth, beside all patients.

held_out is opened. All patients are measured once for each split, always as the preset says, and shared by its recipes.
"""

import io
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from aliquot.cohort import Cohort, Parts
from aliquot.context import Context, Store
from aliquot.evaluate import Evidence, Training, score_logits
from aliquot.evaluate.calibration import AS_THEY_ARE
from aliquot.evaluate.evidence import TrainingSet
from aliquot.evaluate.held_out import full_data_logits, score_rows
from aliquot.evaluate.other_models import MODELS, WITHOUT_WEIGHTS, ModelScores, transfer_metrics
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Scores
from aliquot.release.condensation import Condensation
from aliquot.release.report.sections.features import SECTION as FEATURES
from aliquot.release.spreadsheet import csv
from aliquot.run.request import Request, RequestOptions
from aliquot.run.stage import Run, Stage, run_stages
from aliquot.run.stages.condense import CONDENSE
from aliquot.run.stages.prepare import PREPARE, prepare
from aliquot.run.stages.release import RELEASE
from suite_bootstrap import share_interval
from suite_cohorts import SuiteCohort

CLIENTS = tuple(name for name in MODELS if name not in WITHOUT_WEIGHTS)  # that somebody else trains
RECORDS = 20_000  # that the rows are expanded to
BAR = ("logistic regression", "gradient boosting")  # beside the network: the best of them is the bar


def training_sets(result: Condensation) -> dict[str, TrainingSet]:
    """What outside models are trained on, by name: features and targets. Another one is another entry."""
    expanded = result.expand(RECORDS)
    return {"rows": (result.x, result.targets), "expanded": (expanded.x, expanded.targets)}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A method with changes of a preset: ``common`` to all recipes of a call, and its ``own``."""

    method: str = "bfm"
    preset: str = "default"
    budget: str = "cpu"
    common: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def request(self, cohort: Cohort, rows: int, split: int, *, changed: bool = True) -> Request:
        """What is asked of a split, with or without the changes."""
        changes = (*self.common, *self.own) if changed else ()
        named = {"method": self.method, "preset": self.preset, "budget": self.budget}
        options = RequestOptions(**named, rows_per_class=rows, seed=split, changes=changes)
        return options.request(series=cohort.series is not None)

    def __str__(self) -> str:
        return " ".join((self.method, self.preset, self.budget, *self.common, *self.own))


@dataclass(frozen=True, kw_only=True)
class Seconds(Record):
    """What a line took, and what all lines of a split share: networks and outside models on all patients.

    Experts that are trained as those networks are found, not trained again: their time is then that of the networks.
    """

    condensing: float
    line: float  # condensing and evaluation
    networks: float
    models: float

    @property
    def total(self) -> float:
        """With all patients."""
        return self.line + self.networks + self.models


@dataclass(frozen=True, kw_only=True)
class Line(Record):
    """What rows are worth. ``clients`` are outside models by what they were trained on, ``bars`` those on all."""

    cohort: str
    blind: bool
    sampled: float
    patients: int
    features: int
    positives: int  # held out
    split: int
    rows: int  # per class
    recipe: str
    on_rows: ModelScores  # means of networks
    on_all: ModelScores  # at the best epoch
    interval: tuple[float, ...]  # 95 %, of the share of AUPRC
    clients: Mapping[str, Mapping[str, ModelScores]]  # by training set, then by model
    bars: Mapping[str, ModelScores]
    slope: float  # of calibration, after the recipe's correction
    outside: int  # numbers of the rows outside what training patients have
    exact: bool | None = None  # whether rows.csv, read and encoded, is rows.parquet; None: of series
    seconds: Seconds

    @property
    def name(self) -> tuple[str, int, int, str]:
        """What makes it another line than others."""
        return self.cohort, self.split, self.rows, self.recipe

    @property
    def share(self) -> float:
        """AUPRC of networks on the rows, over that of networks on all patients."""
        return self.on_rows.auprc / self.on_all.auprc

    @property
    def share_of_bar(self) -> float:
        """The same over the best of network, logistic regression and gradient boosting on all patients."""
        return self.on_rows.auprc / max(self.on_all.auprc, *(self.bars[model].auprc for model in BAR))

    def client_share(self, model: str, trained_on: str) -> float:
        """AUPRC of an outside model, over that of the same model on all patients."""
        return self.clients[trained_on][model].auprc / self.bars[model].auprc


@dataclass(frozen=True)
class AllPatients:
    """Models trained on all training patients of a split."""

    logits: np.ndarray  # (networks, held-out patients) at the best epoch
    best_epoch: int
    scores: Scores
    models: dict[str, ModelScores]
    seconds: tuple[float, float]  # of networks, of models

    @classmethod
    def of(cls, cohort: Cohort, request: Request, shared: Store) -> "AllPatients":
        """Train them as an unchanged preset says."""
        since = time.perf_counter()
        run = prepare(Run(cohort=cohort, request=request, context=Context(shared=shared)))
        parts, how = run.parts, request.settings.evaluation
        logits, best_epoch = full_data_logits(run.networks.trained, how, parts, run.keys, run.context)
        best, then = logits["full_best_epoch"], time.perf_counter()
        models = score_clients(parts.train.x, parts.train.labels.astype(np.float32), parts, request.seed)
        scores = score_logits(parts.held_out.labels, best, AS_THEY_ARE)
        return cls(best, best_epoch, scores, models, (then - since, time.perf_counter() - then))


def measure(
    name: str, about: SuiteCohort, cohort: Cohort, recipe: Recipe, request: Request, full: AllPatients, shared: Store
) -> Line:
    """Condense a split by a recipe, and measure the rows."""
    since = time.perf_counter()
    asked = Run(cohort=cohort, request=request, context=Context(shared=shared), keep_paths=True)
    run = run_stages(asked, (PREPARE, CONDENSE, Stage("score", lambda run: scored(run, full)), RELEASE))
    result, labels, patients = run.condensation, run.evidence.labels, run.evidence.patients
    held_out = result.results.held_out.aliquot
    clients = {
        trained_on: score_clients(*rows, run.parts, request.seed) for trained_on, rows in training_sets(result).items()
    }
    interval = share_interval(labels, run.evidence.logits["aliquot"], full.logits, patients=patients, seed=request.seed)
    outside = FEATURES.read(result.results).outside_range
    return Line(
        cohort=name,
        blind=about.blind,
        sampled=about.sampled,
        patients=cohort.n,
        features=result.x.shape[-1],
        positives=int(labels.sum()),
        split=request.seed,
        rows=request.rows_per_class,
        recipe=str(recipe),
        on_rows=means(held_out),
        on_all=means(full.scores),
        interval=interval,
        clients=clients,
        bars=full.models,
        slope=0.0 if held_out.calibration_slope is None else held_out.calibration_slope.mean,
        outside=0 if outside is None else outside.values,
        exact=None if cohort.series is not None else survives_csv(result),
        seconds=Seconds(
            condensing=run.clock.stages["condense"],
            line=time.perf_counter() - since,
            networks=full.seconds[0],
            models=full.seconds[1],
        ),
    )


def scored(run: Run, full: AllPatients) -> Run:
    """The run with networks trained on the rows, those on all patients beside them, and nothing that takes long."""
    how, found, network = run.request.settings.evaluation, run.condensed, run.networks.trained
    correction, logits = score_rows(network, how, run.parts, [(found.x, found.targets)], run.keys)
    evidence = Evidence(
        cohort=run.cohort,
        parts=run.parts,
        training=Training(network, how.training(how.final_epochs)),
        condensed=found,
        logits={"aliquot": logits, "full_best_epoch": full.logits},
        corrections={"aliquot": correction, "full_best_epoch": AS_THEY_ARE},
        draws=(),
        full_best_epoch=full.best_epoch,
        keys=run.keys,
    )
    assert FEATURES.measure is not None
    return replace(run, evidence=evidence, measured=FEATURES.measure(evidence).to_json())


def score_clients(x: np.ndarray, targets: np.ndarray, parts: Parts, seed: int) -> dict[str, ModelScores]:
    """Every outside model trained on rows with hard or soft targets, the latter as weights, and scored on held_out."""
    held_out = parts.held_out
    return {name: transfer_metrics(name, x, targets, held_out.x, held_out.labels, seed=seed) for name in CLIENTS}


def survives_csv(result: Condensation) -> bool:
    """Whether ``rows.csv``, read by pandas and encoded, gives the features of ``rows.parquet`` to the last bit."""
    read = pd.read_csv(io.BytesIO(csv(result.readable)))
    return result.encode(read).equals(result.rows)


def means(scores: Scores) -> ModelScores:
    """Means over networks."""
    return ModelScores(auroc=scores.auroc.mean, auprc=scores.auprc.mean)
