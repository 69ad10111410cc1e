"""Networks by name. A name stands for a network of one kind for rows of any shape; the registry lists the names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aliquot.errors import SettingsError, known_names
from aliquot.networks.network import Network
from aliquot.networks.own import own_network
from aliquot.registry import NETWORKS

RowShape = tuple[int, ...]  # of one row: (features,) of a table, (steps, channels) of series


@dataclass(frozen=True)
class Architecture:
    """A network that has a name.

    ``build(inputs, n_classes, hidden, dropout)`` makes it; ``hidden`` and ``dropout`` are the settings of the base MLP,
    which other networks may pass over. ``small`` makes a narrow one for experts and students, where there is one.
    """

    name: str
    series: bool  # takes series (steps, channels); otherwise tables
    build: Callable[[int, int, tuple[int, ...], float], Network]
    small: Callable[[int, int], Network] | None = None
    base: bool = False  # the one to condense with: "auto" for its kind of rows


def get_architecture(name: str, shape: RowShape) -> Any:
    """What is registered under a name, if it takes rows of that shape; ``auto`` is the base network of its kind.

    >>> get_architecture("auto", (27,)).name, get_architecture("auto", (48, 60)).name
    ('mlp', 'tcn')
    """
    series = len(shape) == 2
    if name == "auto":
        return next(one for one in _shipped() if one.base and one.series == series)
    if name == "own":
        raise SettingsError("asked for a network that was somebody's own; build it in Python and train it on the rows")
    if name not in NETWORKS:
        raise SettingsError(f"asked for the network {name!r}; {known_names(name, ('auto', *NETWORKS))}")
    found = NETWORKS[name]
    if isinstance(found, Architecture) and found.series != series:
        kind, others = ("series", "tcn or lstm") if series else ("a table", "mlp")
        raise SettingsError(f"asked for the network {name!r} on {kind}; set network.kind to auto or one of {others}")
    return found


def get_network(
    name: str, shape: RowShape, n_classes: int, hidden: tuple[int, ...] = (64,), dropout: float = 0.25
) -> Network:
    """The network of that name for rows of a shape; ``hidden`` and ``dropout`` are those of the base MLP.

    A package may register an :class:`Architecture` or, as a user may pass one, a function that builds a module.

    >>> get_network("mlp-1", (27,), 2).n_parameters == 27 * 128 + 128 + 129
    True
    """
    found = get_architecture(name, shape)
    if not isinstance(found, Architecture):
        return own_network(found, shape, n_classes)
    return found.build(shape[-1], n_classes, hidden, dropout)


def small_network(name: str, shape: RowShape, n_classes: int) -> Network | None:
    """The narrow network for experts and students in the place of a named one; None where there is none."""
    small = getattr(get_architecture(name, shape), "small", None)
    return None if small is None else small(shape[-1], n_classes)


def other_networks(shape: RowShape) -> tuple[str, ...]:
    """Names of Aliquot's networks for rows of a shape, apart from the one to condense with.

    >>> other_networks((27,)), other_networks((48, 60))
    (('mlp-1', 'mlp-2', 'mlp-3', 'mlp-4'), ('tcn-1', 'tcn-2', 'lstm-1', 'lstm-2'))
    """
    return tuple(one.name for one in _shipped() if one.series == (len(shape) == 2) and not one.base)


def _shipped() -> list[Architecture]:
    return [found for name in NETWORKS.own if isinstance(found := NETWORKS[name], Architecture)]
