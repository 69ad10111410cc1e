"""Release: rows, encoder, training recipe and results as one value that can be written to a folder."""

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from aliquot.cohort import Cohort, Encoder, Parts, SeriesEncoder
from aliquot.disclosure import SUPPORT, patients_in, rounded
from aliquot.evaluate import held_out_scores
from aliquot.evaluate.labels import weight_column
from aliquot.evaluate.results import AboutMethod, Data, Results, Storage, Tuning
from aliquot.identity import versions
from aliquot.networks.architecture import get_architecture
from aliquot.release.condensation import Condensation
from aliquot.run.stage import Run, Stage


def _release(run: Run) -> Run:
    """The run with everything that may leave the building."""
    run.clock.finish()
    data, found, geometry = data_of(run.cohort, run.parts, run.condensed.x.shape), run.condensed, run.evidence.geometry
    condensation = Condensation(
        x=found.x,
        targets=found.targets,
        target=run.cohort.target,
        classes=run.cohort.classes,
        encoder=run.parts.encoder,
        recipe=recipe_of(run, data),
        results=results_of(run, data),
        settings=asdict(run.request.settings),
        history=dict(found.history),
        curves=None if geometry is None else asdict(geometry),
        notes=notes_of(run),
    )
    return replace(run, condensation=condensation)


def notes_of(run: Run) -> tuple[str, ...]:
    """What the user should know: what is no feature, and what happened on the way."""
    return (*run.cohort.notes, *run.parts.notes, *run.condensed.notes)


def results_of(run: Run, data: Data) -> Results:
    """All results of a run."""
    request, found = run.request, run.condensed
    return Results(
        method=request.chosen.name,
        about_method=AboutMethod.of(request.chosen),
        rows_per_class=request.rows_per_class,
        seed=request.seed,
        preset=request.preset,
        budget=request.budget,
        start=request.settings.start,
        real_rows=request.real_rows,
        notes=notes_of(run),
        versions=versions(),
        data=data,
        held_out=held_out_scores(run.evidence),
        tuning=Tuning(
            best_iteration=found.best_iteration,
            iterations=len(found.history.get("loss", ())),
            skipped=found.skipped,
            expert_epochs=found.expert_epochs,
            full_best_epoch=run.evidence.full_best_epoch,
        ),
        seconds=run.clock.seconds,
        storage_bytes=storage_of(run),
        settings=json.loads(json.dumps(asdict(request.settings))),  # as it will be read back
        further=run.measured,
    )


def data_of(cohort: Cohort, parts: Parts, shape: tuple[int, ...]) -> Data:
    """The patients as they may be reported; ``shape`` is that of the rows."""
    counts = [part.counts(cohort.n_classes) for part in (parts.train, parts.tuning, parts.held_out)]
    small = min(map(min, counts)) < SUPPORT  # then neither totals nor other parts may give a small count away
    train, tuning, held_out = (tuple(rounded(part) if small else part) for part in counts)
    return Data(
        patients=_patients_of(cohort) // 10 * 10 if small else _patients_of(cohort),
        columns=_columns_of(parts.encoder),
        features=int(shape[-1]),
        steps=None if cohort.series is None else int(shape[1]),
        classes=tuple(str(name) for name in cohort.classes),
        prevalence=exported_shares(cohort.prevalence, small=small),
        licence=cohort.licence or None,
        train=train,
        tuning=tuning,
        held_out=held_out,
    )


def exported_shares(prevalence: tuple[float, ...], *, small: bool) -> tuple[float, ...]:
    """Class shares as they may be exported: coarser where a class is small.

    >>> exported_shares((0.98765432, 0.01234568), small=True)
    (0.99, 0.01)
    """
    return tuple(round(share, 2 if small else 4) for share in prevalence)


def recipe_of(run: Run, data: Data) -> dict[str, Any]:
    """How to train on the rows, as in recipe.toml."""
    settings, x, network = run.request.settings, run.condensed.x, run.networks.trained
    training = settings.evaluation
    hard = bool(np.isin(run.condensed.targets, (0, 1)).all())
    batches = -(-len(x) // min(training.rows_batch_size, len(x)))
    shape = {"hidden": list(settings.network.hidden), "activation": "relu", "dropout": settings.network.dropout}
    if x.ndim > 2:
        shape = {"steps": int(x.shape[1])}  # the name tells the rest of a network of series
    return {
        "network": {"kind": _kind(run), "inputs": int(x[0].size), **shape, "outputs": network.n_outputs},
        "training": {
            "optimiser": "sgd",
            "learning_rate": training.learning_rate,
            "momentum": training.momentum,
            "weight_decay": training.weight_decay,
            "batch_size": training.rows_batch_size,
            "epochs": training.final_epochs,
            "steps": training.final_epochs * batches,
            "loss": "binary cross-entropy" if network.n_outputs == 1 else "cross-entropy",
        },
        "labels": {
            "target": run.cohort.target,
            "classes": list(run.cohort.classes),
            "kind": "hard" if hard else "soft",
            "weight": weight_column(_names(run)),
        },
        "calibration": {
            "prevalence": list(data.prevalence),
            "logit_scale": run.evidence.correction.scale,
            "logit_offset": np.asarray(run.evidence.correction.offset).tolist(),
        },
    }


def _names(run: Run) -> set[str]:
    """Names that the files of rows have for the target and for features, encoded and in the source's units."""
    encoder = run.parts.encoder
    columns = encoder.columns if isinstance(encoder, Encoder) else ()
    return {run.cohort.target, *encoder.column_names, *(code.name for code in columns)}


def _patients_of(cohort: Cohort) -> int:
    return patients_in(np.ones(cohort.n, bool), cohort.patient)


def _columns_of(encoder: Encoder | SeriesEncoder) -> int:
    if isinstance(encoder, SeriesEncoder):
        return len(encoder.channels) + len(encoder.static.columns)
    return len(encoder.columns)


def storage_of(run: Run) -> Storage:
    """Bytes of what the student followed, as kept, and of all checkpoints of its experts had they been kept."""
    epochs, experts = run.condensed.expert_epochs, run.request.settings.expert.count
    dense = experts * (epochs + 1) * run.networks.matched.n_parameters * 4
    return Storage(curves=run.context.common.size(*run.condensed.stored), trajectories_if_dense=dense if epochs else 0)


def _kind(run: Run) -> str:
    """The name of the network; that of a table or of series where it was left to Aliquot."""
    kind = run.request.settings.network.kind
    if run.request.network is not None:
        return "own"
    return get_architecture(kind, run.condensed.x.shape[1:]).name if kind == "auto" else kind


RELEASE = Stage("release", _release)
