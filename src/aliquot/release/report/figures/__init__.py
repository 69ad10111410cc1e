"""The figures of the report; each function draws one picture and says in words what it shows."""

from aliquot.release.report.figures.calibration import reliability
from aliquot.release.report.figures.columns import column_figures
from aliquot.release.report.figures.distances import distances
from aliquot.release.report.figures.groups import subgroups
from aliquot.release.report.figures.learning import matching_loss, tuning
from aliquot.release.report.figures.paths import path_loss, plane
from aliquot.release.report.figures.ranking import precision_recall, roc
from aliquot.release.report.figures.scores import method_scores, scores, transfer

__all__ = [
    "column_figures",
    "distances",
    "matching_loss",
    "method_scores",
    "path_loss",
    "plane",
    "precision_recall",
    "reliability",
    "roc",
    "scores",
    "subgroups",
    "transfer",
    "tuning",
]
