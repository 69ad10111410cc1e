"""Measurements over time, on a grid of equal steps, and their reversible encoding.

Encoded series have shape (n, T, features): the channels, standardised by what training stays show where they were
measured, gaps filled with the last value before and else with the median; then for each channel with gaps whether it
was measured at that step; then the features that do not change in time, the same at every step.
"""

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from msgspec import Meta

from aliquot.cohort.codes import NumberCode
from aliquot.cohort.encoder import Encoder, checksum_of, code_of, encoder_of, entry_of, tampered
from aliquot.cohort.fitting import EncoderSettings, fit_code
from aliquot.cohort.schema import Column, Schema
from aliquot.cohort.values import LARGEST
from aliquot.cohort.wording import counted, quoted
from aliquot.disclosure import SUPPORT, patients_in
from aliquot.errors import SchemaError
from aliquot.loading import expecting, json_of, require, typed

_FORMAT, _VERSION = "aliquot-series-encoder", 1
MEASURED = "(measured)"
MOST_COLUMNS = 5_000_000  # of rows.parquet, in which steps stand side by side


@dataclass(frozen=True, eq=False)
class Series:
    """Values of n stays at T equal steps in C channels; NaN where nothing was measured."""

    values: np.ndarray  # (n, T, C) float32
    channels: tuple[str, ...]
    step_hours: float = 1.0

    def take(self, rows: np.ndarray) -> "Series":
        """The series of some stays, by position or mask."""
        return Series(self.values[rows], self.channels, self.step_hours)

    def of_channels(self, places: Sequence[int]) -> "Series":
        """The series of some channels, by position."""
        return Series(self.values[:, :, places], tuple(self.channels[place] for place in places), self.step_hours)


