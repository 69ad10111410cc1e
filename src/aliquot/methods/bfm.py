"""BFM: Bézier Function Matching, Aliquot's own recipe.

As BTM, but the student is judged by what it predicts on patients, not by where its weights are:

1. Train K experts on the patients; p(x) is what they think of a patient x, the mean of their logits.
2. Between where each starts and ends lay a Bézier curve, as BTM does.
3. Repeat: let a student begin fresh, or at a random point of a curve, and train on the synthetic rows as networks will,
   with momentum and dropout; draw patients about whom there is a question, and move rows, their labels and a scale so
   that the student's predictions come nearer to the experts',
   L = mean of w(x) · KL( p(x) ‖ σ(e^g z(x) + c) ).

The gradient is exact and goes back through the last W of the student's N steps. The experts are an ensemble, so the
rows can train a single network better than all patients do. Labels are learned, the running average of rows and labels
is the result, and every row is a valid record.
The steps are in ``trajectory.py``, the loss in ``matching/predictions.py``, one iteration in ``matching/loop.py``.
"""

from aliquot.matching import Slots
from aliquot.methods.trajectory import trajectory_method

BFM = trajectory_method(
    "bfm",
    "Bézier Function Matching (BFM)",
    Slots(
        path="bezier",
        experts="sgd",
        goal="predictions",
        begin="both",
        gradient="full",
        labels="learned",
        average=0.99,
        keep="last",
        valid=True,
    ),
)
