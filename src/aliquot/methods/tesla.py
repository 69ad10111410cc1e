"""TESLA: MTT in constant memory, with soft labels (Cui et al., ICML 2023).

As MTT, but

* the gradient is first-order: every step's gradient is taken at a student's way held constant,
  ∂L/∂rows ≈ -η Σ_i ∇_rows ⟨∇_θ ℓ(θ_i; rows), 2 (θ_N - target) / D⟩, so that no step's graph need be kept;
* the labels are the target network's own probabilities on the rows, taken anew in every iteration and constant in it.

TESLA calls this gradient exact; the dependence of later steps on earlier ones is cut, so it is not.
"""

from aliquot.matching import Slots
from aliquot.methods.trajectory import trajectory_method

TESLA = trajectory_method(
    "tesla",
    "trajectory matching with constant memory (TESLA)",
    Slots(path="sgd", experts="sgd", gradient="first_order", labels="teacher"),
)
