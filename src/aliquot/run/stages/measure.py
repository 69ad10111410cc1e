"""Measure: every section of the report takes its figures."""

import math
import os
from dataclasses import replace

from aliquot.evaluate.other_models import as_table
from aliquot.methods import Cost, curve_geometry
from aliquot.methods.cost import FORWARDS
from aliquot.release.expand import OPINIONS
from aliquot.release.report.sections import measure_sections
from aliquot.release.report.sections.transfer import MOST_TRAINED
from aliquot.run.stage import Run, Stage

FOREST = 2e-6  # seconds of a random forest per line, level of its trees and √feature, on one core (decision 17)
OTHERS = 2e-4  # seconds of the models beside it, per line
RECORD = 2e-4  # seconds to draw one
ENDS = 5.0  # seconds of all of them on next to no lines


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
    how, train = run.request.settings.evaluation, run.parts.train.x
    rows = run.request.rows_per_class * run.parts.n_classes
    width, records = math.sqrt(as_table(train[:1]).shape[1]), how.expanded_records
    sets = min(len(train), MOST_TRAINED), run.parts.n_classes * records  # lines: a record has one per class
    forests = sum(FOREST * n * math.log2(n) * width for n in sets) / (os.cpu_count() or 1)
    return {
        "networks on the rows": Cost(trained=OPINIONS * how.final_epochs * rows),
        "records around the rows": Cost(trained=OPINIONS * FORWARDS * records, seconds=RECORD * records),
        "other models": Cost(seconds=ENDS + OTHERS * sum(sets) + forests),
    }


MEASURE = Stage("measure", _measure, _cost)
