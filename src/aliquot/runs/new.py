"""New patients for a release: read as they are, brought to its steps and channels."""

import math
from dataclasses import replace
from pathlib import Path

from aliquot.cohort import Encoder, Layout, SeriesEncoder, Stays, on_grid, read_patients
from aliquot.cohort.known import read_known
from aliquot.cohort.series import Series
from aliquot.errors import SchemaError, SettingsError
from aliquot.runs.source import Source


def read_new(source: Source, encoder: Encoder | SeriesEncoder, *, target: str | None = None) -> Stays:
    """The patients of a source as an encoder takes them, in the order of the source; nothing is left out.

    Series take the steps and channels of the encoder. ``target`` names the outcome where it is needed.
    """
    layout = source.layout()
    if source.cohort is not None:
        return _known(source)
    if isinstance(encoder, Encoder):
        if layout is not None:
            raise SettingsError("asked for series by --time, but this release holds a table; leave out --time")
        return read_patients(Path(source.file))
    if layout is not None:
        return _events(source, layout, encoder, target)
    patients = read_patients(Path(source.file))
    if patients.series is None:
        raise SchemaError(
            "asked to read a table, but this release holds series; add --stay-id and --time COLUMN, and --variable and "
            "--value COLUMN where every line is one measurement"
        )
    return patients


def _known(source: Source) -> Stays:
    records = read_known(str(source.cohort), Path(source.file), dict(source.read_options))
    series = None if records.series is None else Series(records.series, records.channels, records.step_hours)
    return Stays(records.frame.assign(**{records.target: records.labels}), series, notes=records.notes)


def _events(source: Source, layout: Layout, encoder: SeriesEncoder, target: str | None) -> Stays:
    hours = encoder.steps * encoder.step_hours
    asked = (("--hours", source.hours, hours), ("--step-hours", source.step_hours, encoder.step_hours))
    for option, here, there in asked:
        if here is not None and not math.isclose(here, there):
            raise SettingsError(f"asked for {option} {here:g}, but the release has {there:g}; leave out {option}")
    layout = replace(layout, hours=hours, step_hours=encoder.step_hours)
    frame, outcomes = source.tables()
    constant = [code.name for code in encoder.static.columns] + ([] if target is None else [target])
    return on_grid(frame, layout, outcomes, constant=constant, channels=encoder.channel_names)
