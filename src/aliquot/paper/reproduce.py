"""Studies of the paper into a folder: cells once through the grid, then a page of each study with its caption."""

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from aliquot.context import Progress
from aliquot.errors import FileError, RunFolderError, SettingsError, known_names
from aliquot.grid.executors import Executor
from aliquot.grid.grid import Entry, run_grid
from aliquot.identity import versions
from aliquot.paper import ALL_STUDIES, STUDIES
from aliquot.paper.cohorts import PAPER_COHORTS, SIMULATION, cohort_source, cohort_titles
from aliquot.paper.figures import picture_style
from aliquot.paper.pages import Caption, Page, write_page
from aliquot.paper.published import notes_on
from aliquot.paper.study import ALL_PATIENTS, Found, Line, Plan, Study, StudyResults
from aliquot.run.private import locked

_KILLED = {"private"}  # all that is there if a grid was killed as it began
_COUNTED = {  # settings that budgets change, as people call them
    "expert.count": "experts",
    "expert.epochs": "epochs of an expert",
    "curve.steps": "steps of a curve's fit",
    "match.iterations": "matching iterations",
    "distribution.iterations": "iterations of M3D",
    "evaluation.search_networks": "networks per evaluation on tuning",
    "evaluation.search_epochs": "epochs per evaluation on tuning",
    "evaluation.final_networks": "evaluation networks",
    "evaluation.final_epochs": "epochs on rows",
    "evaluation.full_epochs": "epochs on full data",
}
_OF_EXPERTS = ("expert.count", "expert.epochs", "curve.steps")  # what counts where no rows are learned
_SIMULATED = (
    "The patients are simulated in the shape of the paper's cohorts: no finding on them is real, and numbers cannot be "
    "compared with the paper's, which stand beside them for orientation only."
)


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """What is asked for: studies at a budget on cohorts, and of them only some lines."""

    name: str  # of a study, or ALL_STUDIES
    budget: str = "cpu"
    cohorts: str = SIMULATION  # or a folder with the real files
    seeds: int = 1
    only: tuple[str, ...] = ()

    @property
    def simulated(self) -> bool:
        """Whether patients are simulated."""
        return self.cohorts == SIMULATION

    @property
    def plan(self) -> Plan:
        """What all its studies have in common."""
        return Plan(self.budget, tuple(range(self.seeds)))

    def command(self) -> str:
        """The command that does it.

        >>> Reproduction(name="storage", only=("ouh", "btm")).command()
        'aliquot reproduce storage --cohorts simulated --budget cpu --seeds 1 --only ouh,btm'
        """
        words = ["aliquot", "reproduce", self.name, "--cohorts", self.cohorts, "--budget", self.budget]
        return shlex.join([*words, "--seeds", str(self.seeds), *(["--only", ",".join(self.only)] if self.only else [])])

    def lines(self) -> dict[str, list[Line]]:
        """The lines of every study that was asked for; a name that does not exist is an error that lists what does."""
        names = list(STUDIES) if self.name == ALL_STUDIES else [self.name]
        if names[0] not in STUDIES:
            known = known_names(self.name, [*STUDIES, ALL_STUDIES])
            raise SettingsError(f"asked to reproduce {self.name!r}; {known}")
        return chosen_lines({name: STUDIES[name].lines(self.plan) for name in names}, self.only)


def chosen_lines(lines: Mapping[str, Sequence[Line]], only: Sequence[str]) -> dict[str, list[Line]]:
    """Of the lines of studies, those of the cohorts, methods and rows per class named in ``only``.

    Several of one kind are alternatives. Full data stays as what others are measured by, and lines without a number of
    rows stay whatever number is asked for. Studies of which nothing but full data stays are left out.
    """
    every = [line for part in lines.values() for line in part]
    known = {
        "cohort": list(dict.fromkeys(line.cohort for line in every)),
        "method": list(dict.fromkeys(line.method for line in every if line.method != ALL_PATIENTS)),
        "rows": sorted({str(line.rows) for line in every if line.rows is not None}, key=int),
    }
    unknown = [word for word in only if not any(word in words for words in known.values())]
    if unknown:
        texts = [f"{kind} {', '.join(words)}" for kind, words in known.items() if words]
        raise SettingsError(f"asked for --only {unknown[0]}; known here: {'; '.join(texts)}")
    wanted = {kind: [word for word in only if word in words] for kind, words in known.items()}

    def stays(line: Line) -> bool:
        return (
            (not wanted["cohort"] or line.cohort in wanted["cohort"])
            and (not wanted["method"] or line.method in (*wanted["method"], ALL_PATIENTS))
            and (not wanted["rows"] or line.rows is None or str(line.rows) in wanted["rows"])
        )

    kept = {name: [line for line in part if stays(line)] for name, part in lines.items()}
    kept = {name: part for name, part in kept.items() if any(line.method != ALL_PATIENTS for line in part)}
    if not kept:
        raise SettingsError(f"asked for --only {','.join(only)}, but no study has lines of all of these; ask for fewer")
    return kept


