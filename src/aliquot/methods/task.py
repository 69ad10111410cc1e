"""What every method is given and how it is set."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jax import Array

from aliquot.curves import CurveSettings
from aliquot.experts import ExpertSettings
from aliquot.hooks import Forgetting, Judge, Memory, Progress, Silence
from aliquot.matching import MatchSettings
from aliquot.networks import Network, as_targets


@dataclass(frozen=True)
class Task:
    """Training patients, the network to match, how many rows to make, and the helpers around."""

    network: Network
    x: np.ndarray  # (patients, …) encoded training patients
    labels: np.ndarray  # (patients,) class codes 0…C-1
    rows_per_class: int
    judge: Judge
    memory: Memory = field(default_factory=Forgetting)
    progress: Progress = field(default_factory=Silence)

    @property
    def targets(self) -> Array:
        """The labels as training targets."""
        return as_targets(self.labels, self.network.n_classes)


@dataclass(frozen=True, kw_only=True)
class MethodSettings:
    """The slots of trajectory matching; defaults are the paper's."""

    start: Literal["real", "gaussian", "noise"] = "real"  # patients; drawn per class and feature; N(0, 1)
    expert: ExpertSettings = field(default_factory=ExpertSettings)
    curve: CurveSettings = field(default_factory=CurveSettings)
    match: MatchSettings = field(default_factory=MatchSettings)
