"""Pages of studies that look at experts and curves: storage, theorem and figure 1."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from aliquot.paper import figures
from aliquot.paper.cohorts import TITLES
from aliquot.paper.page import Page
from aliquot.paper.published import published_ratio
from aliquot.paper.results import Found
from aliquot.paper.studies import OURS
from aliquot.paper.tables import UNKNOWN, Block, Table, number, spread
from aliquot.runs.compare import megabytes

RECIPES = {"btm": "the paper's settings", OURS: "our recipe"}


def storage_page(study: str, found: Sequence[Found], titles: Mapping[str, str]) -> Page:
    """Bytes of experts' checkpoints and of curves, as files on disk."""
    rows = [_stored(one) for one in found]
    frame = pd.DataFrame(rows)
    lines = [
        [
            titles[row["cohort"]],
            number(row.get("experts"), ".0f"),
            number(row.get("epochs"), ".0f"),
            "failed" if "failed" in row else megabytes(row["bytes_trajectories"]),
            "failed" if "failed" in row else megabytes(row["bytes_three_points"]),
            _times(row.get("ratio")),
            _times(row.get("expected")),
            _times(row["paper_ratio"]),
        ]
        for row in rows
        if row["seed"] == rows[0]["seed"]  # the others have the same sizes
    ]
    heads = ["cohort", "experts", "epochs", "checkpoints", "curves", "ratio", "(epochs + 1) / 3", "ratio, paper"]
    note = (
        "Sizes of files on disk. The checkpoints of an expert are its first parameters and those after every epoch; a "
        "curve is three points: the first and the last of these, and the control point. The paper's ratios are for 100 "
        "and (MIMIC-III) 60 epochs, without the first checkpoint."
    )
    return Page([Table("Files of experts", heads, [Block("", lines)], [note])], frame)


def _stored(one: Found) -> dict[str, Any]:
    row: dict[str, Any] = {"cohort": one.line.cohort, "seed": one.line.cell.request.seed}
    paper = published_ratio(one.line.cohort)
    if one.failed:
        return {**row, "paper_ratio": paper, "failed": one.failed}
    sizes, epochs = one.result["bytes"], one.result["epochs"]
    row |= {"experts": one.result["experts"], "epochs": epochs}
    row |= {f"bytes_{what}": size for what, size in sizes.items()}
    row["bytes_three_points"] = sizes["experts"] + sizes["curves"]  # ends, and control points
    row["ratio"] = sizes["trajectories"] / row["bytes_three_points"]
    return {**row, "expected": (epochs + 1) / 3, "paper_ratio": paper}


def _times(value: float | None) -> str:
    text = number(value, ".1f")
    return text if text == UNKNOWN else f"{text} ×"


def theorem_page(study: str, found: Sequence[Found], titles: Mapping[str, str]) -> Page:
    """Loss along the ways and the three quantities of the theorem; means in the table, every expert in the frame."""
    frame = pd.DataFrame([row for one in found if not one.failed for row in _of_experts(one)])
    wanted = ("loss_sgd", "loss_linear", "loss_bezier", "bend", "curvature", "distance", "prediction_gap")
    blocks = []
    for cohort in dict.fromkeys(one.line.cohort for one in found):
        lines = []
        for method in dict.fromkeys(one.line.method for one in found if one.line.cohort == cohort):
            rows = frame[(frame["cohort"] == cohort) & (frame["method"] == method)] if len(frame) else frame
            texts = [_over_experts(rows[name]) if len(rows) else "failed" for name in wanted]
            lines.append([RECIPES[method], f"{len(rows)}", *texts])
        blocks.append(Block(titles[cohort], lines))
    heads = ["curves of", "experts", "loss, SGD", "loss, line", "loss, curve", "bend", "κ", "distance", "gap"]
    note = (
        "Mean ± standard deviation over experts; CSV and picture have every expert. Loss: mean cross-entropy of "
        "training patients along the way. Bend: how far the control point is from the middle, and distance: how far "
        "curve and SGD path are apart at equal times, mean over them, both in parts of the distance between the ends. "
        "κ: curvature of the curve. Gap: mean absolute difference of the probabilities that networks on curve and path "
        "predict. The last three are what the theorem speaks of, measured rather than bounded."
    )
    pictures = {"theorem": figures.theorem(frame, RECIPES, TITLES)} if len(frame) else {}
    return Page([Table("Curves against the paths of their experts", heads, blocks, [note])], frame, pictures)


def _of_experts(one: Found) -> list[dict[str, Any]]:
    result, seed = one.result, one.line.cell.request.seed
    where = {"cohort": one.line.cohort, "method": one.line.method, "seed": seed}
    names = ("bend", "curvature", "distance", "prediction_gap")
    return [
        {
            **where,
            "expert": expert,
            **{f"loss_{path}": result["average_loss"][path][expert] for path in figures.PATHS},
            **{name: float(np.mean(result[name][expert])) for name in names},
        }
        for expert in range(len(result["curvature"]))
    ]


def _over_experts(values: pd.Series) -> str:
    return spread(values.mean(), values.std(ddof=1))


def figure_1_page(study: str, found: Sequence[Found], titles: Mapping[str, str]) -> Page:
    """The three pictures of Figure 1, of the first seed, and the numbers that one reads off them."""
    seed = found[0].line.cell.request.seed
    done = [one for one in found if one.line.cell.request.seed == seed and not one.failed]
    ways = {one.line.method: one.result for one in done if one.line.cell.kind == "ways"}
    followed = {(one.line.method, _path(one)): one.result for one in done if one.line.cell.kind == "rows"}
    losses = {
        method: {path: _losses(result) for (whose, path), result in followed.items() if whose == method}
        for method in RECIPES
    }
    blocks = [
        Block(RECIPES[method], [_read_off(result, followed.get((method, path)), path) for path in figures.PATHS])
        for method, result in ways.items()
    ]
    frames = [
        pd.DataFrame({"recipe": RECIPES[method], "path": path, "iteration": loss.index, "matching_loss": loss})
        for method, by_path in losses.items()
        for path, loss in by_path.items()
    ]
    note = (
        "Loss along the path: cross-entropy of training patients, mean over times and experts. Matching loss: mean of "
        "the iterations before the last look on tuning. A path that is easy to follow may teach little; AUPRC, on "
        "held-out patients, says what it taught."
    )
    title = titles[found[0].line.cohort]
    sizes = sorted({f", {one.line.rows} rows per class" for one in found if one.line.rows})
    table = Table(title + "".join(sizes), ["path", "loss along it", "matching loss", "AUPRC"], blocks, [note])
    drawn = {RECIPES[method]: (result, losses[method]) for method, result in ways.items()}
    pictures = {"figure-1": figures.figure_1(drawn, title)} if drawn else {}
    return Page([table], pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(), pictures)


def _path(one: Found) -> str:
    return one.line.cell.request.method.partition("+")[2] or "bezier"


def _read_off(ways: Mapping[str, Any], followed: Mapping[str, Any] | None, path: str) -> list[str]:
    texts = [figures.PATHS[path][0], number(float(np.mean(ways["loss"][path])))]
    if followed is None:
        return [*texts, UNKNOWN, UNKNOWN]
    last, auprc = _losses(followed).tail(1), followed["auprc"]
    return [*texts, number(last.mean()), spread(auprc["mean"], auprc["std"])]


def _losses(followed: Mapping[str, Any]) -> pd.Series:
    """The matching loss at each look after the first, by iteration: its mean since the look before."""
    history = followed["history"]
    return pd.Series(history["loss"], index=history["iteration"], dtype=float).dropna()
