"""Is a model trained on the rows as good as one trained on the patients?"""

from aliquot.evaluate.calibration import corrected, prior_offset, reliability, summarised
from aliquot.evaluate.held_out import evaluate_held_out
from aliquot.evaluate.metrics import METRICS, all_metrics, auprc, probabilities, row_classes, summary
from aliquot.evaluate.protocol import EvaluationSettings, TuningJudge, logits_of, train_on

__all__ = [
    "METRICS",
    "EvaluationSettings",
    "TuningJudge",
    "all_metrics",
    "auprc",
    "corrected",
    "evaluate_held_out",
    "logits_of",
    "prior_offset",
    "probabilities",
    "reliability",
    "row_classes",
    "summarised",
    "summary",
    "train_on",
]
