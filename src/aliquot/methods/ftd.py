"""FTD: Flat Trajectory Distillation (Du et al., CVPR 2023).

As MTT, but

* experts are trained by GSAM (``networks/gsam.py``), whose flat ways let a student's error accumulate less;
* beside the rows X runs their average X̄ ← β X̄ + (1-β) X, which never feeds back; rows and average are two candidates,
  each judged with fresh networks.
"""

from aliquot.matching import Slots
from aliquot.methods.trajectory import trajectory_method

FTD = trajectory_method(
    "ftd",
    "Flat Trajectory Distillation (FTD)",
    Slots(path="sgd", experts="gsam", gradient="full", labels="hard", average=0.9995),
)
