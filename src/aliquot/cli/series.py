"""Options of series over time, which several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

PANEL = "Series over time"

Time = Annotated[
    str | None,
    typer.Option(
        help="For measurements over time: column with hours since the beginning, or with timestamps.",
        metavar="COLUMN",
        rich_help_panel=PANEL,
    ),
]
StayId = Annotated[
    str | None,
    typer.Option(
        help="Column that names the stay; by default that of --patient-id.", metavar="COLUMN", rich_help_panel=PANEL
    ),
]
Variable = Annotated[
    str | None,
    typer.Option(
        help="Where every line is one measurement: column that names what was measured.",
        metavar="COLUMN",
        rich_help_panel=PANEL,
    ),
]
Value = Annotated[
    str | None, typer.Option(help="… and column with its value.", metavar="COLUMN", rich_help_panel=PANEL)
]
Hours = Annotated[
    float | None,
    typer.Option(
        help="How much of each stay to take, from its beginning; by default all.", metavar="N", rich_help_panel=PANEL
    ),
]
StepHours = Annotated[
    float | None, typer.Option(help="Length of a step; by default an hour.", metavar="N", rich_help_panel=PANEL)
]
Outcomes = Annotated[
    Path | None,
    typer.Option(
        help="Table with one row per stay: the stay, the outcome and what does not change. By default these are "
        "columns of the table of measurements.",
        metavar="FILE",
        rich_help_panel=PANEL,
    ),
]


def series_options(
    time: str | None,
    stay_id: str | None,
    variable: str | None,
    value: str | None,
    hours: float | None,
    step_hours: float | None,
    outcomes: Path | None,
) -> dict[str, Any]:
    """What a source must know to read series."""
    return {
        "time": time,
        "stay_id": stay_id,
        "variable": variable,
        "value": value,
        "hours": hours,
        "step_hours": step_hours,
        "outcomes": None if outcomes is None else str(outcomes.resolve()),
    }
