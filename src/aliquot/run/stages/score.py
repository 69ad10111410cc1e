"""Score: networks trained on the rows, on random patients and on all patients, on held_out; it is opened here."""

from dataclasses import replace

from aliquot.evaluate import collect_evidence
from aliquot.methods import Cost
from aliquot.methods.cost import FORWARDS
from aliquot.run.stage import Run, Stage


def _score(run: Run) -> Run:
    """The run with what its networks say of the held-out patients."""
    how = run.request.settings.evaluation
    evidence = collect_evidence(
        run.cohort, run.parts, run.networks.trained, how, run.condensed, seed=run.request.seed, context=run.context
    )
    return replace(run, evidence=evidence)


def _cost(run: Run) -> dict[str, Cost]:
    """Training on all patients with an evaluation after every epoch, then on the rows and on random patients."""
    how, parts = run.request.settings.evaluation, run.parts
    train, tuning, held_out = (len(part.x) for part in (parts.train, parts.tuning, parts.held_out))
    rows = run.request.rows_per_class * parts.n_classes
    final = how.final_networks * (how.final_epochs * rows + FORWARDS * (tuning + held_out))
    return {
        "full data": Cost(trained=how.final_networks * how.full_epochs * (train + FORWARDS * tuning)),
        "held-out evaluation": Cost(trained=2 * final),
    }


SCORE = Stage("score", _score, _cost)
