"""Training of the experts."""

from aliquot.experts.experts import (
    Experts,
    ExpertSettings,
    expert_blocks,
    expert_keys,
    pilot_count,
    train_experts,
    train_pilots,
)
from aliquot.experts.watch import Watched, smooth, watch_training

__all__ = [
    "ExpertSettings",
    "Experts",
    "Watched",
    "expert_blocks",
    "expert_keys",
    "pilot_count",
    "smooth",
    "train_experts",
    "train_pilots",
    "watch_training",
]
