"""Aliquot condenses clinical datasets: a few synthetic rows on which models train as well as on the whole."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aliquot.api import condense as condense
    from aliquot.estimator import Condenser as Condenser
    from aliquot.release.bundle import read_release as read_release
    from aliquot.release.condensation import Condensation as Condensation

__all__ = ["Condensation", "Condenser", "condense", "read_release"]

_HOMES = {
    "Condensation": "aliquot.release.condensation",
    "Condenser": "aliquot.estimator",
    "condense": "aliquot.api",
    "read_release": "aliquot.release.bundle",
}


def __getattr__(name: str):
    """Load a public name when it is first used, so that ``import aliquot`` stays light."""
    if name == "__version__":
        from importlib.metadata import version

        return version("aliquot")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'aliquot' has no attribute {name!r}")
