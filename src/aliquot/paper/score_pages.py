"""Pages of studies that learn rows and score networks trained on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aliquot.paper import figures
from aliquot.paper.page import Page
from aliquot.paper.published import METRICS, published
from aliquot.paper.results import BEST, FIXED, Found, summarised
from aliquot.paper.statistics import ranks_by_metric, statistics_table
from aliquot.paper.studies import NAMES, OTHER_NETWORKS
from aliquot.paper.tables import UNKNOWN, Block, Table, number, spread
from aliquot.runs.compare import summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCORES = ("AUROC", "AUROC, paper", "AUPRC", "AUPRC, paper", "of full data")
SPREADS = (
    "Mean ± standard deviation over evaluation networks (averaged over seeds) ± standard deviation over condensation "
    "seeds, where there are several; the paper's ± is the former."
)
SHARE = "“Of full data” is AUPRC over that of full data at its best epoch."


def methods_page(study: str, found: Sequence[Found], titles: Mapping[str, str]) -> Page:
    """Methods by cohort and size, statistics over all of them, and AUPRC by size."""
    return _comparison(summarised(study, found), found, "btm", titles)


def starts_page(study: str, found: Sequence[Found], titles: Mapping[str, str]) -> Page:
    """The same for the two starts of BTM; the paper's numbers are those of the real one."""
    frame = summarised(study, found)
    frame.loc[frame["label"] == "Gaussian start", list(frame.filter(like="paper_"))] = np.nan
    return _comparison(frame, found, "real start", titles)


def _comparison(frame: pd.DataFrame, found: Sequence[Found], reference: str, titles: Mapping[str, str]) -> Page:
    tables = [_by_size(titles[cohort], table) for (cohort,), table in _grouped(frame, "cohort")]
    tables[0] = replace(tables[0], notes=[SPREADS, SHARE])
    pictures: dict[str, Figure] = {}
    if frame.loc[frame["rows_per_class"].notna(), "auprc"].notna().any():
        pictures["auprc-by-size"] = figures.by_size(frame, NAMES, titles)
    statistics = statistics_table(found, reference, NAMES)
    if statistics is not None:
        tables.append(statistics)
        pictures["average-ranks"] = figures.average_ranks(ranks_by_metric(found), NAMES)
    return Page(tables, frame, pictures)


def _by_size(title: str, table: pd.DataFrame) -> Table:
    sizes = table[table["rows_per_class"].notna()].sort_values("rows_per_class", kind="stable")
    blocks = [
        Block(f"{size:.0f} rows per class", _score_lines(rows)) for (size,), rows in _grouped(sizes, "rows_per_class")
    ]
    blocks.append(Block("all patients", _score_lines(table[table["rows_per_class"].isna()])))
    return Table(title, ["method", *SCORES], blocks)


def _score_lines(rows: pd.DataFrame) -> list[list[str]]:
    return [[_name(row), *_scores(row)] for _, row in rows.iterrows()]


def _name(row: pd.Series) -> str:
    name = str(row["method"] if row["method"] in (FIXED, BEST) else row["label"])
    return NAMES.get(name, name)


def _scores(row: Mapping[str, Any] | pd.Series) -> list[str]:
    texts = []
    for metric in METRICS:
        ours = spread(row[metric], row[f"{metric}_networks"], row[f"{metric}_seeds"])
        texts.append("failed" if row["failed"] and ours == UNKNOWN else ours)
        texts.append(spread(row[f"paper_{metric}"], row[f"paper_{metric}_std"]))
    return [*texts, number(row["share"], ".1%")]


def networks_page(study: str, found: Sequence[Found], titles: Mapping[str, str]) -> Page:
    """Networks that were not condensed with, trained on the rows."""
    rows = []
    for cohort in dict.fromkeys(one.line.cohort for one in found):
        rows += _networks_of(study, cohort, [one for one in found if one.line.cohort == cohort])
    frame = pd.DataFrame(rows)
    tables = []
    for (cohort,), table in _grouped(frame, "cohort"):
        blocks = [
            Block(f"{NAMES[method]}, {size} rows per class", _network_lines(lines))
            for (method, size), lines in _grouped(table, "method", "rows_per_class")
        ]
        tables.append(Table(titles[cohort], ["network", *SCORES[:-1]], blocks))
    tables[0] = replace(tables[0], notes=[SPREADS, "The first network is that with which rows were learned."])
    return Page(tables, frame)


def _networks_of(study: str, cohort: str, found: Sequence[Found]) -> list[dict[str, Any]]:
    """A row per method, size and network; the first network is the one that was condensed with."""
    base = OTHER_NETWORKS[cohort][0].partition("-")[0]
    lines = []
    for one in found:
        request = one.line.cell.request
        common = {"rows_per_class": request.rows_per_class, "seed": request.seed}
        for network in (base, *OTHER_NETWORKS[cohort]):
            scores = one.result if network == base or one.failed else one.result["others"][network]
            failed = {"failed": one.failed} if one.failed else {}
            lines.append({**scores, **common, **failed, "label": (one.line.method, network)})
    rows = []
    for row in summary(lines).to_dict("records"):
        method, network = row.pop("method")
        paper = published(study, cohort, method, int(row["rows_per_class"]), network)
        said = {f"paper_{metric}{part}": paper.get(metric + part) for metric in METRICS for part in ("", "_std")}
        rows.append({"cohort": cohort, "method": method, "network": network, **row, **said})
    return rows


def _network_lines(rows: pd.DataFrame) -> list[list[str]]:
    return [[row["network"].upper(), *_scores(row)[:-1]] for _, row in rows.iterrows()]


def steps_page(study: str, found: Sequence[Found], titles: Mapping[str, str]) -> Page:
    """Scores by student steps."""
    frame = summarised(study, found)
    steps = {one.line.cell.label: one.line.cell.request.settings.match.student_steps for one in found if one.line.rows}
    frame["steps"] = frame["label"].map(steps)
    swept, whole = frame[frame["steps"].notna()], frame[frame["steps"].isna()]
    blocks = [
        Block(
            NAMES[method],
            [[f"{row['steps']:.0f}", *_scores(row), number(row["seconds"], ".0f")] for _, row in rows.iterrows()],
        )
        for (method,), rows in _grouped(swept, "method")
    ]
    blocks.append(Block("all patients", [[*line, UNKNOWN] for line in _score_lines(whole)]))
    title = f"{titles[found[0].line.cohort]}, {swept['rows_per_class'].max():.0f} rows per class"
    notes = [SPREADS, SHARE, "Seconds are those of the search for rows."]
    pictures = {"inner-loop": figures.by_steps(swept, NAMES, title)} if swept["auprc"].notna().any() else {}
    return Page([Table(title, ["student steps", *SCORES, "seconds"], blocks, notes)], frame, pictures)


def _grouped(table: pd.DataFrame, *names: str) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The rows of a table by some columns, in their order."""
    keys = list(zip(*(table[name] for name in names), strict=True))
    for key in dict.fromkeys(keys):
        yield key, table[[other == key for other in keys]]
