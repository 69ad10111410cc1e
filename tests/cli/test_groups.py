"""Groups of options: a command takes values, the shell sees one option per field."""

import inspect
from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer

from aliquot import cli
from aliquot.cli.groups import with_options

Name = Annotated[str | None, typer.Option(help="A name.")]


@dataclass(frozen=True, kw_only=True)
class Inner:
    name: Name = None


@dataclass(frozen=True, kw_only=True)
class Outer:
    size: int = 3
    inner: Inner = field(default_factory=Inner)


def test_options_stand_in_the_order_of_fields_and_come_back_as_values():
    told = []

    def command(first: int, group: Outer, last: bool = False) -> None:
        """What it does."""
        told.append((first, group, last))

    asked = with_options(command)
    options = inspect.signature(asked).parameters
    assert list(options) == ["first", "size", "name", "last"]
    assert options["name"].annotation is Name
    assert [one.default for one in options.values()] == [inspect.Parameter.empty, 3, None, False]
    assert asked.__doc__ == "What it does."
    asked(first=1, size=2, name="x", last=True)
    assert told == [(1, Outer(size=2, inner=Inner(name="x")), True)]


def test_two_options_of_one_name_are_a_mistake():
    def command(size: int, group: Outer) -> None:
        """Takes a size twice."""

    with pytest.raises(ValueError, match="duplicate parameter"):
        with_options(command)


@pytest.mark.parametrize("command", cli.app.registered_commands, ids=lambda one: one.callback.__name__)
def test_no_command_has_a_train_of_parameters(command):
    assert len(inspect.signature(inspect.unwrap(command.callback), follow_wrapped=False).parameters) <= 7