def reproduce_into(folder: Path, asked: Reproduction, executor: Executor, progress: Progress) -> dict[str, str]:
    """Run what is not finished, and write every study; the Markdown of each by name.

    Cells that several studies share are run once. ``folder/cells`` keeps finished ones, so that the same call goes on
    where it was stopped, ``folder/NAME`` has table.html, table.md, table.csv, table.tex and the pictures.
    """
    studies = asked.lines()
    _check_folders(folder, asked)
    fractions = asked.plan.scale.fractions
    entries: dict[Any, Entry] = {}
    for line in (line for lines in studies.values() for line in lines):
        if _same(line) not in entries:
            source = cohort_source(line.cohort, asked.cohorts, fractions.get(line.cohort, 1.0))
            entries[_same(line)] = Entry(source, line.cell)
    texts, titles = {}, cohort_titles(asked.cohorts)
    with locked(folder / "private"):
        results = dict(zip(entries, run_grid(folder, list(entries.values()), executor, progress), strict=True))
        for name, lines in studies.items():
            page = _page(
                STUDIES[name], StudyResults(name, [Found(line, results[_same(line)]) for line in lines], titles)
            )
            texts[name] = write_page(folder / name, page, study_caption(asked, name, lines))
    return texts


def _check_folders(folder: Path, asked: Reproduction) -> None:
    if folder.is_dir() and not (folder / "grid.json").is_file() and {path.name for path in folder.iterdir()} - _KILLED:
        raise RunFolderError(f"asked to write to {folder}, but it holds other files; choose an empty or new folder")
    if not asked.simulated and not Path(asked.cohorts).is_dir():
        raise FileError(
            f"asked for cohorts from {asked.cohorts!r}, but that is no folder; name one that holds curial/, eicu/ and "
            f"mimic3/, or say --cohorts {SIMULATION}"
        )


def _same(line: Line) -> tuple[Any, ...]:
    """What makes lines of two studies one cell: everything but how they call it."""
    return line.cohort, line.cell.kind, line.cell.networks, line.cell.request


def _page(study: Study, results: StudyResults) -> Page:
    """The page of a study, with the reasons of cells that failed under its first table."""
    with picture_style():
        page = study.page(results)
    first, *rest = page.tables
    failed = [one for one in results.found if one.result.failed]
    reasons = [f"Failed – {_in_words(one.line)}: {one.result.failed}." for one in failed]
    return replace(page, tables=[replace(first, notes=[*first.notes, *reasons]), *rest])


def _in_words(line: Line) -> str:
    size = "" if line.rows is None else f", {line.rows} rows per class"
    return f"{line.cohort}, {line.label}{size}, seed {line.seed}"


def study_caption(asked: Reproduction, name: str, lines: Sequence[Line]) -> Caption:
    """What stands around a study: what the budget leaves out, whose patients, and how to do it again."""
    used = list(dict.fromkeys(line.cohort for line in lines))
    less = reductions(asked, used, learned=any(line.cell.kind == "rows" for line in lines))
    short = f"Budget {asked.budget}, which does less than the paper – {' '.join(less)}"
    titles = ", ".join(PAPER_COHORTS[cohort].title for cohort in used)
    patients = _SIMULATED if asked.simulated else f"Patients: {titles}, real files."
    packages = ", ".join(f"{package} {number}" for package, number in versions().items())
    return Caption(
        title=STUDIES[name].title,
        budget=asked.budget,
        reductions=short if less else f"Budget {asked.budget}: the paper's counts.",
        patients=f"{patients} {asked.seeds} condensation seed{'s' * (asked.seeds != 1)}.",
        further=notes_on(name),
        made=f"`{asked.command()}`, {time.strftime('%Y-%m-%d')}, {packages}.",
        note=f"budget {asked.budget}" + (", simulated patients" if asked.simulated else ""),
    )


def reductions(asked: Reproduction, used: Sequence[str], *, learned: bool = True) -> list[str]:
    """How the budget falls short of the paper, cohort by cohort; empty where it does not.

    ``learned`` is whether rows are learned; otherwise only experts and curves count.

    >>> reductions(Reproduction(name="table-curial", budget="paper"), ["ouh"])
    []
    """
    by_text: dict[str, list[str]] = {}
    for name in used:
        text = "; ".join(_smaller(name, asked.plan, learned))
        by_text.setdefault(text, []).append(PAPER_COHORTS[name].title)
    fractions = asked.plan.scale.fractions
    parts = [f"{PAPER_COHORTS[name].title} {fractions[name]:.0%}" for name in used if name in fractions]
    fewer = [f"Of the simulated patients: {', '.join(parts)}."] if parts and asked.simulated else []
    return [*(f"{', '.join(names)}: {text}." for text, names in by_text.items() if text), *fewer]


def _smaller(cohort: str, plan: Plan, learned: bool) -> list[str]:
    papers_plan = Plan("paper")
    ours, papers = plan.conditions(cohort), papers_plan.conditions(cohort)
    settings = (ours.settings(), papers.settings())
    counts = {
        title: tuple(map(attrgetter(path), settings))
        for path, title in _COUNTED.items()
        if learned or path in _OF_EXPERTS
    }
    if learned:
        counts["evaluations on tuning"] = (ours.evaluations, papers.evaluations)
    texts = [f"{title} {less:,} instead of {whole:,}" for title, (less, whole) in counts.items() if less != whole]
    less, whole = (", ".join(map(str, one.scale.sizes_of(cohort))) for one in (plan, papers_plan))
    return [*texts, f"rows per class {less} instead of {whole}"] if learned and less != whole else texts
