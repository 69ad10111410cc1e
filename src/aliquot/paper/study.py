"""What a study is: a table or figure of the paper as a list of cells, and the page that shows their results.

How much of the paper a budget does is its scale: ``smoke`` shows that everything runs, and its numbers mean nothing;
``cpu`` is for hours on a few cores; ``paper`` is literal. Studies share cells: BTM on eICU at 200 rows per class is in
``table-icu``, the real start of ``initialisation`` and a point of ``inner-loop``, and is run once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aliquot.errors import SettingsError, known_names
from aliquot.grid.cell import FULL, Cell, CellResult, Conditions, Variant, compared_cells
from aliquot.paper.cohorts import PAPER_COHORTS
from aliquot.paper.pages import Page

METHOD_ORDER = ("random", "m3d", "mtt", "tesla", "ftd", "datm", "btm")  # of the paper's tables
OUR_RECIPE = "ours"  # function matching, which is what `default` runs, beside the paper's methods
OUR_BTM = "our-btm"  # BTM with our settings
ALL_PATIENTS = "full"  # instead of a method: trained for the paper's number of epochs
OURS = {OUR_BTM: "btm", OUR_RECIPE: "bfm"}  # the second for tables: of series, BTM is what `default` runs
METHOD_TITLES = {
    "random": "random rows",
    "m3d": "M3D",
    "mtt": "MTT",
    "tesla": "TESLA",
    "ftd": "FTD",
    "datm": "DATM",
    "btm": "BTM",
    OUR_BTM: "BTM, our settings",
    OUR_RECIPE: "BFM, our recipe",
}
OTHER_NETWORKS = {"eicu": ("mlp-1", "mlp-2", "mlp-3", "mlp-4"), "mimic3": ("tcn-1", "tcn-2", "lstm-1", "lstm-2")}
TRANSFERRED = ("random", "btm")  # methods whose rows also train other networks
ABLATED = "eicu"  # the cohort of initialisation, inner-loop and figure-1


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much of the paper is done, apart from what a preset says for the same budget."""

    sizes: tuple[int, ...] = (50, 100, 200, 500)  # rows per class
    series_sizes: tuple[int, ...] = (50, 100, 200, 500)
    steps: tuple[int, ...] = (10, 20, 30, 40, 60, 80)  # of the student, in inner-loop
    steps_size: int = 200  # rows per class there
    evaluations: int = 4000  # of candidates on tuning, for every method: the paper's, one in ten iterations
    series_evaluations: int = 4000
    fractions: Mapping[str, float] = field(default_factory=dict)  # of the simulated cohorts that are not whole
    changes: tuple[str, ...] = ()  # to the settings
    series_changes: tuple[str, ...] = ()

    def sizes_of(self, cohort: str) -> tuple[int, ...]:
        """Rows per class on a cohort."""
        return self.series_sizes if PAPER_COHORTS[cohort].series else self.sizes


BUDGET_SCALES = {
    "smoke": Scale(
        sizes=(5, 10),
        series_sizes=(5,),
        steps=(10, 30, 80),
        steps_size=10,
        evaluations=3,
        series_evaluations=2,
        fractions={"ouh": 0.03, "puh": 0.05, "uhb": 0.1, "eicu": 0.03, "mimic3": 0.01},
        changes=("evaluation.final_networks=2",),
    ),
    # a matching iteration of MTT with the TCN takes a minute or two at 50 rows per class, and ten times that at 500
    "cpu": Scale(series_sizes=(50,), evaluations=40, series_evaluations=5, series_changes=("match.iterations=20",)),
    "paper": Scale(),
}


@dataclass(frozen=True)
class Plan:
    """What all studies of one command have in common; an unknown budget is an error.

    >>> Plan("smoke").scale.sizes
    (5, 10)
    """

    budget: str = "paper"
    seeds: tuple[int, ...] = (0,)

    @property
    def scale(self) -> Scale:
        """How much of the paper the budget does."""
        if self.budget not in BUDGET_SCALES:
            raise SettingsError(f"asked for budget {self.budget!r}; {known_names(self.budget, BUDGET_SCALES)}")
        return BUDGET_SCALES[self.budget]

    def conditions(self, cohort: str) -> Conditions:
        """What all cells on a cohort have in common."""
        scale, series = self.scale, PAPER_COHORTS[cohort].series
        return Conditions(
            preset=f"paper-{cohort}",
            budget=self.budget,
            evaluations=scale.series_evaluations if series else scale.evaluations,
            series=series,
            changes=(*scale.changes, *(scale.series_changes if series else ())),
        )


