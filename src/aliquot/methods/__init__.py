"""The methods. One file each; a method takes a task, settings and a key, and returns condensed rows."""

from aliquot.methods.cost import Cost, Sizes
from aliquot.methods.geometry import curve_geometry
from aliquot.methods.method import Method, MethodKeys, get_method
from aliquot.methods.records import measured_as_often, unlike_patients
from aliquot.methods.settings import MethodSettings
from aliquot.methods.start import REAL_STARTS, starting_rows
from aliquot.methods.task import Task
from aliquot.registry import METHODS

__all__ = [
    "METHODS",
    "REAL_STARTS",
    "Cost",
    "Method",
    "MethodKeys",
    "MethodSettings",
    "Sizes",
    "Task",
    "curve_geometry",
    "get_method",
    "measured_as_often",
    "starting_rows",
    "unlike_patients",
]
