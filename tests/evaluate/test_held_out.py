"""All networks that are reported, trained and scored in one place."""

import dataclasses

import jax
import numpy as np
import pytest

from aliquot.cohort import Cohort, encode_parts
from aliquot.cohort.fitting import EncoderSettings
from aliquot.context import Context
from aliquot.evaluate import Correction, EvaluationSettings, TuningJudge, collect_evidence, held_out_scores
from aliquot.evaluate.held_out import score_rows
from aliquot.evaluate.results import TRAINED_ON
from aliquot.matching import Condensed

QUICK = EvaluationSettings(final_epochs=2, final_networks=2, full_epochs=2, search_epochs=1, search_networks=1)


@pytest.fixture(scope="module")
def cohort() -> Cohort:
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    return Cohort.from_arrays(rng.normal(size=(400, 5)) + labels[:, None], labels)


@pytest.fixture(scope="module")
def parts(cohort):
    return encode_parts(cohort, seed=0, settings=EncoderSettings(), rows_per_class=4)


def collected(cohort, parts, network, settings):
    rows = np.r_[np.flatnonzero(parts.train.labels == 0)[:4], np.flatnonzero(parts.train.labels == 1)[:4]]
    condensed = Condensed(parts.train.x[rows], parts.train.labels[rows].astype(np.float32))
    judge = TuningJudge(network, settings, parts.tuning.x, parts.tuning.labels, jax.random.key(0))
    return collect_evidence(cohort, parts, network, settings, condensed, seed=0, context=Context(judge=judge))


def test_evidence_has_logits_of_every_set_and_their_corrections(cohort, parts, small_network):
    evidence = collected(cohort, parts, small_network, QUICK)
    assert set(evidence.logits) == set(evidence.corrections) == set(TRAINED_ON)
    assert {logits.shape for logits in evidence.logits.values()} == {(2, len(parts.held_out.labels))}
    assert evidence.corrections["full"] == evidence.corrections["full_best_epoch"] == Correction()
    assert evidence.correction != Correction()
    assert len(evidence.draws) == 2
    assert (evidence.patients, evidence.geometry) == (None, None)
    assert len(evidence.train.labels) == len(parts.train.labels)
    assert held_out_scores(evidence).aliquot.auroc.n == 2


def test_a_network_that_diverges_on_all_patients_scores_as_chance_and_does_not_end_the_run(
    cohort, parts, small_network
):
    broken = dataclasses.replace(QUICK, learning_rate=1e30)
    evidence = collected(cohort, parts, small_network, broken)
    assert all(np.isfinite(logits).all() for logits in evidence.logits.values())
    assert held_out_scores(evidence).full.auroc.mean == pytest.approx(0.5)


def test_the_correction_is_fitted_on_the_patients_asked_for(parts, small_network):
    rows = [(parts.train.x[:8], parts.train.labels[:8].astype(np.float32))]
    keys = {"final networks": jax.random.key(0)}
    asked = (None, (parts.train, parts.tuning), (parts.tuning,))
    usual, both, tuning = (
        score_rows(small_network, QUICK, parts, rows, keys, correct_on=patients)[0] for patients in asked
    )
    assert usual == tuning != both
