"""Is a model trained on the rows as good as one trained on the patients?"""

from aliquot.evaluate.calibration import Correction, corrected, fit_correction, reliability, score_logits
from aliquot.evaluate.evidence import Evidence
from aliquot.evaluate.held_out import collect_evidence, held_out_scores
from aliquot.evaluate.metrics import all_metrics, auprc, probabilities, row_classes, summarise
from aliquot.evaluate.protocol import EvaluationSettings, Training, TuningJudge, finite_logits, logits_of, train_on
from aliquot.evaluate.results import Results

__all__ = [
    "Correction",
    "EvaluationSettings",
    "Evidence",
    "Results",
    "Training",
    "TuningJudge",
    "all_metrics",
    "auprc",
    "collect_evidence",
    "corrected",
    "finite_logits",
    "fit_correction",
    "held_out_scores",
    "logits_of",
    "probabilities",
    "reliability",
    "row_classes",
    "score_logits",
    "summarise",
    "train_on",
]
