"""What every method is given."""

from dataclasses import dataclass, field

import numpy as np
from jax import Array

from aliquot.hooks import Forgetting, Judge, Memory, Progress, Silence
from aliquot.networks import Network, as_targets


@dataclass(frozen=True)
class Task:
    """Training patients, the network of experts and students, how many rows to make, and the helpers around."""

    network: Network
    x: np.ndarray  # (patients, …) encoded training patients
    labels: np.ndarray  # (patients,) class codes 0…C-1
    rows_per_class: int
    judge: Judge
    memory: Memory = field(default_factory=Forgetting)  # of this run alone
    shared: Memory | None = None  # of all runs on the same patients: experts and curves; None: as `memory`
    progress: Progress = field(default_factory=Silence)
    dense: bool = False  # keep whole trajectories of the experts, for other methods that share the memory

    @property
    def targets(self) -> Array:
        """The labels as training targets."""
        return as_targets(self.labels, self.network.n_classes)

    @property
    def common(self) -> Memory:
        """Where experts and curves are kept."""
        return self.memory if self.shared is None else self.shared