@dataclass(frozen=True)
class SeriesEncoder:
    """Turns series, and what does not change in time, into float32 features and back.

    >>> values = np.array([[[80.0], [np.nan]], [[90.0], [100.0]]] * 10, dtype=np.float32)
    >>> encoder = SeriesEncoder.fit(Series(values, ("hr",)), pd.DataFrame(index=range(20)), Schema(()))
    >>> encoder.feature_names, encoder.transform(Series(values, ("hr",)), pd.DataFrame(index=range(20))).shape
    (('hr', 'hr=(measured)'), (20, 2, 2))
    """

    steps: int
    step_hours: float
    channels: tuple[NumberCode, ...]
    gaps: tuple[bool, ...]  # for each channel, whether a feature tells that it was measured
    static: Encoder

    @classmethod
    def fit(
        cls,
        series: Series,
        frame: pd.DataFrame,
        schema: Schema,
        settings: EncoderSettings | None = None,
        patients: np.ndarray | None = None,
    ) -> "SeriesEncoder":
        """Encoder learned from training stays only.

        ``patients`` has a code for the patient of each stay; None: every stay is a patient.
        """
        settings = settings or EncoderSettings()
        stays = np.arange(len(series.values)) if patients is None else patients
        whose = np.broadcast_to(stays[:, None], series.values.shape[:2])
        codes, gaps = [], []
        for place, name in enumerate(series.channels):
            column = series.values[:, :, place]
            seen = np.isfinite(column)
            if not seen.any():
                raise SchemaError(f"the channel {name!r} was never measured in the training part; leave it out")
            cells = pd.Series(column[seen], name=name)
            code = fit_code(Column(name=name, kind="numeric"), cells, settings, whose[seen])
            flag = bool(np.isin(column[seen], (0, 1)).all())  # levels and masks of a reader stay 0 and 1
            codes.append(replace(code, centre=0.0, scale=1.0, log=False) if flag else code)
            gaps.append(patients_in((~seen).any(axis=1), patients) >= settings.rare_below)
        static = Encoder.fit(frame, schema, settings, patients)
        return cls(series.values.shape[1], series.step_hours, tuple(codes), tuple(gaps), static)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features of one step, in order."""
        measured = [f"{code.name}={MEASURED}" for code, gap in zip(self.channels, self.gaps, strict=True) if gap]
        return (*(code.name for code in self.channels), *measured, *self.static.feature_names)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names of all features of a stay when its steps stand side by side: ``feature@step``."""
        return tuple(f"{name}@{step}" for step in range(self.steps) for name in self.feature_names)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of one encoded stay: steps, features."""
        return self.steps, len(self.feature_names)

    @cached_property
    def channel_names(self) -> tuple[str, ...]:
        """Names of the channels, in order."""
        return tuple(code.name for code in self.channels)

    def transform(self, series: Series, frame: pd.DataFrame) -> np.ndarray:
        """Encoded stays, float32 (n, T, features); the order of channels and columns does not matter."""
        return self.transform_counted(series, frame)[0]

    def transform_counted(self, series: Series, frame: pd.DataFrame) -> tuple[np.ndarray, dict[str, int]]:
        """Encoded stays, and per column with any, how many cells held a level not seen in training."""
        values = self._in_order(series)
        n, steps, _ = values.shape
        encoded = np.empty((n, *self.shape), dtype=np.float32)
        filled = carried_forward(values)
        block = np.empty((n * steps, 1), dtype=np.float32)
        for place, code in enumerate(self.channels):
            code.encode(pd.Series(filled[:, :, place].ravel(), name=code.name), block)
            encoded[:, :, place] = block.reshape(n, steps)
        masked = np.flatnonzero(self.gaps)
        start = len(self.channels)
        encoded[:, :, start : start + len(masked)] = np.isfinite(values[:, :, masked])
        static, unseen = self.static.transform_counted(frame)
        encoded[:, :, start + len(masked) :] = static[:, None]
        return encoded, unseen

    def inverse(self, x: np.ndarray) -> tuple[Series, pd.DataFrame]:
        """Series in the source's units, NaN where not measured, and the table of what does not change in time."""
        x = np.asarray(x)
        if x.shape[1:] != self.shape:
            raise SchemaError(f"the encoder has stays of shape {self.shape} but got an array of shape {x.shape}")
        values = np.stack(
            [
                code.decode(x[:, :, place].reshape(-1, 1)).to_numpy(np.float32).reshape(x.shape[:2])
                for place, code in enumerate(self.channels)
            ],
            axis=2,
        )
        start = len(self.channels)
        for feature, place in enumerate(np.flatnonzero(self.gaps), start):
            values[:, :, place] = np.where(x[:, :, feature] < 0.5, np.nan, values[:, :, place])
        constant = x[:, :, start + sum(self.gaps) :].mean(axis=1)
        return Series(values, self.channel_names, self.step_hours), self.static.inverse(constant)

    def to_json(self) -> str:
        """The encoder as JSON with exact numbers and a checksum."""
        content = {
            "steps": self.steps,
            "step_hours": self.step_hours,
            "channels": [entry_of(code) for code in self.channels],
            "gaps": list(self.gaps),
            "static": [entry_of(code) for code in self.static.columns],
            "features": list(self.feature_names),
        }
        document = {"format": _FORMAT, "version": _VERSION, **content, "sha256": checksum_of(content)}
        return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "SeriesEncoder":
        """The encoder that ``to_json`` wrote; a TamperedError where the text is not whole and unchanged."""
        with expecting(tampered(f"{_FORMAT}, version {_VERSION}")):
            return _parse(text)

    def _in_order(self, series: Series) -> np.ndarray:
        """The values of the encoder's channels in its order; other channels are passed over."""
        absent = [name for name in self.channel_names if name not in series.channels]
        if absent:
            raise SchemaError(f"the series lack channels that the encoder needs ({quoted(absent)}); add them")
        steps = series.values.shape[1]
        if steps != self.steps or not math.isclose(series.step_hours, self.step_hours):
            raise SchemaError(
                f"the encoder needs {self.steps} steps of {len(self.channels)} channels, {self.step_hours:g} hours "
                f"each, but got {steps} steps of {series.step_hours:g} hours; pass series like those condensed"
            )
        if series.channels == self.channel_names:
            return series.values
        return series.values[:, :, [series.channels.index(name) for name in self.channel_names]]


