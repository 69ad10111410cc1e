"""What measurements of a run are taken from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
import numpy as np

from aliquot.cohort import TRAIN, Cohort, Part, Parts
from aliquot.context import NoProgress, Progress
from aliquot.curves import Geometry
from aliquot.disclosure import patients_per, score_decimals
from aliquot.evaluate.calibration import Correction
from aliquot.evaluate.protocol import Training
from aliquot.evaluate.subgroups import held_out_groups
from aliquot.matching import Condensed
from aliquot.networks import Network

if TYPE_CHECKING:
    import pandas as pd

TrainingSet = tuple[np.ndarray, np.ndarray]  # features and targets


@dataclass(frozen=True, eq=False)
class Evidence:
    """The rows of a run, the patients beside them, and what networks trained on either say of held_out.

    ``logits`` are those on held_out, (networks, patients[, C]), by what the networks were trained on: ``"random"``
    (as many real patients), ``"aliquot"`` (the rows), ``"full"`` (all training patients for a fixed number of epochs)
    and ``"full_best_epoch"``. ``corrections`` are those of the same networks; those trained on all patients need none.
    """

    cohort: Cohort
    parts: Parts
    training: Training  # of networks on the rows
    condensed: Condensed
    logits: Mapping[str, np.ndarray]
    corrections: Mapping[str, Correction]
    draws: Sequence[TrainingSet]  # of random patients, one for each network
    full_best_epoch: int
    keys: Mapping[str, jax.Array]
    expanded_records: int = 0  # around the rows, for other kinds of models
    geometry: Geometry | None = None  # of the experts' curves, where the method follows any
    progress: Progress = NoProgress()

    @property
    def network(self) -> Network:
        """The network that is trained on the rows."""
        return self.training.network

    @property
    def x(self) -> np.ndarray:
        """Features of the rows."""
        return self.condensed.x

    @property
    def targets(self) -> np.ndarray:
        """Targets of the rows."""
        return self.condensed.targets

    @property
    def history(self) -> Mapping[str, np.ndarray]:
        """What happened while the rows were learned: figures of every iteration, and of every evaluation on tuning."""
        return self.condensed.history

    @property
    def labels(self) -> np.ndarray:
        """Classes of the held-out patients."""
        return self.parts.held_out.labels

    @property
    def correction(self) -> Correction:
        """What corrects the logits of networks that were trained on the rows."""
        return self.corrections["aliquot"]

    @property
    def train(self) -> Cohort:
        """The training patients in the units of the source."""
        return self.cohort.take(self.parts.roles == TRAIN)

    @property
    def patients(self) -> np.ndarray | None:
        """Who each held-out row is, where a patient may have several."""
        return self.parts.held_out.patients

    @property
    def decimals(self) -> int:
        """Decimals that scores on held_out may have."""
        return score_decimals(int(patients_per(self.labels, self.patients, self.parts.n_classes).min()))

    @property
    def groups(self) -> "Mapping[str, pd.Categorical[str]]":
        """The group of each held-out row by the columns by which results are also reported."""
        return held_out_groups(self.parts)

    def first_rows(self, part: Part) -> np.ndarray:
        """Of the rows of a part, the place of the first one of each patient."""
        if part.patients is None:
            return np.arange(len(part.labels))
        return np.sort(np.unique(part.patients, return_index=True)[1])
