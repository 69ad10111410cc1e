"""DM, distribution matching (Zhao and Bilen 2023): match the mean features of each class.

Repeat: draw a random network f, never trained. For each class c take a batch R_c of its patients and all its rows
S_c, and move the rows one step down

    L = Σ_c ‖mean f(S_c) - mean f(R_c)‖²,

f being what the network's last layer sees. This is M3D with a linear kernel, other features, and one step on the sum
over classes; :data:`PRESET` says so. The official code takes a learning rate of 1 below 100 rows per class and of 10
from there.
"""

import jax

from aliquot.matching import Condensed
from aliquot.matching.distribution import match_distributions
from aliquot.methods.classwise import class_matching
from aliquot.methods.cost import distribution_cost
from aliquot.methods.method import Method
from aliquot.methods.settings import MethodSettings
from aliquot.methods.task import Task

PRESET = {
    "iterations": 20_000,
    "kernel": "linear",
    "features": "penultimate",
    "real_batch": 256,
    "network_every": 1,
    "step": "sum",
    "data_lr": 1.0,
    "scale_lr": False,
}  # what makes DM of DistributionSettings


def mean_matching(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """Synthetic rows whose mean features are those of the patients of their class."""
    return class_matching(match_distributions, settings.distribution, task, settings, key=key)


DM = Method(
    "dm",
    "Distribution Matching (DM)",
    mean_matching,
    sections=("start", "distribution"),
    changes={"distribution": PRESET},
    cost=distribution_cost,
)
