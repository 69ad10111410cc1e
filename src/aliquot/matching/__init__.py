"""Trajectory matching: segments, the student's meta-gradient, and the one loop."""

from aliquot.matching.history import Condensed
from aliquot.matching.loop import MatchSettings, match
from aliquot.matching.metagradient import MetaGradient, meta_gradient, student_batches
from aliquot.matching.rows import Rows
from aliquot.matching.segments import SegmentSettings, draw_segment

__all__ = [
    "Condensed",
    "MatchSettings",
    "MetaGradient",
    "Rows",
    "SegmentSettings",
    "draw_segment",
    "match",
    "meta_gradient",
    "student_batches",
]
