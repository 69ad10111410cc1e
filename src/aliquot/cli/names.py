"""Names that options take: the shell completes them, and a typing mistake is met with the nearest one.

They are spelt out here, and compared with the library's own in the tests, because a shell asks for them at every press
of the tabulator key and cannot wait for JAX.
"""

from collections.abc import Callable

import typer

from aliquot.errors import SettingsError, known_names

METHODS = (
    *("btm", "mtt", "tesla", "ftd", "datm", "m3d", "dm", "dc"),
    *("kmeans", "herding", "kcentre", "soft-random", "random"),
)
PRESETS = (
    *(
        "default",
        "default-ouh",
        "default-puh",
        "default-uhb",
        "default-eicu",
        "default-mimic3",
        "default-physionet2012",
    ),
    *("paper", "paper-ouh", "paper-puh", "paper-uhb", "paper-eicu", "paper-mimic3", "official"),
)
BUDGETS = ("smoke", "cpu", "paper")
STARTS = ("gaussian", "kmeans", "spread", "real", "noise", "recognised")
NETWORKS = ("auto", "mlp", "mlp-1", "mlp-2", "mlp-3", "mlp-4", "tcn", "tcn-1", "tcn-2", "lstm-1", "lstm-2")
COHORTS = (
    *("physionet2012", "physionet2012-table", "mimic3", "fiddle", "eicu", "curial", "yaib", "meds"),
    *("simulated:ouh", "simulated:puh", "simulated:uhb", "simulated:eicu", "simulated:mimic3"),
)


def completing(names: tuple[str, ...]) -> Callable[[str], list[str]]:
    """What the shell may put in the place of what was typed; after a comma, the next name of a list.

    >>> completing(("tcn-1", "lstm-1"))("tcn-1,l")
    ['tcn-1,lstm-1']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + name for name in names if name.startswith(last)]

    return complete


def one_of(what: str, names: tuple[str, ...]) -> Callable[[typer.Context, str | None], str | None]:
    """Checks that an option has one of its names; anything else is an error that suggests the nearest."""

    def check(context: typer.Context, value: str | None) -> str | None:
        if value is None or value in names or context.resilient_parsing:  # the last: the shell asks, nothing runs
            return value
        raise SettingsError(f"asked for {what} {value!r}; {known_names(value, names)}")

    return check
