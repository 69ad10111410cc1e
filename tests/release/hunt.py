"""A hunt through every byte and number of a release for what fewer than ten patients stand behind."""

import io
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from aliquot.disclosure import SUPPORT

NEAR = 0.02  # of a planted number: in any rounding that still points at its patient
NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])", re.IGNORECASE)
SCORES = ("held_out", "calibration", "transfer", "subgroups")  # parts of metrics.json
COUNTS = ("train", "tuning", "held_out", "patients")  # keys under which patients are counted


@dataclass(frozen=True)
class Planted:
    """What was planted, and the patients around it."""

    words: tuple[str, ...]  # names, levels and classes of fewer than ten patients
    numbers: tuple[float, ...]  # of one patient, or of few
    columns: Mapping[str, tuple[np.ndarray, np.ndarray]]  # the values of a column, and whose they are


def leaks(release: Path, planted: Planted, said: str = "") -> list[str]:
    """Everything in the files of a release, and in what was said beside it, that tells of fewer than ten patients."""
    texts = {"what was said": said, **{path.name: text_of(path) for path in sorted(release.iterdir())}}
    encoder, metrics = (json.loads((release / name).read_text("utf-8")) for name in ("encoder.json", "metrics.json"))
    recipe = tomllib.loads((release / "recipe.toml").read_text("utf-8"))
    patients = sum(n for n in metrics["data"]["train"] if not isinstance(n, str))
    return [
        *(f"{name}: {word!r}" for name, text in texts.items() for word in planted.words if word in text),
        *(f"{name}: {leak}" for name, text in texts.items() for leak in numbers_near(text, planted.numbers)),
        *(f"encoder.json: {leak}" for code in codes_of(encoder) for leak in of_code(code, planted, patients)),
        *(f"metrics.json: {leak}" for leak in of_counts(metrics)),
        *(f"metrics.json: {key} has {value!r}" for key in SCORES for value in exact_scores(metrics.get(key))),
        *(f"recipe.toml: {value!r}" for value in exact_scores(recipe["calibration"], most=4)),
    ]


def text_of(path: Path) -> str:
    """The text of a file; of a table its names, its cells and what else the file says."""
    if path.suffix != ".parquet":
        return path.read_text("utf-8")
    content = path.read_bytes()
    table = pq.read_table(io.BytesIO(content))
    return f"{table.schema} {content.decode('latin-1')} {table.to_pandas().to_csv(float_format='%.9g')}"


def numbers_near(text: str, secret: tuple[float, ...]) -> list[float]:
    """The numbers of a text that are near a planted one."""
    found = {float(word.replace(",", "").replace("−", "-")) for word in NUMBER.findall(text)}
    return [one for one in found if any(math.isclose(one, planted, rel_tol=NEAR) for planted in secret)]


def codes_of(encoder: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of all columns and channels."""
    return [entry for part in ("columns", "channels", "static") for entry in encoder.get(part, ())]


def of_code(code: Mapping[str, Any], planted: Planted, patients: int) -> Iterator[str]:
    """What the entry of a column tells of few patients, or lets one work out."""
    if code["name"] not in planted.columns:
        return
    values, whose = planted.columns[code["name"]]
    if count(~pd.isna(values), whose) < SUPPORT:
        yield f"{code['name']!r} has fewer than ten patients"
    for level in code.get("levels", ()):
        if count(values == level, whose) < SUPPORT:
            yield f"level {level!r} of {code['name']!r}"
    if code.get("missing") and count(pd.isna(values), whose) < SUPPORT:
        yield f"gaps of {code['name']!r}"
    if "centre" not in code:
        return
    for name in ("median", "centre", "scale", "row_low", "row_high"):
        if 0 < count(np.isclose(values.astype(float), code[name], rtol=1e-7, atol=0), whose) < SUPPORT:
            yield f"{name} of {code['name']!r} is the value of few patients"
    for end, beyond in (("row_low", np.less_equal), ("row_high", np.greater_equal)):
        if code["row_low"] != code["row_high"] and count(beyond(values.astype(float), code[end]), whose) < SUPPORT:
            yield f"{end} of {code['name']!r} has fewer than ten patients beyond"
    for name in ("median", "centre", "scale"):
        if 0 < resolution(code[name]) * patients < 1.5 * code["scale"]:
            yield f"{name} × {patients} of {code['name']!r} solves for a value"


def count(members: np.ndarray, whose: np.ndarray) -> int:
    """How many patients have an entry among the members."""
    return len(set(np.asarray(whose)[np.asarray(members, bool)].tolist()))


def resolution(value: float) -> float:
    """The largest step of 1, 2 or 5 times a power of ten of which a number is a multiple; 0 of zero.

    >>> resolution(0.25), resolution(60.0), resolution(0.0)
    (0.05, 20.0, 0.0)
    """
    digits = Decimal(repr(value)).normalize().as_tuple()
    last = next(step for step in (5, 2, 1) if digits.digits[-1] % step == 0)
    return 0.0 if value == 0 else last * 10.0 ** int(digits.exponent)


def of_counts(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Counts under ten, and counts beside hidden ones that are exact."""
    counts = [entry for part in ("train", "tuning", "held_out") for entry in metrics["data"][part]]
    for key, value in counted(metrics):
        if 0 < value < SUPPORT:
            yield f"{key} counts {value}"
    if any(isinstance(entry, str) for entry in counts):
        yield from (
            f"{entry} gives a hidden class away" for entry in counts if str(entry).isdigit() and entry % SUPPORT
        )
    for column, groups in (metrics.get("subgroups") or {}).items():
        shown = [group["patients"] for group in groups if isinstance(group["patients"], int)]
        yield from (f"{size} patients of a group by {column!r}" for size in shown if size % SUPPORT)


def counted(part: Any, key: str = "") -> Iterator[tuple[str, int]]:
    """Every count of patients with its key."""
    if isinstance(part, Mapping):
        for name, value in part.items():
            yield from counted(value, name)
    elif isinstance(part, list):
        for value in part:
            yield from counted(value, key)
    elif isinstance(part, int) and key in COUNTS:
        yield key, part


def exact_scores(part: Any, most: int = 3) -> Iterator[float]:
    """Numbers with more decimals than scores may have; observed shares are tens of patients and have four."""
    if isinstance(part, Mapping):
        for name, value in part.items():
            yield from exact_scores(value, 4 if name == "observed" else most)
    elif isinstance(part, list):
        for value in part:
            yield from exact_scores(value, most)
    elif isinstance(part, float) and round(part, most) != part:
        yield part
