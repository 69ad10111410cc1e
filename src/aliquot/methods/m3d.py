"""M3D (Zhang et al. 2024): match all moments of the classes' features, by the mean discrepancy under a kernel.

Repeat: every 5 iterations draw a random network f, never trained. For each class c take a batch R_c of its patients
and all its rows S_c, and move the rows one step down

    L_c = mean K(f(S_c), f(S_c)) - 2 mean K(f(S_c), f(R_c)) + mean K(f(R_c), f(R_c)),

where K is a sum of five Gaussians whose widths follow the features' mean distance. Matching in the kernel's space
matches every moment of the features; DM, the same with K(z, z') = z·z', matches means only.

As in the official code each class has its own step, during which the rows of the others coast on their momentum, and
the step is as many times larger as there are rows per class. Other than there, f is the network with a last layer of
``width`` outputs (the reading of the BTM paper; there: what the last layer sees), rows are not clipped to a range of
pixels, each row is one row (there: four small images), and all rows of a class take part (there: at most 200).
"""

import jax

from aliquot.matching import Condensed
from aliquot.matching.distribution import match_distributions
from aliquot.methods.classwise import class_matching
from aliquot.methods.cost import distribution_cost
from aliquot.methods.method import Method
from aliquot.methods.settings import MethodSettings
from aliquot.methods.task import Task


def moment_matching(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """Synthetic rows whose features are distributed as those of the patients of their class."""
    return class_matching(match_distributions, settings.distribution, task, settings, key=key)


M3D = Method(
    "m3d",
    "Maximum Mean Discrepancy Minimisation (M3D)",
    moment_matching,
    sections=("start", "distribution"),
    cost=distribution_cost,
)
