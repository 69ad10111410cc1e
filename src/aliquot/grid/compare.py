"""Methods side by side: every cell once, then one table as CSV, Markdown and HTML."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aliquot.cohort import Cohort
from aliquot.context import Progress
from aliquot.drafts import write_atomically
from aliquot.evaluate.metrics import REPORTED
from aliquot.grid.cell import FULL, Cell, CellResult
from aliquot.grid.executors import Executor
from aliquot.grid.executors.local import Local
from aliquot.grid.grid import Entry, run_grid
from aliquot.identity import identity, versions
from aliquot.release.report.comparison import ComparisonBlock, comparison_page
from aliquot.release.report.dots import method_scores
from aliquot.run.folder import COMPARISON, claimed
from aliquot.run.source import Source

HEADS = ["method", "AUROC", "AUPRC", "of full", "behind the best", "seconds", "experts, s", "trajectories", "skipped"]
COSTS = ("seconds", "expert_seconds", "trajectory_bytes", "skipped", "iterations")


def legend(own_split: bool) -> str:
    """What the numbers of the table are; with the user's own split, a seed does not decide it."""
    decides = (
        "experts and everything else but the split, which is your own"
        if own_split
        else ("split, experts and everything else")
    )
    return (
        "Mean ± standard deviation over evaluation networks (averaged over seeds) ± standard deviation over seeds; a "
        f"seed decides {decides}. “Behind the best” is the paired difference in AUPRC to the best method of the block "
        "± its standard deviation over seeds. Random rows are drawn again for every evaluation network. “Seconds” are "
        "those of the search, “experts” those of training them once for all methods that share them."
    )


def compare_into(
    folder: Path,
    source: Source,
    cells: Sequence[Cell],
    progress: Progress,
    *,
    cohort: Cohort | None = None,
    executor: Executor | None = None,
) -> pd.DataFrame:
    """Run all cells that are not finished; write ``comparison.csv``, ``.md`` and ``.html``, and ``cells.csv``.

    The table has one line per method and size. A cell that fails does not stop the others; its reason is in the table,
    and it is tried again next time. A folder may be extended: finished cells of the same data are not run again.
    ``cohort`` is what ``source.read()`` gave, if that is known already; ``executor`` says where cells are run, by
    default in this process.
    """
    cohort = source.read() if cohort is None else cohort
    plan = {"kind": COMPARISON, "name": identity(COMPARISON, cohort.fingerprint), "versions": versions()}
    with claimed(folder, {**plan, "source": asdict(source)}):
        entries = [Entry(source, cell) for cell in cells]
        results = run_grid(folder, entries, executor or Local(), progress, cohorts={source: cohort})
        table, said = summary_table(results), legend(cohort.split is not None)
        write_atomically(folder / "cells.csv", _flat(results).to_csv(index=False).encode())
        write_atomically(folder / "comparison.csv", table.to_csv(index=False).encode())
        write_atomically(folder / "comparison.md", as_markdown(table, said).encode())
        write_atomically(folder / "comparison.html", as_page(table, said).encode())
    return table


def summary_table(results: Sequence[CellResult]) -> pd.DataFrame:
    """One line per method and size: means over seeds, spread over networks and over seeds, cost.

    ``*_networks`` is the standard deviation over evaluation networks, averaged over seeds; ``*_seeds`` that of the
    means over seeds, which for one seed is missing. ``share`` is AUPRC over that of full data at its best epoch, and
    ``behind`` the mean paired difference in AUPRC to the best method of the same size, with its spread over seeds.
    """
    full = {one.seed: one.auprc.mean for one in results if one.label == FULL and one.auprc is not None}
    rows = []
    for label, size in dict.fromkeys((one.label, one.rows_per_class) for one in results):
        group = [one for one in results if (one.label, one.rows_per_class) == (label, size)]
        rows.append(_row(label, size, group, full))
    _add_paired(rows)
    return pd.DataFrame(rows).drop(columns="by_seed")


def _row(label: str, size: int, group: list[CellResult], full: dict[int, float]) -> dict[str, Any]:
    done = [one for one in group if not one.failed]
    row: dict[str, Any] = {"method": label, "rows_per_class": None if label == FULL else size, "seeds": len(done)}
    for metric in REPORTED:
        scores = [getattr(one, metric) for one in done]
        means = np.array([score.mean for score in scores])
        row[metric] = means.mean() if done else np.nan
        row[f"{metric}_networks"] = np.mean([score.std for score in scores]) if done else np.nan
        row[f"{metric}_seeds"] = means.std(ddof=1) if len(done) > 1 else np.nan
    bars = [full[one.seed] for one in done if one.seed in full]
    row["share"] = row["auprc"] / np.mean(bars) if bars else np.nan
    for cost in COSTS:
        known = [value for one in done if (value := getattr(one, cost)) is not None]
        row[cost] = np.mean(known) if known else np.nan
    row["failed"] = next((one.failed for one in group if one.failed), "")
    row["by_seed"] = {one.seed: one.auprc.mean for one in done if one.auprc is not None}
    return row


