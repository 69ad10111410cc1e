"""How far rows and held-out patients are from the nearest training patient."""

from typing import Any

import numpy as np

from aliquot.release.report.svg import OURS, REAL, Drawing, canvas, drawing, styled


def distances(metrics: dict[str, Any]) -> Drawing | None:
    """Shares of rows and of held-out patients by distance to the nearest training patient."""
    copying = metrics.get("copying")
    if not copying or not copying["histogram"]["edges"]:
        return None
    histogram = copying["histogram"]
    inner = np.asarray(histogram["edges"], float)
    step = float(np.median(np.diff(inner))) if len(inner) > 1 else inner[0] / 2
    edges = np.concatenate([[inner[0] - step], inner, [inner[-1] + step]])  # the end bins are open
    own = np.asarray(histogram["row_edges"], float)
    quantiles = copying["quantiles"]
    middle = {name: np.interp(0.5, quantiles["levels"], quantiles[name]) for name in ("rows", "held_out")}
    with styled():
        figure, axes = canvas(height=2.9)
        dense = _shares(histogram["held_out"]) * step / np.diff(edges)
        axes.stairs(dense, edges, fill=True, color=REAL, label="held-out patients")
        axes.stairs(_shares(histogram["rows"]) * step / np.diff(own), own, color=OURS, linewidth=2, label="these rows")
        axes.legend(loc="upper right")
        axes.margins(y=0.25)
        axes.set(xlabel="distance to the nearest training patient", ylabel=f"share per {step:g}")
        return drawing(
            figure,
            name="distances",
            title="Distance to the nearest training patient",
            description=f"Half of the rows are nearer than {middle['rows']:.2f}, half of the held-out patients nearer "
            f"than {middle['held_out']:.2f}.",
            caption="Distance to the nearest training patient: root mean square difference of the encoded features. "
            "The first and the last bin of patients are open.",
        )


def _shares(counts: list[int | str]) -> np.ndarray:
    seen = np.array([0 if isinstance(n, str) else n for n in counts], float)
    return seen / max(seen.sum(), 1)
