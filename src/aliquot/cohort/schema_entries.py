"""The entries of a schema file, read from TOML and checked key by key before they become columns."""

import math
import re
import tomllib
from pathlib import Path
from typing import Any

from aliquot.cohort.kinds import KINDS
from aliquot.errors import FileError, SchemaError, known_names

_TYPES = {"kind": str, "unit": str, "log": bool, "low": (int, float), "high": (int, float)}


def read_entries(path: Path) -> dict[str, dict[str, Any]]:
    """The tables ``[columns.NAME]`` of a schema file, by column name; all mistakes are reported together."""
    entries = _read_toml(path)
    problems = [problem for name, entry in entries.items() for problem in _problems(name, entry)]
    if problems:
        raise SchemaError(f"cannot use the schema file: {'; '.join(problems)}; correct these entries")
    return entries


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise FileError(f"the schema file {str(path)!r} cannot be read; check its name and permissions") from None
    except ValueError as error:
        where = re.search(r"line \d+", str(error))
        place = f" (see {where.group()})" if where else ""
        raise FileError(f"the schema file {str(path)!r} is not valid TOML{place}; correct it there") from None
    entries = document.get("columns", {})
    if set(document) - {"columns"} or not isinstance(entries, dict):
        raise SchemaError(
            f"the schema file {str(path)!r} has entries outside of [columns.NAME] tables; move them into one"
        )
    return entries


def _problems(name: str, entry: object) -> list[str]:
    if not isinstance(entry, dict):
        return [f"{name!r} is not a table [columns.NAME]"]
    problems = [
        f"unknown key {key!r} for column {name!r} ({known_names(key, _TYPES)})" for key in entry if key not in _TYPES
    ]
    problems += [
        f"{key} of column {name!r} has the wrong type"
        for key in _TYPES
        if key in entry and not _has_type(entry[key], _TYPES[key])
    ]
    if "kind" not in entry:
        problems.append(f"column {name!r} has no kind (known: {', '.join(KINDS)})")
    return problems


def _has_type(value: object, kind: type | tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, kind) and not (isinstance(value, float) and not math.isfinite(value))
