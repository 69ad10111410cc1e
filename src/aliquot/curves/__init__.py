"""Bézier curves through parameter space: points, fit and geometry."""

from aliquot.curves.bezier import Curve, bend, bezier_point, curvature, straight
from aliquot.curves.fit import CurveSettings, fit_curves, path_loss
from aliquot.curves.geometry import Geometry, measure

__all__ = [
    "Curve",
    "CurveSettings",
    "Geometry",
    "bend",
    "bezier_point",
    "curvature",
    "fit_curves",
    "measure",
    "path_loss",
    "straight",
]
