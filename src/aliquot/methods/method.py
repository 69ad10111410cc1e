"""A method is a value that declares itself: what it is called, what it reads, what it needs and what that costs.

Everything around the methods – settings, command line, forecasts, the grid, the report – asks this value. One's own
method is passed as such a value, or registered by name through the entry-point group ``aliquot.methods``.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax

from aliquot.errors import SettingsError
from aliquot.identity import checksum_text
from aliquot.matching import Condensed
from aliquot.methods.cost import Cost, Sizes
from aliquot.methods.settings import MethodSettings
from aliquot.registry import METHODS

NEEDS = frozenset({"experts", "curves", "paths"})


class MethodKeys(NamedTuple):
    """The keys of a trajectory method, by what they decide."""

    expert: jax.Array
    curve: jax.Array
    start: jax.Array
    match: jax.Array

    @classmethod
    def of(cls, key: jax.Array) -> "MethodKeys":
        """The keys that follow from a method's key."""
        return cls(*jax.random.split(key, 4))


def _one_candidate(settings: MethodSettings) -> int:
    return 1


@dataclass(frozen=True)
class Method:
    """A method of condensation.

    ``condense(task, settings, *, key)`` returns the rows. ``sections`` name the parts of the settings that it reads:
    only those decide its result. ``needs`` name what it shares with other methods on the same patients: ``experts``,
    their ``curves``, their whole ``paths``.

    >>> from aliquot.methods.random import random_rows
    >>> Method("mine", "rows of my own", random_rows, selects_rows=True).uses_start
    False
    """

    name: str
    title: str
    condense: Callable[..., Condensed]
    sections: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset()
    changes: Mapping[str, Any] = field(default_factory=dict, hash=False)  # settings that make it this method
    selects_rows: bool = False  # it returns real patients
    origin: str = ""  # of rows that neither are patients nor were learned from a start: a sentence for the card
    deterministic: bool = False  # the same rows whatever the seed
    redrawn: bool = False  # a baseline of chance: scored over fresh draws, one for each evaluation network
    candidates: Callable[[MethodSettings], int] = _one_candidate  # that it shows the judge at each evaluation
    cost: Callable[[MethodSettings, Sizes], dict[str, Cost]] | None = None  # of its stages; None: not known
    on_path: Callable[[str], "Method"] | None = None  # the same on another path, where it follows one

    def __post_init__(self) -> None:
        unknown = [*({*self.needs} - NEEDS), *({*self.sections} - {*MethodSettings.__dataclass_fields__})]
        if unknown:
            raise SettingsError(
                f"the method {self.name!r} declares {unknown[0]!r}, which is neither a section of the settings "
                f"({', '.join(MethodSettings.__dataclass_fields__)}) nor one of its needs ({', '.join(sorted(NEEDS))})"
            )

    @property
    def uses_start(self) -> bool:
        """Whether rows are learned from ``settings.start``."""
        return "start" in self.sections

    @property
    def family(self) -> str:
        """The name without the path that it was put on: that of its section in presets."""
        return self.name.partition("+")[0]

    def decisive(self, settings: MethodSettings) -> dict[str, Any]:
        """All of the settings that decides this method's result, and its code where that is not Aliquot's."""
        read = {name: getattr(settings, name) for name in self.sections}
        return {"method": self.name, **read, **self._foreign_code()}

    def _foreign_code(self) -> dict[str, str]:
        function = inspect.unwrap(getattr(self.condense, "func", self.condense))
        if str(getattr(function, "__module__", "")).startswith("aliquot."):
            return {}
        given = {name: getattr(self.condense, name, None) for name in ("args", "keywords")}
        try:
            code = inspect.getsource(function)
        except (OSError, TypeError):
            code = getattr(function, "__code__", type(function)).__repr__()
        return {"code": checksum_text(f"{code}{given}")}


def get_method(method: "str | Method") -> Method:
    """The method of a name, or a method as it is; a trajectory method may be put on a path, as in ``mtt+bezier``.

    >>> get_method("datm+bezier").changes["slots"]["path"]
    'bezier'
    """
    if isinstance(method, Method):
        return method
    base, plus, path = method.partition("+")
    found = METHODS[base]
    if not isinstance(found, Method):
        raise SettingsError(
            f"asked for method {base!r}, but what is registered under that name is no aliquot.methods.Method; fix the "
            "entry point of the package that adds it"
        )
    if not plus:
        return found
    if found.on_path is None:
        followers = ", ".join(name for name in METHODS if METHODS[name].on_path is not None)
        raise SettingsError(f"asked for method {method!r}; only these can be put on a path: {followers}")
    return found.on_path(path)
