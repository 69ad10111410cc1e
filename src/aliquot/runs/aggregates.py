"""What a report shows of a run beyond its scores, as aggregates that may leave with the release."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
import pandas as pd

from aliquot.cohort import HELD_OUT, TRAIN, Cohort, Parts, SeriesEncoder, split_patients
from aliquot.cohort.cells import numbers
from aliquot.cohort.codes import NumberCode
from aliquot.curves import Geometry
from aliquot.evaluate import row_classes
from aliquot.evaluate.copying import nearest_distances
from aliquot.evaluate.distributions import column_distributions, outside_range
from aliquot.matching import Condensed

POINTS = 150  # of a learning curve; more would not show
DECIMALS = 5


def learning_curves(history: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """AUPRC on the tuning part at each look, and the matching loss averaged over short stretches; may be empty.

    >>> learning_curves({"loss": np.array([0.5, 0.25])})["loss"]["mean"]
    [0.5, 0.25]
    """
    found: dict[str, Any] = {}
    if len(history.get("judged_at", ())):
        found["judged_at"] = np.asarray(history["judged_at"]).astype(int).tolist()
        found |= {name: _short(history[name]) for name in ("tuning", "tuning_std")}
    loss = np.asarray(history.get("loss", ()), float)
    if np.isfinite(loss).any():
        found["loss"] = _stretches(loss)
    return found


def path_figures(geometry: Geometry | None) -> dict[str, Any]:
    """Loss along the three ways from untrained to trained experts, and how they look in a plane; may be empty."""
    if geometry is None:
        return {}
    ways = ("sgd", "line", "curve")
    return {
        "experts": len(geometry.loss_curve),
        "times": _short(geometry.times),
        "loss": {way: _short(np.mean(getattr(geometry, f"loss_{way}"), axis=0)) for way in ways},
        "plane": {way: _short(getattr(geometry, f"plane_{way}")) for way in ways},
        "plane_share": _short(geometry.plane_share),
    }


def likeness(cohort: Cohort, parts: Parts, condensed: Condensed, *, seed: int, key: jax.Array) -> dict[str, Any]:
    """How the rows compare with patients: values of each column, values out of range, nearest patients."""
    roles = split_patients(cohort, seed=seed)
    train, held_out = (_first_rows(cohort, roles == role) for role in (TRAIN, HELD_OUT))
    real, rows = cohort.take(roles == TRAIN), _decoded(parts.encoder, condensed.x)
    codes = _codes(parts.encoder)
    named = [code.name for code in codes if isinstance(code, NumberCode)]
    ranges = {name: _numbers_of(real.frame, real.series, name) for name in named}
    ours = {name: _numbers_of(*rows, name) for name in named}
    return {
        "features": column_distributions(
            _one_each(real.frame, real.series).iloc[train],
            _one_each(*rows),
            _weights(condensed.targets, cohort.prevalence),
            codes,
        ),
        "outside_range": outside_range(ranges, ours),
        "copying": nearest_distances(condensed.x, parts.train.x, parts.held_out.x[held_out], key=key),
    }


def _short(values: np.ndarray) -> list[Any]:
    return np.nan_to_num(np.asarray(values, float), posinf=0.0, neginf=0.0).round(DECIMALS).tolist()


def _stretches(values: np.ndarray) -> dict[str, list[float]]:
    """Position, mean, 10th and 90th percentile of the finite values of consecutive stretches."""
    numbers = np.flatnonzero(np.isfinite(values))
    places = np.array_split(numbers, min(POINTS, len(numbers)))
    low, high = np.array([np.quantile(values[part], (0.1, 0.9)) for part in places]).T
    return {
        "at": [round(float(part.mean() + 1), 1) for part in places],
        "mean": _short(np.array([values[part].mean() for part in places])),
        "low": _short(low),
        "high": _short(high),
    }


def _first_rows(cohort: Cohort, chosen: np.ndarray) -> np.ndarray:
    """Of the chosen rows, the place of the first one of each patient."""
    if cohort.patient is None:
        return np.arange(int(chosen.sum()))
    return np.sort(np.unique(cohort.patient[chosen], return_index=True)[1])


def _weights(targets: np.ndarray, prevalence: tuple[float, ...]) -> np.ndarray:
    """A weight for each row, so that classes weigh as much as they are frequent among patients."""
    classes = row_classes(targets)
    return np.asarray(prevalence)[classes] / np.bincount(classes)[classes]


def _codes(encoder) -> tuple:
    return (*encoder.channels, *encoder.static.columns) if isinstance(encoder, SeriesEncoder) else encoder.columns


def _decoded(encoder, x: np.ndarray) -> tuple[pd.DataFrame, Any]:
    """The rows in the units of the source: the table of what does not change, and the series if there are any."""
    if isinstance(encoder, SeriesEncoder):
        series, frame = encoder.inverse(x)
        return frame, series
    return encoder.inverse(x), None


def _one_each(frame: pd.DataFrame, series) -> pd.DataFrame:
    """A table with one value for each patient and column; of series, the mean over time."""
    if series is None:
        return frame
    seen = np.isfinite(series.values)
    count = seen.sum(axis=1)
    means = np.where(seen, series.values, 0.0).sum(axis=1) / np.maximum(count, 1)
    moving = pd.DataFrame(np.where(count > 0, means, np.nan), columns=list(series.channels))
    return moving if frame.columns.empty else pd.concat([moving, frame.reset_index(drop=True)], axis=1)


def _numbers_of(frame: pd.DataFrame, series, name: str) -> np.ndarray:
    if series is not None and name in series.channels:
        return series.values[:, :, series.channels.index(name)].ravel()
    return numbers(frame[name])