def varying(
    series: Series, drop: Collection[str] = (), patients: np.ndarray | None = None
) -> tuple[Series, tuple[str, ...]]:
    """The series without channels that say nothing or are dropped, and notes on the former.

    A note names a channel only where ten patients have it.

    >>> values = np.repeat([[[80.0, 1.0, np.nan]], [[90.0, 1.0, np.nan]]], 5, axis=0)
    >>> left, notes = varying(Series(values, ("hr", "alive", "lactate")))
    >>> left.channels, notes[0]
    (('hr',), 'left out 1 channel measured in fewer than 10 patients')
    >>> notes[1]
    "left out 'alive': the same value wherever it was measured"
    """
    few, same, kept = [], [], []
    for place, name in enumerate(series.channels):
        values = series.values[:, :, place]
        seen = np.isfinite(values)
        present = values[seen]
        if name not in drop:
            says_nothing = not present.size or (present == present[0]).all()
            backed = patients_in(seen.any(axis=1), patients) >= SUPPORT
            (kept if not says_nothing else same if backed else few).append(place)
    if not kept:
        raise SchemaError("there is no channel left that was measured and varies; pass series with at least one")
    notes = [f"left out {few_channels(len(few))}"] if few else []
    if same:
        notes.append(f"left out {quoted(series.channels[p] for p in same)}: the same value wherever it was measured")
    return series if len(kept) == len(series.channels) else series.of_channels(kept), tuple(notes)


def few_channels(count: int) -> str:
    """What is said of channels that fewer than ten patients have: never their names.

    In a table with one measurement per line the names are cells, and may be one patient's.
    """
    return f"{counted(count, 'channel')} measured in fewer than {SUPPORT} patients"


def carried_forward(values: np.ndarray) -> np.ndarray:
    """Values (n, T, C) with gaps filled by the last value before; gaps before the first value stay.

    >>> carried_forward(np.array([[[np.nan], [1.0], [np.nan]]]))[0, :, 0]
    array([nan,  1.,  1.])
    """
    filled = values.copy()
    for step in range(1, values.shape[1]):
        gap = np.isnan(filled[:, step])
        filled[:, step][gap] = filled[:, step - 1][gap]
    return filled


def as_long(series: Series, frame: pd.DataFrame) -> pd.DataFrame:
    """Series and static values for people, one line each: row, hour (empty for static ones), variable, value.

    >>> as_long(Series(np.array([[[80.0], [np.nan]]]), ("hr",)), pd.DataFrame({"age": [61]})).values.tolist()
    [[0, 0.0, 'hr', 80.0], [0, nan, 'age', 61]]
    """
    row, step, channel = np.nonzero(np.isfinite(series.values))
    moving = pd.DataFrame(
        {
            "row": row,
            "hour": step * series.step_hours,
            "variable": np.asarray(series.channels, dtype=object)[channel],
            "value": series.values[row, step, channel].astype(str).astype(float).astype(object),  # 36.8, not 36.7999…
        }
    )
    fixed = pd.DataFrame(
        {
            "row": np.repeat(np.arange(len(frame)), frame.shape[1]),
            "hour": np.nan,
            "variable": np.tile(np.asarray(frame.columns, dtype=object), len(frame)),
            "value": frame.to_numpy(dtype=object).ravel(),
        }
    )
    whole = moving if fixed.empty else pd.concat([moving, fixed])
    return whole.sort_values(["row", "hour"], kind="stable").reset_index(drop=True)


@dataclass(frozen=True)
class _Document:
    format: Literal["aliquot-series-encoder"]
    version: Literal[1]
    steps: Annotated[int, Meta(ge=1, le=MOST_COLUMNS)]
    step_hours: Annotated[float, Meta(gt=0, le=LARGEST)]
    channels: list[dict[str, Any]]
    gaps: tuple[bool, ...]
    static: list[dict[str, Any]]
    features: list[str]
    sha256: str


def _parse(text: str) -> SeriesEncoder:
    values = json_of(text)
    document = typed(values, _Document)
    stated = {"format", "version", "sha256"}
    require(document.sha256 == checksum_of({name: values[name] for name in values if name not in stated}))
    codes = tuple(_channel_of(entry) for entry in document.channels)
    require(len(document.gaps) == len(codes) > 0)
    static = encoder_of(document.static)
    encoder = SeriesEncoder(document.steps, document.step_hours, codes, document.gaps, static)
    require([*encoder.feature_names] == document.features)
    names = {*encoder.channel_names, *(code.name for code in static.columns)}
    require(len(names) == len(codes) + len(static.columns) and len({*document.features}) == len(document.features))
    require(document.steps * len(document.features) <= MOST_COLUMNS)
    return encoder


def _channel_of(entry: dict[str, Any]) -> NumberCode:
    code = code_of(entry)
    require(isinstance(code, NumberCode) and len(code.decoded_from) == 1)
    return code  # pyright: ignore[reportReturnType]
