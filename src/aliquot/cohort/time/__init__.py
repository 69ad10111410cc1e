"""Measurements with a time, brought to a grid of equal steps."""

from aliquot.cohort.time.grid import Layout, on_grid

__all__ = ["Layout", "on_grid"]
