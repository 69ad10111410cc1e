"""Where the patients are, as the options of a command say."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aliquot.runs.source import Source


def column_options(
    target: str | None,
    patient_id: str | None,
    split: str | None,
    positive: str | None,
    schema: Path | None,
    drop: list[str] | None,
) -> dict[str, Any]:
    """What a source must know of its columns."""
    return {
        "target": target,
        "patient_id": patient_id,
        "split": split,
        "positive": positive,
        "schema": None if schema is None else str(schema.resolve()),
        "drop": tuple(drop or ()),
    }


def chosen_source(
    file: Path | None,
    cohort: str | None,
    path: Path | None,
    read: list[str] | None,
    columns: dict[str, Any],
    layout: dict[str, Any],
    *,
    otherwise: str | None = None,
) -> "Source":
    """A table, or the known dataset ``cohort``; where neither is named, the embedded one of ``otherwise``."""
    from aliquot.errors import SettingsError

    if cohort is not None:
        if file is not None:
            raise SettingsError(f"asked for both a FILE and the cohort {cohort!r}; leave out one of them")
        return known_source(cohort, path, read, columns, layout)
    if path is not None or read:
        raise SettingsError("asked for --path or --read without --cohort; add --cohort NAME, or leave that out")
    if file is None and otherwise is not None:
        return _checked(file=otherwise, **_dropped(columns), **layout)
    return table_source(file, columns, layout)


def known_source(
    cohort: str,
    path: Path | None,
    read: list[str] | None,
    columns: dict[str, Any] | None = None,
    layout: dict[str, Any] | None = None,
) -> "Source":
    """A known dataset in a folder; it knows its columns and layout, so that only columns to drop may be given."""
    from aliquot.cohort.known import SIMULATED
    from aliquot.cohort.options import absolute
    from aliquot.errors import SettingsError

    if path is None and not cohort.startswith(SIMULATED):
        raise SettingsError(f"asked for the cohort {cohort!r}, but not told where it is; add --path DIR")
    pairs = [option.partition("=") for option in read or ()]
    if not all(name and equals for name, equals, _ in pairs):
        raise SettingsError("options of a reader are written --read NAME=VALUE")
    options = [(name.strip(), value.strip()) for name, _, value in pairs]
    return _checked(
        file=cohort if path is None else str(path.resolve()),
        cohort=cohort,
        read_options=tuple((name, absolute(name, value)) for name, value in options),
        **_dropped(columns or {}),
        **(layout or {}),
    )


def table_source(file: Path | None, columns: dict[str, Any], layout: dict[str, Any]) -> "Source":
    """A table of patients or of measurements, whose outcome must be named."""
    from aliquot.errors import SettingsError

    if file is None:
        raise SettingsError("asked for no table; name a FILE, or a known dataset with --cohort NAME --path DIR")
    if columns["target"] is None:
        raise SettingsError("asked to read a table, but not told its outcome; add --target COLUMN")
    return _checked(file=str(file.resolve()), **columns, **layout)


def _checked(**fields: Any) -> "Source":
    from aliquot.runs.source import Source

    source = Source(**fields)
    source.layout()  # half a layout is an error, before anything is read
    return source


def _dropped(columns: dict[str, Any]) -> dict[str, Any]:
    """Of what is said about columns, what to drop; the rest is an error, as a known dataset brings its own."""
    from aliquot.cohort.wording import listed
    from aliquot.errors import SettingsError

    given = [f"--{name.replace('_', '-')}" for name, value in columns.items() if value is not None and name != "drop"]
    if given:
        raise SettingsError(f"asked for {listed(given)} with a known dataset, which brings its own; leave that out")
    return {"drop": columns.get("drop", ())}
