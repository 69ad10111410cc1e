"""Which method is better, over all cohorts, sizes and seeds of a study: ranks and paired tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from aliquot.evaluate.ranking import (
    LEVEL,
    Paired,
    average_ranks,
    critical_difference,
    friedman,
    holm,
    smallest_p,
    wilcoxon,
)
from aliquot.evaluate.results import Summary
from aliquot.grid.cell import CellResult
from aliquot.paper.pages import Table, TableBlock, number
from aliquot.paper.published import PAPER_METRICS
from aliquot.paper.study import Found

_DEPENDENT = (
    "A block is one cohort, size and seed. Blocks of the same cohort share patients, and those of the same seed also "
    "experts: they are not independent, so that p-values are rather too small."
)


@dataclass(frozen=True)
class Ranks:
    """Average ranks by one metric over the blocks in which every method has a score."""

    blocks: int
    average: Mapping[str, float]  # by label, 1 is best
    critical: float | None  # Nemenyi's difference of ranks; None for one block


def scores_by_block(found: Sequence[Found], metric: str) -> pd.DataFrame:
    """Means over evaluation networks: a row per cohort, size and seed, a column per label; gaps where a cell failed."""
    lines = [
        {"block": (one.line.cohort, one.line.rows, one.line.seed), "label": one.line.label, "score": score.mean}
        for one in found
        if one.line.rows is not None and (score := _score(one.result, metric)) is not None
    ]
    return pd.DataFrame(lines).pivot(index="block", columns="label", values="score") if lines else pd.DataFrame()


def _score(result: CellResult, metric: str) -> Summary | None:
    return {"auroc": result.auroc, "auprc": result.auprc}[metric]


def ranks_of(scores: pd.DataFrame) -> Ranks | None:
    """Average ranks of the methods; None where there are not two of them in any block."""
    whole = scores.dropna()
    if not len(whole) or whole.shape[1] < 2:
        return None
    average = dict(zip(whole.columns, average_ranks(whole), strict=True))
    critical = critical_difference(whole.shape[1], len(whole)) if len(whole) > 1 else None
    return Ranks(len(whole), average, critical)


def ranks_by_metric(found: Sequence[Found]) -> dict[str, Ranks]:
    """Average ranks by AUROC and AUPRC, where there are any."""
    ranks = {metric: ranks_of(scores_by_block(found, metric)) for metric in PAPER_METRICS}
    return {metric: one for metric, one in ranks.items() if one is not None}


def paired(scores: pd.DataFrame, reference: str) -> dict[str, Paired]:
    """The reference against each other method, over blocks in which both have a score."""
    rivals = {}
    for label in scores.columns.drop(reference):
        both = scores[[reference, label]].dropna()
        if len(both):
            rivals[label] = wilcoxon(both[reference], both[label])
    return rivals


def statistics_table(found: Sequence[Found], reference: str, names: Mapping[str, str]) -> Table | None:
    """Ranks and p-values of every method, best average rank by AUPRC first; None where nothing can be compared."""
    scores = {metric: scores_by_block(found, metric) for metric in PAPER_METRICS}
    ranks = ranks_by_metric(found)
    if not ranks or reference not in ranks["auprc"].average:
        return None
    by_auprc = ranks["auprc"]
    cells = {label: [names.get(label, label)] for label in sorted(by_auprc.average, key=by_auprc.average.__getitem__)}
    heads, most = ["method"], 0
    for metric, table in scores.items():
        tests = paired(table, reference)
        corrected = dict(zip(tests, holm([test.p_value for test in tests.values()]), strict=True))
        most = max([most, *(test.pairs for test in tests.values())])
        heads += [f"rank, {metric.upper()}", f"{names.get(reference, reference)} ahead", "pairs", "p", "p, Holm"]
        for label, texts in cells.items():
            texts.append(number(ranks[metric].average[label], ".2f"))
            test = tests.get(label)
            texts += [""] * 4 if test is None else _tested(test, corrected[label])
    notes = [_on_ranks(scores, ranks), *_too_few(most, len(cells) - 1), _DEPENDENT]
    return Table(
        "Paired comparison over cohorts, sizes and seeds", heads, [TableBlock("", list(cells.values()))], notes
    )


def _tested(test: Paired, corrected: float) -> list[str]:
    return [f"{test.difference:+.3f}", f"{test.pairs}", _chance(test.p_value), _chance(corrected)]


def _chance(p_value: float) -> str:
    return "<0.001" if p_value < 0.0005 else number(p_value)


def _on_ranks(scores: Mapping[str, pd.DataFrame], ranks: Mapping[str, Ranks]) -> str:
    by_auprc = ranks["auprc"]
    methods = len(by_auprc.average)
    text = f"Average ranks of {methods} methods over {by_auprc.blocks} block{'s' * (by_auprc.blocks != 1)}; 1 is best."
    if by_auprc.critical is None or methods < 3:
        return text
    p_values = [f"p for {metric.upper()} {_chance(friedman(table.dropna()))}" for metric, table in scores.items()]
    return (
        f"{text} Friedman's test that all rank alike: {', '.join(p_values)}. By Nemenyi's test ranks must be "
        f"{by_auprc.critical:.2f} apart to differ at {LEVEL}. P-values are those of Wilcoxon's signed-rank test."
    )


def _too_few(pairs: int, tests: int) -> list[str]:
    least = smallest_p(pairs, tests)
    if least < LEVEL:
        return []
    return [
        f"Too few pairs to say anything: with {pairs} pair{'s' * (pairs != 1)} and {tests} "
        f"comparison{'s' * (tests != 1)} a corrected p-value cannot be below {min(least, np.inf):.2f}, even if one "
        "method were always ahead; more cohorts, sizes or seeds are needed."
    ]
