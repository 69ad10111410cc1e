"""Prepare: split and encode the patients, build the networks, appoint the judge; no work is done yet."""

from dataclasses import replace

from aliquot.cohort import Parts, encode_parts
from aliquot.evaluate import TuningJudge
from aliquot.run.stage import UNSET, Run, Stage


def prepare(run: Run) -> Run:
    """The run with its parts, networks and judge; every reason why it cannot be condensed shows here."""
    request, settings = run.request, run.request.settings
    parts = _parts(run) if run.parts is UNSET else run.parts
    tuning = parts.tuning
    networks = settings.network.build(tuning.x.shape[1:], parts.n_classes, request.network)
    key = run.keys["tuning networks"]
    judge = TuningJudge(networks.trained, settings.evaluation, tuning.x, tuning.labels, key)
    return replace(run, parts=parts, networks=networks, context=replace(run.context, judge=judge))


def _parts(run: Run) -> Parts:
    request = run.request
    return encode_parts(
        run.cohort, seed=request.seed, settings=request.settings.encoder, rows_per_class=request.rows_per_class
    )


PREPARE = Stage("prepare", prepare)