@dataclass(frozen=True)
class Line:
    """One cell as a study shows it; cohort, method and rows are what ``--only`` chooses by."""

    cohort: str
    method: str
    rows: int | None  # per class; None where there is no such number
    cell: Cell

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.cell.label

    @property
    def seed(self) -> int:
        """The condensation seed."""
        return self.cell.request.seed


@dataclass(frozen=True)
class Found:
    """A line of a study with what its cell gave."""

    line: Line
    result: CellResult

    @property
    def labelled(self) -> CellResult:
        """The result under the label of this study; a study that shares the cell may call it something else."""
        return replace(self.result, label=self.line.label)


@dataclass(frozen=True)
class StudyResults:
    """All that a page is made of: the study's name, its lines with their results, and titles of cohorts."""

    study: str
    found: Sequence[Found]
    titles: Mapping[str, str]

    @property
    def cohorts(self) -> list[str]:
        """The cohorts of the lines, each once."""
        return list(dict.fromkeys(one.line.cohort for one in self.found))

    def of(self, cohort: str) -> list[Found]:
        """The lines of a cohort."""
        return [one for one in self.found if one.line.cohort == cohort]


@dataclass(frozen=True)
class Study:
    """A table or figure of the paper: the cells that it asks for, and the page that their results make."""

    title: str
    lines: Callable[[Plan], list[Line]]
    page: Callable[[StudyResults], Page]


def recipe_variant(method: str, label: str = "", *changes: str) -> Variant:
    """A method with the paper's settings, or one of ours; either may be put on another path.

    >>> recipe_variant("our-btm+sgd")
    Variant(label='our-btm+sgd', method='btm+sgd', preset='default', changes=())
    """
    name, plus, path = method.partition("+")
    if name in OURS:
        return Variant(label or method, f"{OURS[name]}{plus}{path}", "default", changes)
    return Variant(label or method, method, None, changes)


def score_lines(plan: Plan, cohort: str, variants: Sequence[Variant], sizes: Sequence[int]) -> list[Line]:
    """Full data, then every variant at every size, seed by seed, on equal terms.

    Cells whose rows also train other networks do so in every study, so that they are the same cells.
    """
    transferred = _transferred_cells(plan, cohort)
    lines = []
    for cell in compared_cells(variants, sizes, plan.seeds, plan.conditions(cohort)):
        if cell.label == FULL:
            lines.append(Line(cohort, ALL_PATIENTS, None, cell))
            continue
        if any(cell.request == other.request for other in transferred):
            cell = replace(cell, networks=OTHER_NETWORKS[cohort])
        lines.append(Line(cohort, _recipe(cohort, cell), cell.request.rows_per_class, cell))
    return lines


def _transferred_cells(plan: Plan, cohort: str) -> list[Cell]:
    if cohort not in OTHER_NETWORKS:
        return []
    variants = [recipe_variant(method) for method in TRANSFERRED]
    largest = [max(plan.scale.sizes_of(cohort))]
    cells = compared_cells(variants, largest, plan.seeds, plan.conditions(cohort))
    return [cell for cell in cells if cell.label != FULL]


def geometry_lines(plan: Plan, cohort: str, recipes: Sequence[str]) -> list[Line]:
    """What experts and curves are like, with the paper's settings (``btm``) or ours; no rows are learned."""
    variants = [recipe_variant(recipe) for recipe in recipes]
    return [
        Line(cohort, _recipe(cohort, cell), None, replace(cell, kind="geometry"))
        for cell in compared_cells(variants, [1], plan.seeds, plan.conditions(cohort))
        if cell.label != FULL
    ]


def _recipe(cohort: str, cell: Cell) -> str:
    family = cell.request.chosen.family
    if cell.request.preset == f"paper-{cohort}":
        return family
    return next(name for name, method in OURS.items() if method == family)
