"""Methods, networks and readers by name: Aliquot's own, and those that installed packages add.

An entry says where a value is; it is imported when it is asked for, so that the command line can list all names
without loading JAX. Another package adds its own through an entry point of the same group:

    [project.entry-points."aliquot.methods"]
    mine = "my_package:MINE"
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from aliquot.errors import SettingsError, known_names


class Registry(Mapping[str, Any]):
    """Values of one kind by name; ``own`` maps a name to ``module:attribute``."""

    def __init__(self, group: str, what: str, own: Mapping[str, str]):
        self.group, self.what, self.own = group, what, dict(own)

    @property
    def names(self) -> tuple[str, ...]:
        """All names: Aliquot's own in the order of the registry, then those of other packages."""
        return tuple(dict.fromkeys([*self.own, *_added(self.group)]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return sum(1 for _ in self)  # not of names: a tuple asks for the length first

    def __getitem__(self, name: str) -> Any:
        if name in self.own:
            module, _, attribute = self.own[name].partition(":")
            return getattr(import_module(module), attribute)
        added = _added(self.group)
        if name not in added:
            raise SettingsError(f"asked for {self.what} {name!r}; {known_names(name, self)}")
        try:
            return added[name].load()
        except (ImportError, AttributeError) as error:
            raise SettingsError(
                f"asked for {self.what} {name!r}, which an installed package adds as {added[name].value!r}, but it "
                f"cannot be imported ({type(error).__name__}); reinstall that package"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __repr__(self) -> str:
        return f"Registry({self.group!r}: {', '.join(self)})"


@cache
def _added(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=group)}


STARTS = ("gaussian", "kmeans", "spread", "real", "noise", "recognised")  # where rows may start: methods/start.py

METHODS = Registry(
    "aliquot.methods",
    "method",
    {
        "bfm": "aliquot.methods.bfm:BFM",
        "btm": "aliquot.methods.btm:BTM",
        "mtt": "aliquot.methods.mtt:MTT",
        "tesla": "aliquot.methods.tesla:TESLA",
        "ftd": "aliquot.methods.ftd:FTD",
        "datm": "aliquot.methods.datm:DATM",
        "m3d": "aliquot.methods.m3d:M3D",
        "dm": "aliquot.methods.dm:DM",
        "dc": "aliquot.methods.dc:DC",
        "kmeans": "aliquot.methods.kmeans:KMEANS",
        "herding": "aliquot.methods.herding:HERDING",
        "kcentre": "aliquot.methods.kcentre:KCENTRE",
        "soft-random": "aliquot.methods.soft_random:SOFT_RANDOM",
        "random": "aliquot.methods.random:RANDOM",
    },
)

NETWORKS = Registry(
    "aliquot.networks",
    "the network",
    {
        "mlp": "aliquot.networks.mlp:MLP_NETWORK",
        "mlp-1": "aliquot.networks.mlp:TWICE",
        "mlp-2": "aliquot.networks.mlp:FOUR_TIMES",
        "mlp-3": "aliquot.networks.mlp:TWO_LAYERS",
        "mlp-4": "aliquot.networks.mlp:THREE_LAYERS",
        "tcn": "aliquot.networks.tcn:TCN_NETWORK",
        "tcn-1": "aliquot.networks.tcn:ONE_KERNEL",
        "tcn-2": "aliquot.networks.tcn:WIDE",
        "lstm-1": "aliquot.networks.lstm:UNITS_128",
        "lstm-2": "aliquot.networks.lstm:UNITS_256",
    },
)

READERS = Registry(
    "aliquot.readers",
    "the cohort",
    {
        "physionet2012": "aliquot.cohort.readers.physionet2012:SERIES",
        "physionet2012-table": "aliquot.cohort.readers.physionet2012:TABLE",
        "mimic3": "aliquot.cohort.readers.mimic3:MIMIC3",
        "fiddle": "aliquot.cohort.readers.fiddle:FIDDLE",
        "eicu": "aliquot.cohort.readers.fiddle:EICU",
        "curial": "aliquot.cohort.readers.curial:CURIAL",
        "yaib": "aliquot.cohort.readers.yaib:YAIB",
        "meds": "aliquot.cohort.readers.meds:MEDS",
        "simulated:ouh": "aliquot.cohort.simulate:SIMULATED_OUH",
        "simulated:puh": "aliquot.cohort.simulate:SIMULATED_PUH",
        "simulated:uhb": "aliquot.cohort.simulate:SIMULATED_UHB",
        "simulated:eicu": "aliquot.cohort.simulate:SIMULATED_EICU",
        "simulated:mimic3": "aliquot.cohort.simulate:SIMULATED_MIMIC3",
    },
)
