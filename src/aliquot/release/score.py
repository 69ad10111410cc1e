"""A release tried on other patients: networks trained on the rows by the recipe, scored on a table or series."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import pandas as pd

from aliquot.cohort import Stays, encode_new
from aliquot.errors import TargetError
from aliquot.evaluate import Correction, finite_logits, score_logits
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Scores
from aliquot.release.bundle import Release
from aliquot.release.recipe import training_of


@dataclass(frozen=True)
class NewPatientScores(Record):
    """Scores of networks trained on the rows on other patients, before and after the correction."""

    patients: int
    notes: tuple[str, ...]
    before: Scores
    after: Scores


def score_release(release: Release, patients: Stays, *, networks: int, seed: int) -> NewPatientScores:
    """Scores on patients whose table holds the target of the release."""
    labels = _labels(release, patients.frame)
    x, notes = encode_new(release.encoder, patients)
    training = training_of(release.recipe, release.encoder.shape)
    thetas = training.train(release.x, release.targets, networks=networks, key=jax.random.key(seed))
    logits = finite_logits(training.network, thetas, x)
    return NewPatientScores(
        len(x),
        (*patients.notes, *notes),
        before=score_logits(labels, logits),
        after=score_logits(labels, logits, Correction.of_recipe(release.recipe["calibration"])),
    )


def _labels(release: Release, frame: pd.DataFrame) -> np.ndarray:
    """Class codes of the table's target; it must have all of the release's classes and no others."""
    target, classes = release.recipe["labels"]["target"], release.recipe["labels"]["classes"]
    if target not in frame.columns:
        raise TargetError(f"asked to evaluate on the target {target!r}, but the table has no such column; add it")
    codes = pd.Index([_plain(name) for name in classes]).get_indexer(pd.Index([_plain(v) for v in frame[target]]))
    if (codes < 0).any() or len(np.unique(codes)) < len(classes):
        raise TargetError(
            f"asked to evaluate on the target {target!r}, but its values are not the {len(classes)} classes of the "
            "release, each at least once; check the column"
        )
    return codes


def _plain(value: Any) -> str:
    """A label as text, the same for 1, 1.0, True and "1"."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return str(int(value)) if isinstance(value, float | np.floating) and value.is_integer() else str(value)
