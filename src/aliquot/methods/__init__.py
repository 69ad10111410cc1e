"""The methods by name. One file each; a method takes a task, settings and a key, and returns condensed rows."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_args, get_type_hints

from aliquot.errors import SettingsError, known_names
from aliquot.matching import Condensed, Slots
from aliquot.methods import dm
from aliquot.methods.btm import BTM
from aliquot.methods.datm import DATM
from aliquot.methods.dc import gradient_matching
from aliquot.methods.dm import mean_matching
from aliquot.methods.ftd import FTD
from aliquot.methods.geometry import curve_geometry
from aliquot.methods.herding import herded_rows
from aliquot.methods.kcentre import centre_rows
from aliquot.methods.kmeans import cluster_means
from aliquot.methods.m3d import moment_matching
from aliquot.methods.mtt import MTT
from aliquot.methods.random import random_rows
from aliquot.methods.settings import MethodSettings
from aliquot.methods.soft_random import soft_random_rows
from aliquot.methods.start import REAL_STARTS, STARTS, starting_rows
from aliquot.methods.task import Task
from aliquot.methods.tesla import TESLA
from aliquot.methods.trajectory import DENSE, trajectory_matching

PATHS = get_args(get_type_hints(Slots)["path"])


@dataclass(frozen=True)
class Method:
    """A method of condensation."""

    title: str
    condense: Callable[..., Condensed]
    changes: Mapping[str, Any] = field(default_factory=dict)  # settings that make it this method
    selects_rows: bool = False  # it returns real patients
    uses_start: bool = True  # rows are learned from `start`
    deterministic: bool = False  # the same rows whatever the seed


def _follows(title: str, slots: Slots) -> Method:
    return Method(title, trajectory_matching, changes={"slots": asdict(slots)})


def _picks(title: str, condense: Callable[..., Condensed], *, deterministic: bool = False) -> Method:
    return Method(title, condense, selects_rows=True, uses_start=False, deterministic=deterministic)


METHODS = {
    "btm": _follows("Bézier Trajectory Matching (BTM)", BTM),
    "mtt": _follows("Matching Training Trajectories (MTT)", MTT),
    "tesla": _follows("trajectory matching with constant memory (TESLA)", TESLA),
    "ftd": _follows("Flat Trajectory Distillation (FTD)", FTD),
    "datm": _follows("Difficulty-Aligned Trajectory Matching (DATM)", DATM),
    "m3d": Method("Maximum Mean Discrepancy Minimisation (M3D)", moment_matching),
    "dm": Method("Distribution Matching (DM)", mean_matching, changes={"distribution": dm.PRESET}),
    "dc": Method("Gradient Matching (DC)", gradient_matching),
    "kmeans": Method("k-means centroids of each class", cluster_means, uses_start=False),
    "herding": _picks("herding: patients whose mean follows their class's", herded_rows, deterministic=True),
    "kcentre": _picks("k-centre: patients that cover their class", centre_rows),
    "soft-random": _picks("random patients with soft labels of experts", soft_random_rows),
    "random": _picks("random selection of patients", random_rows),
}


def method_named(name: str) -> Method:
    """The method of that name; a trajectory method may be put on another path, as in ``mtt+bezier``.

    >>> method_named("datm+bezier").changes["slots"]["path"]
    'bezier'
    """
    base, plus, path = name.partition("+")
    method = METHODS.get(base)
    if method is None:
        raise SettingsError(f"asked for method {name!r}; {known_names(base, METHODS)}")
    if not plus:
        return method
    if path not in PATHS or "slots" not in method.changes:
        followers = ", ".join(known for known, method in METHODS.items() if "slots" in method.changes)
        raise SettingsError(f"asked for method {name!r}; {followers} can be put on a path: {', '.join(PATHS)}")
    slots = {**method.changes["slots"], "path": path}
    return replace(method, title=f"{method.title}, following {path} paths", changes={"slots": slots})


__all__ = [
    "DENSE",
    "METHODS",
    "REAL_STARTS",
    "STARTS",
    "Method",
    "MethodSettings",
    "Task",
    "curve_geometry",
    "method_named",
    "starting_rows",
]
