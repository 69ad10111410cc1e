"""What every method is given."""

from dataclasses import dataclass, field

import numpy as np
from jax import Array

from aliquot.cohort import ValidRows
from aliquot.context import Context
from aliquot.networks import Network, as_targets


@dataclass(frozen=True)
class Task:
    """Training patients, the network of experts and students, how many rows to make, and what to do it with."""

    network: Network
    x: np.ndarray  # (patients, …) encoded training patients
    labels: np.ndarray  # (patients,) class codes 0…C-1
    rows_per_class: int
    context: Context = field(default_factory=Context)
    valid: ValidRows | None = None  # what a valid record is; None: anything
    patients: np.ndarray | None = None  # a code for the patient of each of ``x``; None: every row is a patient
    keep_paths: bool = False  # keep whole trajectories of the experts, for other methods that share the store

    @property
    def targets(self) -> Array:
        """The labels as training targets."""
        return as_targets(self.labels, self.network.n_classes)
