"""Groups of options: a parameter of a command whose type is a dataclass stands for one option per field."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter
from typing import Any


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer takes it: groups become their options, in order; groups may hold groups."""
    asked = inspect.signature(command).parameters
    options = [option for one in asked.values() for option in _options(one.name, one.annotation, one.default)]

    @wraps(command)
    def run(**given: Any) -> None:
        command(**{one.name: _value(one.name, one.annotation, given) for one in asked.values()})

    run.__signature__ = inspect.Signature(options)  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _options(name: str, annotation: Any, default: Any) -> Iterator[Parameter]:
    if is_dataclass(annotation):
        for field in fields(annotation):
            yield from _options(field.name, field.type, field.default)
    else:
        default = Parameter.empty if default is MISSING else default
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _value(name: str, annotation: Any, given: Mapping[str, Any]) -> Any:
    if isinstance(annotation, type) and is_dataclass(annotation):
        return annotation(**{field.name: _value(field.name, field.type, given) for field in fields(annotation)})
    return given[name]
