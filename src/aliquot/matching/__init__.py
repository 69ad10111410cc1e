"""Matching: segments, the student's meta-gradient and the one loop; distributions and gradients for other methods."""

from aliquot.matching.checkpoints import Checkpoints, EqualDisplacement
from aliquot.matching.distribution import DistributionSettings, match_distributions
from aliquot.matching.gradients import GradientSettings, match_gradients
from aliquot.matching.history import Candidate, Condensed
from aliquot.matching.loop import MatchSettings, match
from aliquot.matching.metagradient import MetaGradient, Student, meta_gradient, segment_gradient
from aliquot.matching.predictions import Questions, questions_of
from aliquot.matching.projection import project
from aliquot.matching.rows import Rows, ensemble_targets
from aliquot.matching.segments import Curves, Segments, SegmentSettings, draw_segment
from aliquot.matching.slots import Slots
from aliquot.matching.student import student_batches

__all__ = [
    "Candidate",
    "Checkpoints",
    "Condensed",
    "Curves",
    "DistributionSettings",
    "EqualDisplacement",
    "GradientSettings",
    "MatchSettings",
    "MetaGradient",
    "Questions",
    "Rows",
    "SegmentSettings",
    "Segments",
    "Slots",
    "Student",
    "draw_segment",
    "ensemble_targets",
    "match",
    "match_distributions",
    "match_gradients",
    "meta_gradient",
    "project",
    "questions_of",
    "segment_gradient",
    "student_batches",
]
