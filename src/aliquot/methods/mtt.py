"""MTT: Matching Training Trajectories (Cazenavette et al., CVPR 2022).

1. Train K experts on the patients with plain SGD; keep their parameters after every epoch.
2. Repeat: draw an expert and an epoch a, s = θ_a, target = θ_{a+M}; let a student start at s and train on the rows for
   N steps, θ ← θ - η ∇ℓ(θ; rows); move rows and η along the gradient of L = ‖θ_N - target‖² / ‖s - target‖².

The gradient is full: it runs back through all N steps, Hessians included.
"""

from aliquot.matching import Slots
from aliquot.methods.trajectory import trajectory_method

MTT = trajectory_method(
    "mtt",
    "Matching Training Trajectories (MTT)",
    Slots(path="sgd", experts="sgd", gradient="full", labels="hard"),
)
