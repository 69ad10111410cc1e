"""Studies of experts and curves: bytes on disk, what the theorem speaks of, and Figure 1."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from aliquot.grid.cell import CellResult
from aliquot.grid.compare import megabytes
from aliquot.grid.geometry import PathsResult
from aliquot.paper.cohorts import PAPER_COHORTS
from aliquot.paper.figures import PATH_TITLES, path_panels, theorem_dots
from aliquot.paper.pages import UNKNOWN, Page, Table, TableBlock, mean_and_spreads, number
from aliquot.paper.published import published_ratio
from aliquot.paper.study import (
    ABLATED,
    ALL_PATIENTS,
    OUR_BTM,
    Found,
    Line,
    Plan,
    Study,
    StudyResults,
    geometry_lines,
    recipe_variant,
    score_lines,
)

_RECIPE_TITLES = {"btm": "the paper's settings", OUR_BTM: "our settings"}
_FOLLOWED = ("+sgd", "+linear", "")  # paths of Figure 1, as they are added to a method; without a name the curve


def _every_cohort(plan: Plan, recipes: Sequence[str]) -> list[Line]:
    return [line for cohort in PAPER_COHORTS for line in geometry_lines(plan, cohort, recipes)]


def _storage_page(results: StudyResults) -> Page:
    """Bytes of experts' checkpoints and of curves, as files on disk."""
    rows = [_stored(one) for one in results.found]
    lines = [
        [
            results.titles[row["cohort"]],
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
    return Page([Table("Files of experts", heads, [TableBlock("", lines)], [note])], pd.DataFrame(rows))


def _stored(one: Found) -> dict[str, Any]:
    row: dict[str, Any] = {"cohort": one.line.cohort, "seed": one.line.seed}
    paper, paths = published_ratio(one.line.cohort), one.result.paths
    if paths is None:
        return {**row, "paper_ratio": paper, "failed": one.result.failed}
    row |= {"experts": paths.experts, "epochs": paths.epochs}
    row |= {f"bytes_{what}": size for what, size in paths.bytes.items()}
    row["bytes_three_points"] = paths.bytes["experts"] + paths.bytes["curves"]  # ends, and control points
    row["ratio"] = paths.bytes["trajectories"] / row["bytes_three_points"]
    return {**row, "expected": (paths.epochs + 1) / 3, "paper_ratio": paper}


def _times(value: float | None) -> str:
    text = number(value, ".1f")
    return text if text == UNKNOWN else f"{text} ×"


def _theorem_page(results: StudyResults) -> Page:
    """Loss along the paths and the three quantities of the theorem; means in the table, every expert in the frame."""
    frame = pd.DataFrame([row for one in results.found for row in _expert_rows(one)])
    measured = ("loss_sgd", "loss_linear", "loss_bezier", "bend", "curvature", "distance", "prediction_gap")
    blocks = []
    for cohort in results.cohorts:
        lines = []
        for method in dict.fromkeys(one.line.method for one in results.of(cohort)):
            rows = frame[(frame["cohort"] == cohort) & (frame["method"] == method)] if len(frame) else frame
            texts = [_over_experts(rows[name]) if len(rows) else "failed" for name in measured]
            lines.append([_RECIPE_TITLES[method], f"{len(rows)}", *texts])
        blocks.append(TableBlock(results.titles[cohort], lines))
    heads = ["curves of", "experts", "loss, SGD", "loss, line", "loss, curve", "bend", "κ", "distance", "gap"]
    note = (
        "Mean ± standard deviation over experts; CSV and picture have every expert. Loss: mean cross-entropy of "
        "training patients along the path. Bend: how far the control point is from the middle, and distance: how far "
        "curve and SGD path are apart at equal times, mean over them, both in parts of the distance between the ends. "
        "κ: curvature of the curve. Gap: mean absolute difference of the probabilities that networks on curve and path "
        "predict. The last three are what the theorem speaks of, measured rather than bounded."
    )
    titles = {name: cohort.title for name, cohort in PAPER_COHORTS.items()}
    pictures = {"theorem": theorem_dots(frame, _RECIPE_TITLES, titles)} if len(frame) else {}
    return Page([Table("Curves against the paths of their experts", heads, blocks, [note])], frame, pictures)


def _expert_rows(one: Found) -> list[dict[str, Any]]:
    paths = one.result.paths
    if paths is None:
        return []
    return [
        {
            "cohort": one.line.cohort,
            "method": one.line.method,
            "seed": one.line.seed,
            "expert": expert,
            **{f"loss_{path}": paths.average_loss[path][expert] for path in PATH_TITLES},
            "bend": paths.bend[expert],
            "curvature": paths.curvature[expert],
            "distance": paths.distance[expert],
            "prediction_gap": paths.prediction_gap[expert],
        }
        for expert in range(len(paths.curvature))
    ]


def _over_experts(values: pd.Series) -> str:
    return mean_and_spreads(values.mean(), values.std(ddof=1))


def _figure_1_lines(plan: Plan) -> list[Line]:
    variants = [recipe_variant(recipe + path) for recipe in _RECIPE_TITLES for path in _FOLLOWED]
    fewest = [min(plan.scale.sizes_of(ABLATED))]
    followed = [line for line in score_lines(plan, ABLATED, variants, fewest) if line.method != ALL_PATIENTS]
    return [*geometry_lines(plan, ABLATED, list(_RECIPE_TITLES)), *followed]


def _figure_1_page(results: StudyResults) -> Page:
    """The three pictures of Figure 1, of the first seed, and the numbers that one reads off them."""
    first = [one for one in results.found if one.line.seed == results.found[0].line.seed]
    paths = {one.line.method: one.result.paths for one in first if one.result.paths is not None}
    followed = {
        (one.line.method, one.line.cell.request.settings.slots.path): one.result
        for one in first
        if one.line.cell.kind == "rows" and not one.result.failed
    }
    losses = {key: _matching_loss(result) for key, result in followed.items()}
    blocks = [
        TableBlock(
            _RECIPE_TITLES[method], [_path_line(ours, path, followed.get((method, path))) for path in PATH_TITLES]
        )
        for method, ours in paths.items()
    ]
    frames = [
        pd.DataFrame({"recipe": title, "path": path, "iteration": loss.index, "matching_loss": loss})
        for method, title in _RECIPE_TITLES.items()
        for (whose, path), loss in losses.items()
        if whose == method
    ]
    note = (
        "Loss along the path: cross-entropy of training patients, mean over times and experts. Matching loss: mean of "
        "the iterations before the last evaluation on tuning. A path that is easy to follow may teach little; AUPRC, "
        "on held-out patients, says what it taught."
    )
    title = results.titles[ABLATED]
    sizes = sorted({f", {one.line.rows} rows per class" for one in results.found if one.line.rows})
    table = Table(title + "".join(sizes), ["path", "loss along it", "matching loss", "AUPRC"], blocks, [note])
    drawn = {
        _RECIPE_TITLES[method]: (ours, {path: loss for (whose, path), loss in losses.items() if whose == method})
        for method, ours in paths.items()
    }
    pictures = {"figure-1": path_panels(drawn, title)} if drawn else {}
    return Page([table], pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(), pictures)


def _path_line(paths: PathsResult, path: str, followed: CellResult | None) -> list[str]:
    texts = [PATH_TITLES[path], number(pd.Series(paths.average_loss[path]).mean())]
    if followed is None or followed.auprc is None:
        return [*texts, UNKNOWN, UNKNOWN]
    last = _matching_loss(followed).tail(1).mean()
    return [*texts, number(last), mean_and_spreads(followed.auprc.mean, followed.auprc.std)]


def _matching_loss(result: CellResult) -> pd.Series:
    """The matching loss at each evaluation after the first, by iteration: its mean since the evaluation before."""
    if result.history is None:
        return pd.Series(dtype=float)
    return pd.Series(result.history.loss, index=result.history.iteration, dtype=float).dropna()


STORAGE = Study("Bytes on disk of checkpoints and of curves", lambda plan: _every_cohort(plan, ["btm"]), _storage_page)
FIGURE_1 = Study("Paths, loss along them, and how matching converges", _figure_1_lines, _figure_1_page)
THEOREM = Study(
    "What the theorem speaks of, measured for every expert",
    lambda plan: _every_cohort(plan, list(_RECIPE_TITLES)),
    _theorem_page,
)
