"""Which encoded rows are valid records: cells that the source could hold, in the range that patients show."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aliquot.cohort.cells import as_stored, undo_log_scale, within
from aliquot.cohort.codes import RARE, Code, LevelCode, NumberCode, TruthCode
from aliquot.cohort.encoder import Encoder
from aliquot.cohort.scaling import Range, on_decimals
from aliquot.cohort.series import MEASURED, SeriesEncoder
from aliquot.cohort.values import LARGEST


@dataclass(frozen=True, eq=False)
class ValidRows:
    """What each of F features may be in a valid row; yes/no and flags of gaps are the numbers 0 and 1.

    A number is ``origin`` + k · ``step`` within [``low``, ``high``]; on a log scale its step is in the source's units.
    """

    low: np.ndarray  # (F,)
    high: np.ndarray  # (F,)
    origin: np.ndarray  # (F,)
    step: np.ndarray  # (F,)
    log: np.ndarray  # (F,) bool
    centre: np.ndarray  # (F,) of scores on a log scale
    scale: np.ndarray  # (F,)
    gap: np.ndarray  # (K, F) features that tell that this one is a gap or a bound, the first counts; -1: none
    fill: np.ndarray  # (K, F) what it then is; in series, the first is what it is before the first measurement
    group: np.ndarray  # (F,) the group of levels that it belongs to; -1: none
    levels: np.ndarray  # (G, L) features of each group of which one is 1; shorter groups repeat their first
    measured: np.ndarray | None = None  # (F,) in series, the feature that tells whether this one was measured; -1: none
    constant: np.ndarray | None = None  # (F,) bool: in series, what does not change in time


class _Feature(NamedTuple):
    """One feature of a code; by default a flag."""

    name: str
    low: float = 0.0
    high: float = 1.0
    origin: float = 0.0
    step: float = 1.0
    log: bool = False
    centre: float = 0.0
    scale: float = 1.0
    fill: float = 0.0
    gaps: tuple[tuple[str, float], ...] = ()  # features that tell a gap or a bound, and what this one then is
    group: str | None = None
    shown: bool = True  # whether a row may show this level
    measured: str | None = None
    constant: bool = False


def valid_rows(encoder: Encoder | SeriesEncoder) -> ValidRows:
    """What the features of valid rows of a table, or of every step of series, may be.

    >>> import pandas as pd
    >>> from aliquot.cohort import infer_schema
    >>> frame = pd.DataFrame({"age": range(40, 80), "ward": ["icu", "ward", "icu", None] * 10})
    >>> valid = valid_rows(Encoder.fit(frame, infer_schema(frame)))
    >>> valid.levels.tolist(), valid.step.round(2).tolist()
    ([[1, 2, 4]], [0.09, 1.0, 1.0, 1.0, 1.0])
    """
    if isinstance(encoder, Encoder):
        return _as_arrays([feature for code in encoder.columns for feature in _features(code)])
    moving = [
        _number(code)._replace(measured=f"{code.name}={MEASURED}" if gap else None)
        for code, gap in zip(encoder.channels, encoder.gaps, strict=True)
    ]
    flags = [_Feature(feature.measured) for feature in moving if feature.measured is not None]
    fixed = [feature._replace(constant=True) for code in encoder.static.columns for feature in _features(code)]
    return _as_arrays([*moving, *flags, *fixed], series=True)


def settled(encoder: Encoder | SeriesEncoder, x: np.ndarray) -> np.ndarray:
    """Encoded rows exactly as their cells are encoded again; of valid rows no more than rounding errors change.

    Guarantees: of valid rows, those that have been settled stay as they are.
    """
    if isinstance(encoder, Encoder):
        return encoder.transform(encoder.inverse(x))
    return encoder.transform(*encoder.inverse(x))


def _features(code: Code) -> list[_Feature]:
    if isinstance(code, LevelCode):
        shown = [bin != RARE or not code.named for bin in code.bins]
        return [_Feature(name, group=code.name, shown=one) for name, one in zip(code.features, shown, strict=True)]
    if isinstance(code, TruthCode):
        gap = [(name, float(code.mode)) for name in code.decoded_from[1:]]
        return [_Feature(code.name, gaps=tuple(gap)), *(_Feature(name) for name in code.features[1:])]
    own = _number(code)
    return [own, *(_flag(name, code) for name in code.features[1:])]


def _flag(name: str, code: NumberCode) -> _Feature:
    """A flag of a number; of a gap, a bound below and one above only the first counts."""
    order = code.decoded_from[1:]
    before = order[: order.index(name)]
    return _Feature(name, gaps=tuple((other, 0.0) for other in before))


def _number(code: NumberCode) -> _Feature:
    ends = _ends(code)
    bounds = [bound for _, bound in filter(None, (code.below, code.above))]
    shown = as_stored(within(np.array([*ends, np.nan, *bounds]), code.low, code.high), code.number_type)
    low, high, fill, *bounds = code.scores(shown).astype(np.float32).tolist()
    told = tuple(zip(code.decoded_from[1:], [*([] if code.gap is None else [fill]), *bounds], strict=True))
    unit = 10.0**-code.decimals
    if code.log:
        own = _Feature(code.name, low, high, step=unit, log=True, centre=code.centre, scale=code.scale)
    else:
        origin = (float(np.round(code.centre, code.decimals)) - code.centre) / code.scale
        own = _Feature(code.name, low, high, origin, unit / code.scale)
    return own._replace(fill=fill, gaps=told)


def _ends(code: NumberCode) -> Range:
    """The range of rows in the source's units, without what would be clipped. Old encoders know the schema's only."""
    low = code.row_low if code.row_low is not None else -LARGEST if code.low is None else code.low
    high = code.row_high if code.row_high is not None else LARGEST if code.high is None else code.high
    if code.clip:
        bounds = code.centre + code.scale * np.array([-code.clip, code.clip])
        bounds = undo_log_scale(bounds) if code.log else bounds
        low, high = max(low, float(bounds[0])), min(high, float(bounds[1]))
    return on_decimals(Range(low, high), code.decimals, code.median)


def _as_arrays(features: list[_Feature], *, series: bool = False) -> ValidRows:
    place = {feature.name: number for number, feature in enumerate(features)}
    groups = {name: number for number, name in enumerate(dict.fromkeys(f.group for f in features if f.group))}
    shown = [[place[f.name] for f in features if f.group == name and f.shown] for name in groups]
    most = max(map(len, shown), default=0)
    levels = [[*one, *[one[0]] * (most - len(one))] for one in shown]
    most_gaps = max([1, *(len(f.gaps) for f in features)])
    return ValidRows(
        *(np.array([getattr(f, name) for f in features]) for name in ("low", "high", "origin", "step")),
        log=np.array([f.log for f in features]),
        centre=np.array([f.centre for f in features]),
        scale=np.array([f.scale for f in features]),
        gap=np.array([[place[f.gaps[k][0]] if k < len(f.gaps) else -1 for f in features] for k in range(most_gaps)]),
        fill=np.array([[f.gaps[k][1] if k < len(f.gaps) else f.fill for f in features] for k in range(most_gaps)]),
        group=np.array([-1 if f.group is None else groups[f.group] for f in features]),
        levels=np.array(levels, dtype=int).reshape(len(groups), most),
        measured=np.array([-1 if f.measured is None else place[f.measured] for f in features]) if series else None,
        constant=np.array([f.constant for f in features]) if series else None,
    )
