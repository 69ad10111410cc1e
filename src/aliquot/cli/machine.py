"""Results for machines: one JSON document on standard output, and nothing else there."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np


def print_json(document: Any) -> None:
    """Print a result as JSON; what is not a number becomes null, as JSON knows no NaN."""
    print(json.dumps(_plain(document), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.generic):
        return _plain(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
