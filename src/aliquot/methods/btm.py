"""BTM: Bézier Trajectory Matching (the paper's Algorithm 1).

1. Train K experts on the patients; keep only where each starts (θ_0) and ends (θ_E).
2. Between the two lay a quadratic Bézier curve, θ(t) = (1-t)² θ_0 + 2t(1-t) φ + t² θ_E, whose control point φ makes the
   loss along the curve low.
3. Repeat: draw a curve and a piece of it, s = θ(t), target = θ(t + 0.2); let a student start at s and train on the
   synthetic rows for N steps; move the rows so that it ends nearer to the target,
   L = ‖θ_N - target‖² / ‖s - target‖².

The gradient is first-order: the student's way is a constant, only its last step is not. Labels stay hard.
The steps are in ``trajectory.py``, the fit of φ in ``curves/fit.py``, one iteration in ``matching/loop.py``.
"""

from aliquot.matching import Slots
from aliquot.methods.trajectory import trajectory_method

BTM = trajectory_method(
    "btm",
    "Bézier Trajectory Matching (BTM)",
    Slots(path="bezier", experts="sgd", gradient="first_order", labels="hard"),
)
