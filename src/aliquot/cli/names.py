"""Names that options take: the shell completes them, and a typing mistake is met with the nearest one.

The names are those of ``aliquot.registry`` and ``aliquot.presets``, which import no JAX: a shell asks for them at every
press of the tabulator key.
"""

from collections.abc import Callable, Collection

import typer

from aliquot.errors import SettingsError, known_names


def completing(names: Collection[str]) -> Callable[[str], list[str]]:
    """What the shell may put in the place of what was typed; after a comma, the next name of a list.

    >>> completing(("tcn-1", "lstm-1"))("tcn-1,l")
    ['tcn-1,lstm-1']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + name for name in names if name.startswith(last)]

    return complete


def one_of(what: str, names: Collection[str]) -> Callable[[typer.Context, str | None], str | None]:
    """Checks that an option has one of its names; anything else is an error that suggests the nearest."""

    def check(context: typer.Context, value: str | None) -> str | None:
        if value is None or value in names or context.resilient_parsing:  # the last: the shell asks, nothing runs
            return value
        raise SettingsError(f"asked for {what} {value!r}; {known_names(value, names)}")

    return check
