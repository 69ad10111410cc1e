"""Training of the experts."""

from aliquot.experts.experts import Experts, ExpertSettings, train_experts
from aliquot.experts.watch import Watched, smooth, watch_training

__all__ = ["ExpertSettings", "Experts", "Watched", "smooth", "train_experts", "watch_training"]
