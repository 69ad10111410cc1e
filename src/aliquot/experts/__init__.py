"""Training of the experts."""

from aliquot.experts.experts import Experts, ExpertSettings, Watched, smooth, train_experts, watch_training

__all__ = ["ExpertSettings", "Experts", "Watched", "smooth", "train_experts", "watch_training"]
