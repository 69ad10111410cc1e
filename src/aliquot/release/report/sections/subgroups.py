"""For whom it works: the rows beside all patients in groups of held-out patients."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aliquot.evaluate.evidence import Evidence
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Results, Scores
from aliquot.evaluate.subgroups import Group, subgroup_scores
from aliquot.release.condensation import Condensation
from aliquot.release.report.dots import SOURCE_COLOURS, SOURCE_MARKS
from aliquot.release.report.facts import count, mean_std_n
from aliquot.release.report.section import Check, Section
from aliquot.release.report.svg import Colour, Drawing, canvas, drawing, drawn, styled

NO_SUBGROUPS = "Subgroups of patients were not scored: for whom the rows work less well was not measured."
WELL = 0.97  # of what all patients reach
_PAIR = {"full_best_epoch": "all patients", "aliquot": "these rows"}
_LONGEST = 22  # letters of a group's name


@dataclass(frozen=True)
class _Result(Record):
    subgroups: Mapping[str, tuple[Group, ...]]  # by column


@dataclass(frozen=True)
class Scored:
    """A group with scores."""

    column: str
    group: Group
    ours: Scores
    whole: Scores  # of networks trained on all patients

    @property
    def behind(self) -> float:
        """AUROC of the rows less that of all patients."""
        return self.ours.auroc.mean - self.whole.auroc.mean


def _measure(evidence: Evidence) -> _Result:
    compared = {name: evidence.logits[name] for name in ("aliquot", "full_best_epoch")}
    return _Result(subgroup_scores(evidence.groups, evidence.labels, compared, evidence.patients))


def scored_groups(results: Results) -> list[Scored]:
    """All groups that are large enough for scores; may be empty."""
    groups = ((column, group) for column, found in _columns(results).items() for group in found)
    return [
        Scored(column, group, group.aliquot, group.full_best_epoch)
        for column, group in groups
        if group.aliquot is not None and group.full_best_epoch is not None
    ]


def _columns(results: Results) -> Mapping[str, tuple[Group, ...]]:
    return SECTION.read(results).subgroups or {}


def _content(result: Condensation) -> dict[str, Any]:
    columns, scored = _columns(result.results), scored_groups(result.results)
    shown = []
    for number, (column, groups) in enumerate(columns.items()):
        found = [one for one in scored if one.column == column]
        figures = drawn(*(_figure(found, number, metric) for metric in ("auprc", "auroc")))
        shown.append({"name": column, "figures": figures, "rows": _table(groups)})
    return {"columns": shown}


def _table(groups: tuple[Group, ...]) -> list[list[str]]:
    """Patients and scores of each group of a column; small groups without."""
    table = [
        ["group", "patients", "AUPRC, these rows", "AUPRC, all patients", "AUROC, these rows", "AUROC, all patients"]
    ]
    for group in groups:
        pair = (group.aliquot, group.full_best_epoch)
        cells = [mean_std_n(getattr(scores, metric, None)) for metric in ("auprc", "auroc") for scores in pair]
        table.append([group.name, _patients(group), *cells])
    return table


def _figure(groups: list[Scored], number: int, metric: str) -> Drawing | None:
    """One line per group of a column: networks trained on these rows and on all patients."""
    if len(groups) < 2:
        return None
    column = groups[0].column
    found = {one.group.name: {key: getattr(getattr(one.group, key), metric) for key in _PAIR} for one in groups}
    with styled():
        figure, axes = canvas(height=0.95 + 0.3 * len(groups))
        for place, pair in enumerate(found.values()):
            means = [summary.mean for summary in pair.values()]
            axes.plot(means, [place, place], color=Colour.INK, alpha=0.25, linewidth=1.5, zorder=1)
            for key, summary in pair.items():
                interval = [summary.mean - summary.std, summary.mean + summary.std]
                axes.plot(interval, [place, place], color=SOURCE_COLOURS[key], linewidth=3, alpha=0.5)
                named = _PAIR[key] if place == 0 else None
                axes.plot(summary.mean, place, SOURCE_MARKS[key], color=SOURCE_COLOURS[key], markersize=7, label=named)
        axes.set_yticks(range(len(groups)), [f"{_short(one.group.name)} ({_patients(one.group)})" for one in groups])
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=5)
        axes.set_xlabel(metric.upper())
        figure.legend(loc="outside upper left", ncols=2, columnspacing=1.2, handletextpad=0.2, borderaxespad=0)
        return drawing(
            figure,
            name=f"groups-{number}-{metric}",
            title=f"{metric.upper()} by {column}",
            description="; ".join(
                f"{name}: " + ", ".join(f"{_PAIR[key]} {summary.mean:.3f}" for key, summary in pair.items())
                for name, pair in found.items()
            ),
            caption=f"{metric.upper()} by {column}",
        )


def _patients(group: Group) -> str:
    return "not shown" if group.patients is None else count(group.patients)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _checks(result: Condensation) -> list[Check]:
    question, scored = "For whom less well?", scored_groups(result.results)
    if not scored:
        return [Check(question, NO_SUBGROUPS, heed=True, order=60)]
    worst = min(scored, key=lambda one: one.behind)
    ours, whole = worst.ours.auroc.mean, worst.whole.auroc.mean
    answer = f"Of {len(scored)} groups most for {worst.column} = {worst.group.name}: "
    answer += f"AUROC {ours:.3f}, all patients {whole:.3f}."
    return [Check(question, answer, heed=ours < WELL * whole, order=60, section="subgroups")]


SECTION = Section(
    key="subgroups",
    title="For whom it works",
    order=60,
    result=_Result,
    measure=_measure,
    is_there=lambda results: bool(_columns(results)),
    content=_content,
    checks=_checks,
)
