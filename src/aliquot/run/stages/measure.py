"""Measure: every section of the report takes its figures."""

import math
from dataclasses import replace

from aliquot.evaluate.other_models import as_table
from aliquot.methods import Cost, curve_geometry
from aliquot.release.report.sections import measure_sections
from aliquot.run.stage import Run, Stage

FOREST = 3.3e-6  # seconds of a random forest per patient, level of its trees and √feature (decision 8)
OTHERS = 5.0  # seconds of the models beside it


def _measure(run: Run) -> Run:
    """The run with what the sections measured, and with the geometry of its curves where there are any."""
    request = run.request
    geometry = None
    if "curves" in request.chosen.needs:
        geometry = curve_geometry(run.task, request.settings, key=run.keys["condense"])
    evidence = replace(run.evidence, geometry=geometry)
    return replace(run, evidence=evidence, measured=measure_sections(evidence))


def _cost(run: Run) -> dict[str, Cost]:
    """Models of scikit-learn pass no rows through a network: their seconds are guessed."""
    train = run.parts.train.x
    features = as_table(train[:1]).shape[1]
    forest = FOREST * len(train) * math.log2(len(train)) * math.sqrt(features)
    return {"other models": Cost(seconds=OTHERS + forest)}


MEASURE = Stage("measure", _measure, _cost)
