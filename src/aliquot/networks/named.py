"""Networks by name: the paper's base networks for tables and series, and those to which it transfers."""

from typing import Literal, get_args

from aliquot.errors import SettingsError, known_names
from aliquot.networks.lstm import lstm
from aliquot.networks.mlp import mlp, mlp_variants
from aliquot.networks.network import Network
from aliquot.networks.tcn import tcn

NetworkName = Literal["auto", "mlp", "mlp-1", "mlp-2", "mlp-3", "mlp-4", "tcn", "tcn-1", "tcn-2", "lstm-1", "lstm-2"]
SERIES = {
    "tcn": lambda channels, classes: tcn(channels, classes),
    "tcn-1": lambda channels, classes: tcn(channels, classes, kernels=(9,), dropout=0.75),
    "tcn-2": lambda channels, classes: tcn(channels, classes, channels=256, kernels=(3, 5), blocks=2),
    "lstm-1": lambda channels, classes: lstm(channels, classes, units=128),
    "lstm-2": lambda channels, classes: lstm(channels, classes, units=256),
}

# Narrow networks for experts and students: a fifth of the work, as good on 12,000 stays as the wide one (decision 8).
SMALL = {"tcn": lambda channels, classes: tcn(channels, classes, channels=16, dropout=0.2)}


def resolved(name: str, shape: tuple[int, ...]) -> str:
    """The name of a network for rows of a shape: ``auto`` is ``mlp`` for tables and ``tcn`` for series.

    >>> resolved("auto", (27,)), resolved("auto", (48, 60))
    ('mlp', 'tcn')
    """
    if name == "auto":
        return "mlp" if len(shape) == 1 else "tcn"
    if name not in (*get_args(NetworkName), "own"):
        raise SettingsError(f"asked for the network {name!r}; {known_names(name, get_args(NetworkName))}")
    if name == "own":
        raise SettingsError("asked for a network that was somebody's own; build it in Python and train it on the rows")
    if (name in SERIES) != (len(shape) == 2):
        kind, other = ("a table", "mlp") if len(shape) == 1 else ("series", "tcn or lstm")
        raise SettingsError(f"asked for the network {name!r} on {kind}; set network.kind to auto or one of {other}")
    return name


def named_network(
    name: str, shape: tuple[int, ...], n_classes: int, hidden: tuple[int, ...] = (64,), dropout: float = 0.25
) -> Network:
    """The network of that name for rows of a shape; ``hidden`` and ``dropout`` are those of the base MLP.

    >>> named_network("mlp-1", (27,), 2).n_parameters == 27 * 128 + 128 + 129
    True
    """
    name = resolved(name, shape)
    if name in SERIES:
        return SERIES[name](shape[-1], n_classes)
    widths = hidden if name == "mlp" else mlp_variants(hidden[0])[name]
    return mlp(shape[0], n_classes, widths, dropout)
