"""The methods by name. One file each; a method takes a task, settings and a key, and returns condensed rows."""

from collections.abc import Callable
from dataclasses import dataclass

from aliquot.curves import Geometry
from aliquot.errors import SettingsError
from aliquot.matching import Condensed
from aliquot.methods.btm import bezier_matching, curve_geometry
from aliquot.methods.random import random_rows
from aliquot.methods.start import STARTS, starting_rows
from aliquot.methods.task import MethodSettings, Task


@dataclass(frozen=True)
class Method:
    """A method of condensation."""

    condense: Callable[..., Condensed]
    selects_rows: bool = False  # it returns real patients
    geometry: Callable[..., Geometry] | None = None  # of its curves, where it has any


METHODS = {
    "btm": Method(bezier_matching, geometry=curve_geometry),
    "random": Method(random_rows, selects_rows=True),
}


def method_named(name: str) -> Method:
    """The method of that name; an unknown name is an error that lists the known ones."""
    if name not in METHODS:
        raise SettingsError(f"asked for method {name!r}; known: {', '.join(METHODS)}")
    return METHODS[name]


__all__ = ["METHODS", "STARTS", "Method", "MethodSettings", "Task", "method_named", "starting_rows"]
