"""Studies that learn rows and score networks trained on them: tables of methods, other networks, starts, steps."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from aliquot.grid.cell import FULL, CellResult
from aliquot.grid.compare import summary_table
from aliquot.paper.cohorts import PAPER_COHORTS
from aliquot.paper.figures import auprc_by_size, rank_dots, scores_by_steps
from aliquot.paper.pages import UNKNOWN, Page, Table, TableBlock, mean_and_spreads, number
from aliquot.paper.published import PAPER_METRICS, published_scores
from aliquot.paper.statistics import ranks_by_metric, statistics_table
from aliquot.paper.study import (
    ABLATED,
    ALL_PATIENTS,
    METHOD_ORDER,
    METHOD_TITLES,
    OTHER_NETWORKS,
    OUR_BTM,
    OURS,
    TRANSFERRED,
    Found,
    Line,
    Plan,
    Study,
    StudyResults,
    recipe_variant,
    score_lines,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BEST_EPOCH = "full best"  # full data at the best epoch on tuning; ALL_PATIENTS is after the paper's number of epochs
_FULL_TITLES = {ALL_PATIENTS: "full data, fixed epochs", _BEST_EPOCH: "full data, best epoch"}
_SWEPT = ("mtt", "tesla", "btm")  # methods of inner-loop
_STARTS = {"real start": "real", "Gaussian start": "gaussian"}
_SCORES = ("AUROC", "AUROC, paper", "AUPRC", "AUPRC, paper", "of full data")
_SPREADS = (
    "Mean ± standard deviation over evaluation networks (averaged over seeds) ± standard deviation over condensation "
    "seeds, where there are several; the paper's ± is the former."
)
_SHARE = "“Of full data” is AUPRC over that of full data at its best epoch."


def _method_lines(plan: Plan, cohorts: Sequence[str]) -> list[Line]:
    lines = []
    for cohort in cohorts:
        ours = [OUR_BTM] if PAPER_COHORTS[cohort].series else [*OURS]
        variants = [recipe_variant(name) for name in (*METHOD_ORDER, *ours)]
        lines += score_lines(plan, cohort, variants, plan.scale.sizes_of(cohort))
    return lines


def _methods_page(results: StudyResults) -> Page:
    """Methods by cohort and size, statistics over all of them, and AUPRC by size."""
    return _comparison(score_frame(results), results, "btm")


def _network_lines(plan: Plan) -> list[Line]:
    return [
        line
        for cohort in OTHER_NETWORKS
        for line in score_lines(
            plan,
            cohort,
            [recipe_variant(name) for name in TRANSFERRED],
            [max(plan.scale.sizes_of(cohort))],
        )
        if line.method != ALL_PATIENTS
    ]


def _networks_page(results: StudyResults) -> Page:
    """Networks that were not condensed with, trained on the rows."""
    frame = pd.DataFrame([row for cohort in results.cohorts for row in _network_rows(results, cohort)])
    tables = []
    for (cohort,), table in _grouped(frame, "cohort"):
        blocks = [
            TableBlock(
                f"{METHOD_TITLES[method]}, {size} rows per class",
                [[row["network"].upper(), *_score_texts(row)[:-1]] for _, row in rows.iterrows()],
            )
            for (method, size), rows in _grouped(table, "method", "rows_per_class")
        ]
        tables.append(Table(results.titles[cohort], ["network", *_SCORES[:-1]], blocks))
    tables[0] = replace(tables[0], notes=[_SPREADS, "The first network is that with which rows were learned."])
    return Page(tables, frame)


def _network_rows(results: StudyResults, cohort: str) -> list[dict[str, Any]]:
    """A row per method, size and network; the first network is the one that was condensed with."""
    own = OTHER_NETWORKS[cohort][0].partition("-")[0]
    networks = {
        f"{method} {network}": (method, network) for method in TRANSFERRED for network in (own, *OTHER_NETWORKS[cohort])
    }
    scores = [
        replace(one.result if network == own else _of_network(one.result, network), label=label)
        for one in results.of(cohort)
        for label, (method, network) in networks.items()
        if method == one.line.method
    ]
    rows = []
    for row in summary_table(scores).to_dict("records"):
        method, network = networks[row.pop("method")]
        paper = published_scores(results.study, cohort, method, int(row["rows_per_class"]), network=network)
        rows.append({"cohort": cohort, "method": method, "network": network, **row, **paper})
    return rows


def _of_network(result: CellResult, network: str) -> CellResult:
    """The scores of another network on the same rows, without the costs of learning them."""
    asked = CellResult(rows_per_class=result.rows_per_class, seed=result.seed, failed=result.failed)
    if result.failed:
        return asked
    return replace(asked, auroc=result.others[network].auroc, auprc=result.others[network].auprc)


def _start_lines(plan: Plan) -> list[Line]:
    variants = [recipe_variant("btm", label, f"start={start}") for label, start in _STARTS.items()]
    return score_lines(plan, ABLATED, variants, plan.scale.sizes_of(ABLATED))


def _starts_page(results: StudyResults) -> Page:
    """As for methods, by starts."""
    frame = score_frame(results)
    return _comparison(frame, results, "real start")


def _step_lines(plan: Plan) -> list[Line]:
    variants = [
        recipe_variant(method, f"{METHOD_TITLES[method]}, {steps} steps", f"match.student_steps={steps}")
        for method in _SWEPT
        for steps in plan.scale.steps
    ]
    return score_lines(plan, ABLATED, variants, [plan.scale.steps_size])


def _steps_page(results: StudyResults) -> Page:
    """Scores by student steps."""
    frame = score_frame(results)
    learned = [one.line for one in results.found if one.line.rows]
    frame["steps"] = frame["label"].map(
        {line.label: line.cell.request.settings.match.student_steps for line in learned}
    )
    swept, whole = frame[frame["steps"].notna()], frame[frame["steps"].isna()]
    blocks = [
        TableBlock(
            METHOD_TITLES[method],
            [[f"{row['steps']:.0f}", *_score_texts(row), number(row["seconds"], ".0f")] for _, row in rows.iterrows()],
        )
        for (method,), rows in _grouped(swept, "method")
    ]
    blocks.append(TableBlock("all patients", [[*line, UNKNOWN] for line in _named_lines(whole)]))
    title = f"{results.titles[ABLATED]}, {swept['rows_per_class'].max():.0f} rows per class"
    notes = [_SPREADS, _SHARE, "Seconds are those of the search for rows."]
    scored = swept["auprc"].notna().any()
    pictures = {"inner-loop": scores_by_steps(swept, METHOD_TITLES, title)} if scored else {}
    return Page([Table(title, ["student steps", *_SCORES, "seconds"], blocks, notes)], frame, pictures)


TABLE_CURIAL = Study(
    "Methods on the three CURIAL sites", lambda plan: _method_lines(plan, ["ouh", "puh", "uhb"]), _methods_page
)
TABLE_ICU = Study("Methods on eICU and MIMIC-III", lambda plan: _method_lines(plan, ["eicu", "mimic3"]), _methods_page)
CROSS_ARCHITECTURE = Study("Rows learned with one network train others", _network_lines, _networks_page)
INITIALISATION = Study("Rows that start from patients or from Gaussians", _start_lines, _starts_page)
INNER_LOOP = Study("Student steps of each matching iteration", _step_lines, _steps_page)


def score_frame(results: StudyResults) -> pd.DataFrame:
    """One row per cohort, label and size: as :func:`~aliquot.grid.compare.summary_table`, and the paper's numbers.

    Full data makes two rows, after the paper's number of epochs and at the best epoch.
    """
    tables = []
    for cohort in results.cohorts:
        found = results.of(cohort)
        methods = {**{one.line.label: one.line.method for one in found}, ALL_PATIENTS: ALL_PATIENTS, FULL: _BEST_EPOCH}
        table = summary_table([result for one in found for result in _summarised_results(one)])
        table = table.rename(columns={"method": "label"})
        table["rows_per_class"] = table["rows_per_class"].where(~table["label"].isin([FULL, ALL_PATIENTS]))
        tables.append(table.assign(cohort=cohort, method=table["label"].map(methods)))
    whole = pd.concat(tables, ignore_index=True)
    paper = [
        published_scores(
            results.study,
            row["cohort"],
            row["method"],
            _rows(row["rows_per_class"]),
            start=_STARTS.get(row["label"]),
        )
        for _, row in whole.iterrows()
    ]
    whole = whole.join(pd.DataFrame(paper))
    front = ["cohort", "method", "label", "rows_per_class"]
    return whole[[*front, *(name for name in whole if name not in front)]]


def _rows(value: float) -> int | None:
    return None if pd.isna(value) else int(value)


def _summarised_results(one: Found) -> list[CellResult]:
    result = one.labelled
    if result.label != FULL:
        return [result]
    fixed = replace(result, label=ALL_PATIENTS)
    if result.fixed_epochs is not None:
        fixed = replace(fixed, auroc=result.fixed_epochs.auroc, auprc=result.fixed_epochs.auprc)
    return [fixed, result]


def _comparison(frame: pd.DataFrame, results: StudyResults, reference: str) -> Page:
    """Tables by cohort and size with what every method is compared with, and pictures."""
    tables = [_by_size(results.titles[cohort], table) for (cohort,), table in _grouped(frame, "cohort")]
    tables[0] = replace(tables[0], notes=[_SPREADS, _SHARE])
    pictures: dict[str, Figure] = {}
    if frame.loc[frame["rows_per_class"].notna(), "auprc"].notna().any():
        pictures["auprc-by-size"] = auprc_by_size(frame, METHOD_TITLES, results.titles)
    statistics = statistics_table(results.found, reference, METHOD_TITLES)
    if statistics is not None:
        tables.append(statistics)
        pictures["average-ranks"] = rank_dots(ranks_by_metric(results.found), METHOD_TITLES)
    return Page(tables, frame, pictures)


def _by_size(title: str, table: pd.DataFrame) -> Table:
    sizes = table[table["rows_per_class"].notna()].sort_values("rows_per_class", kind="stable")
    blocks = [
        TableBlock(f"{size:.0f} rows per class", _named_lines(rows))
        for (size,), rows in _grouped(sizes, "rows_per_class")
    ]
    blocks.append(TableBlock("all patients", _named_lines(table[table["rows_per_class"].isna()])))
    return Table(title, ["method", *_SCORES], blocks)


def _named_lines(rows: pd.DataFrame) -> list[list[str]]:
    return [[_name(row), *_score_texts(row)] for _, row in rows.iterrows()]


def _name(row: pd.Series) -> str:
    name = str(row["method"] if row["method"] in _FULL_TITLES else row["label"])
    return {**METHOD_TITLES, **_FULL_TITLES}.get(name, name)


def _score_texts(row: pd.Series) -> list[str]:
    texts = []
    for metric in PAPER_METRICS:
        ours = mean_and_spreads(row[metric], row[f"{metric}_networks"], row[f"{metric}_seeds"])
        texts.append("failed" if row["failed"] and ours == UNKNOWN else ours)
        texts.append(mean_and_spreads(row[f"paper_{metric}"], row[f"paper_{metric}_std"]))
    return [*texts, number(row["share"], ".1%")]


def _grouped(table: pd.DataFrame, *names: str) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The rows of a table by some columns, in their order."""
    keys = list(zip(*(table[name] for name in names), strict=True))
    for key in dict.fromkeys(keys):
        yield key, table[[other == key for other in keys]]
