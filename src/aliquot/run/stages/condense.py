"""Condense: the method learns or picks the rows."""

from dataclasses import replace

import numpy as np

from aliquot.cohort import settled, valid_rows
from aliquot.methods import Cost, Sizes, unlike_patients
from aliquot.methods.cost import FORWARDS
from aliquot.run.stage import Run, Stage

NARROW = 0.8  # a network of an eighth of the parameters costs about a fifth (decision 8)


def _condense(run: Run) -> Run:
    """The run with its rows."""
    request, networks = run.request, run.networks
    found = request.chosen.condense(run.task, request.settings, key=run.keys["condense"])
    if found.expert_epochs and networks.share != 1:
        note = (
            f"experts and students were small networks ({networks.matched.n_parameters:,} parameters); rows were "
            f"chosen and scored with the network itself ({networks.trained.n_parameters:,})"
        )
        found = replace(found, notes=(*found.notes, note))
    if request.settings.slots.valid and run.parts.encoder is not None:
        found = replace(found, x=_as_records(run, found.x))
    return replace(run, condensed=found)


def _as_records(run: Run, x: np.ndarray) -> np.ndarray:
    """Valid rows to the last digit what their cells encode to; of tables, none that is a patient by chance."""
    if x.ndim == 2:
        x = unlike_patients(valid_rows(run.parts.encoder), x, run.parts.train.x)
    return settled(run.parts.encoder, x)


def _cost(run: Run) -> dict[str, Cost] | None:
    """As the method declares it."""
    method, settings, parts = run.request.chosen, run.request.settings, run.parts
    if method.cost is None:
        return None
    rows = run.request.rows_per_class * parts.n_classes
    how = settings.evaluation
    evaluation = how.search_networks * (how.search_epochs * rows + FORWARDS * len(parts.tuning.x))
    sizes = Sizes(
        rows, len(parts.train.x), len(parts.tuning.x), parts.n_classes, run.networks.share**NARROW, evaluation
    )
    return method.cost(settings, sizes)


CONDENSE = Stage("condense", _condense, _cost)
