"""Training of the experts."""

from aliquot.experts.experts import Experts, ExpertSettings, length_scores, smooth, train_experts

__all__ = ["ExpertSettings", "Experts", "length_scores", "smooth", "train_experts"]
