"""DC, dataset condensation (Zhao et al. 2021): match the gradients of a network while it is trained on the rows.

Repeat: draw a random network θ. Then in turn

1. for each class c take a batch R_c of its patients and all its rows S_c, and move the rows one step down

       D = Σ_c Σ_units 1 - cos(∇_θ ℓ(S_c), ∇_θ ℓ(R_c)),

   the angle being taken over the incoming weights of each unit; biases do not count;
2. train θ on the rows for some epochs of plain gradient descent.

How often and how long depends on the rows per class, by the official code's table, which ends at 50; more rows take
its last entry. The official code starts from noise; to start from patients helps where rows are many. Dropout is off
throughout.
"""

import jax

from aliquot.matching import Condensed
from aliquot.matching.gradients import match_gradients
from aliquot.methods.classwise import class_matching
from aliquot.methods.method import Method
from aliquot.methods.settings import MethodSettings
from aliquot.methods.task import Task


def gradient_matching(task: Task, settings: MethodSettings, *, key: jax.Array) -> Condensed:
    """Synthetic rows that pull a network in the directions in which the patients pull it."""
    return class_matching(match_gradients, settings.gradients, task, settings, key=key)


DC = Method("dc", "Gradient Matching (DC)", gradient_matching, sections=("start", "gradients"))