def _add_paired(rows: list[dict[str, Any]]) -> None:
    """The difference to the best method of the same size, seed by seed: the split's luck is the same for both."""
    for row in rows:
        rivals = [other for other in rows if other["rows_per_class"] == row["rows_per_class"] and other["by_seed"]]
        best = max(rivals, key=lambda other: other["auprc"], default=None)
        theirs = {} if best is None else best["by_seed"]
        pairs = [score - theirs[seed] for seed, score in row["by_seed"].items() if seed in theirs]
        row["behind"] = np.mean(pairs) if pairs else np.nan
        row["behind_seeds"] = np.std(pairs, ddof=1) if len(pairs) > 1 else np.nan


def blocks(table: pd.DataFrame) -> Iterator[tuple[str, list[list[str]]]]:
    """The table as people read it: a title and lines for each size, best AUPRC first."""
    lines: list[dict[str, Any]] = [dict(line) for _, line in table.sort_values("auprc", ascending=False).iterrows()]
    for size in sorted(table["rows_per_class"].dropna().unique()):
        yield f"{size:.0f} rows per class", [_cells(line) for line in lines if line["rows_per_class"] == size]
    yield "all patients, best epoch", [_cells(line) for line in lines if line["method"] == FULL]


def as_markdown(table: pd.DataFrame, said: str) -> str:
    """The blocks as Markdown, with a legend."""
    texts = []
    for title, lines in blocks(table):
        rule = ["---"] + ["--:"] * (len(HEADS) - 1)
        texts.append("\n".join([f"**{title}**", "", *(f"| {' | '.join(line)} |" for line in (HEADS, rule, *lines))]))
    return "\n\n".join([*texts, said]) + "\n"


def as_page(table: pd.DataFrame, said: str) -> str:
    """The blocks as one HTML page that loads nothing from elsewhere, with a picture for each size."""
    full = table.loc[table["method"] == FULL, "auprc"].mean()
    pictures = []
    for size, group in table.dropna(subset=["rows_per_class", "auprc"]).groupby("rows_per_class"):
        best_first = group.sort_values("auprc", ascending=False)
        entries = list(zip(*(best_first[name] for name in ("method", "auprc", "auprc_networks")), strict=True))
        title = f"AUPRC, {size:.0f} rows per class"
        pictures.append(method_scores(f"rows-{size:.0f}", title, entries, None if pd.isna(full) else full))
    return comparison_page(
        "Methods side by side",
        [ComparisonBlock(title, HEADS, lines) for title, lines in blocks(table)],
        figures=pictures,
        notes=[said],
        data=json.loads(table.to_json(orient="records")),
    )


def _cells(row: dict[str, Any]) -> list[str]:
    if row["failed"]:
        return [row["method"], f"failed: {row['failed']}", *[""] * 7]
    return [
        row["method"],
        _spread(row, "auroc"),
        _spread(row, "auprc"),
        f"{row['share']:.1%}",
        "best" if row["behind"] == 0 else _number(row["behind"], "+.3f") + _number(row["behind_seeds"], ".3f", " ± "),
        _number(row["seconds"], ".0f"),
        _number(row["expert_seconds"], ".0f"),
        megabytes(row["trajectory_bytes"]),
        _number(row["skipped"], ".0f"),
    ]


def _spread(row: dict[str, Any], metric: str) -> str:
    parts = (f"{row[metric]:.3f}", _number(row[f"{metric}_networks"], ".3f"), _number(row[f"{metric}_seeds"], ".3f"))
    return " ± ".join(part for part in parts if part)


def _number(value: float, form: str, before: str = "") -> str:
    return "" if pd.isna(value) else f"{before}{value:{form}}"


def megabytes(size: float) -> str:
    """Bytes as people read them.

    >>> megabytes(2_500_000), megabytes(0)
    ('2.5 MB', '–')
    """
    return "–" if pd.isna(size) or not size else f"{size / 1e6:.1f} MB"


def _flat(results: Sequence[CellResult]) -> pd.DataFrame:
    """Every cell as a line: nested names joined by dots, without the history."""
    lines = [{**one.to_json(), "notes": "; ".join(one.notes)} for one in results]
    whole = pd.json_normalize(lines)
    return whole.drop(columns=[name for name in whole if str(name).startswith("history.")])
