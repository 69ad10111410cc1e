"""Frozen dataclasses that become JSON and come back as they were."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from aliquot.loading import NotAsWrittenError, require, typed


@dataclass(frozen=True)
class Record:
    """A part of a JSON document, by attributes.

    ==============================================  ===========================================================
    field                                           in JSON
    ==============================================  ===========================================================
    without a default                               always there; an empty one as ``null``, ``[]`` or ``{}``
    with a default                                  absent where it has that value
    ``tuple[X, ...]``, ``Mapping[str, X]``          an array, an object
    a union                                         whichever of its types the value has; one record at most
    ==============================================  ===========================================================

    Keys that no field has, for example of a newer version, are in ``further`` and are written back unchanged. What is
    absent reads as None or empty where the type allows it.

    >>> @dataclass(frozen=True)
    ... class Ward(Record):
    ...     beds: tuple[int, ...]
    ...     name: str | None = None
    >>> Ward((1, 2)).to_json(), Ward.from_json({"beds": [1], "floor": 3})
    ({'beds': [1, 2]}, Ward(beds=(1,), name=None))
    """

    further: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The document as dictionaries, lists and plain values; a new one each time."""
        named = {one.name: (getattr(self, one.name), one.default) for one in fields(self) if one.name != "further"}
        kept = {name: value for name, (value, default) in named.items() if default is MISSING or value != default}
        return _plain({**kept, **self.further})

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """The record that a document describes; a NotAsWrittenError where it describes none."""
        named = _fields_of(cls)
        given = {name: _typed(hint, document[name]) for name, (hint, _) in named.items() if name in document}
        absent = {name: _empty(name, hint) for name, (hint, needed) in named.items() if needed and name not in document}
        return cls(**given, **absent, further={name: document[name] for name in document if name not in named})

    def rounded(self, decimals: int) -> Self:
        """The same with all numbers to so many decimals.

        >>> from aliquot.evaluate.results import Summary
        >>> Summary(0.71234, 0.01234, 10).rounded(3)
        Summary(mean=0.712, std=0.012, n=10)
        """
        return type(self).from_json(_rounded(self.to_json(), decimals))


def _rounded(value: Any, decimals: int) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part, decimals) for name, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part, decimals) for part in value]
    return round(value, decimals) if isinstance(value, float) else value


def as_tuple(values: ArrayLike, decimals: int = 4) -> tuple[Any, ...]:
    """The numbers of an array as a record holds them: nested tuples, rounded; what is not finite as 0.

    >>> as_tuple(np.array([[0.123456, 1.0], [np.nan, 2.0]]))
    ((0.1235, 1.0), (0.0, 2.0))
    """

    def nested(part: Any) -> Any:
        return tuple(map(nested, part)) if isinstance(part, list) else part

    finite = np.nan_to_num(np.asarray(values, float), posinf=0.0, neginf=0.0)
    return nested(finite.round(decimals).tolist())


@cache
def _fields_of(record: type[Record]) -> dict[str, tuple[Any, bool]]:
    """The type of each field, and whether it has no default."""
    hints = get_type_hints(record, include_extras=True)
    return {one.name: (hints[one.name], one.default is MISSING) for one in fields(record) if one.name != "further"}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value


def _typed(hint: Any, value: Any) -> Any:
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if _is_record(kind):
        require(isinstance(value, Mapping))
        return kind.from_json(value)
    if not any(map(_holds_record, inner)):
        return typed(value, hint)
    if kind is tuple:
        return tuple(_typed(inner[0], part) for part in typed(value, list))
    if kind is Mapping:
        return {name: _typed(inner[1], part) for name, part in typed(value, dict[str, Any]).items()}
    return None if value is None and type(None) in inner else _typed(next(filter(_holds_record, inner)), value)


def _holds_record(hint: Any) -> bool:
    return _is_record(hint) or any(map(_holds_record, get_args(hint)))


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Record)


def _empty(name: str, hint: Any) -> Any:
    """What stands for an absent value."""
    kind = get_origin(hint) or hint
    if kind is tuple:
        return ()
    if kind is Mapping:
        return {}
    if kind in (Union, types.UnionType) and type(None) in get_args(hint):
        return None
    raise NotAsWrittenError(f"the document lacks {name!r}")
