"""The paper's tables and figures as lists of cells: which cohorts, methods, sizes and seeds each of them asks for.

Studies share cells: BTM on eICU at 200 rows per class is in ``table-icu``, the real start of ``initialisation`` and a
point of ``inner-loop``, and is run once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from aliquot.paper.scale import PAPER, Scale
from aliquot.runs.cells import FULL, Cell, Variant, cells_of

METHODS = ("random", "m3d", "mtt", "tesla", "ftd", "datm", "btm")  # in the order of the paper's tables
OURS = "ours"  # BTM with the recipe that measured best here, beside the paper's
NAMES = {
    **{"random": "random rows", "m3d": "M3D", "mtt": "MTT", "tesla": "TESLA", "ftd": "FTD", "datm": "DATM"},
    **{"btm": "BTM", OURS: "BTM, our recipe"},
    **{"full": "full data, fixed epochs", "full best": "full data, best epoch"},
}
CURIAL, ICU = ("ouh", "puh", "uhb"), ("eicu", "mimic3")
EVERY = (*CURIAL, *ICU)
OTHER_NETWORKS = {"eicu": ("mlp-1", "mlp-2", "mlp-3", "mlp-4"), "mimic3": ("tcn-1", "tcn-2", "lstm-1", "lstm-2")}
TRANSFERRED = ("random", "btm")  # methods whose rows also train other networks
ABLATED = "eicu"  # the cohort of initialisation, inner-loop and figure-1
SWEPT = ("mtt", "tesla", "btm")  # methods of inner-loop
PATHS = ("+sgd", "+linear", "")  # that figure-1 follows; without a name the curve


@dataclass(frozen=True)
class Plan:
    """What all studies of one command have in common."""

    budget: str = "paper"
    seeds: tuple[int, ...] = (0,)
    scale: Scale = PAPER


@dataclass(frozen=True)
class Line:
    """One cell as a study shows it; cohort, method and rows are what ``--only`` chooses by."""

    cohort: str
    method: str
    rows: int | None  # per class; None where there is no such number
    cell: Cell


@dataclass(frozen=True)
class Study:
    """A table or figure of the paper."""

    title: str
    lines: Callable[[Plan], list[Line]]


def _variant(cohort: str, method: str, label: str = "", overrides: tuple[str, ...] = ()) -> Variant:
    """A method with the paper's settings, or BTM with our recipe; either may be put on another path."""
    name, plus, path = method.partition("+")
    ours = name == OURS
    return Variant(
        label or method, f"btm{plus}{path}" if ours else method, f"default-{cohort}" if ours else None, overrides
    )


def _cells(plan: Plan, cohort: str, variants: Sequence[Variant], sizes: Sequence[int]) -> list[Cell]:
    """Full data, then every variant at every size, seed by seed, on equal terms."""
    scale, series = plan.scale, cohort == "mimic3"
    return cells_of(
        variants,
        sizes,
        plan.seeds,
        preset=f"paper-{cohort}",
        budget=plan.budget,
        looks=scale.series_looks if series else scale.looks,
        series=series,
        overrides=scale.changes(cohort),
    )


def _lines(plan: Plan, cohort: str, variants: Sequence[Variant], sizes: Sequence[int]) -> list[Line]:
    """The cells as lines. Those whose rows also train other networks do so in every study, to be the same cells."""
    most = (max(plan.scale.rows(cohort)),) if cohort in OTHER_NETWORKS else ()
    literal = [_variant(cohort, method) for method in TRANSFERRED]
    carried = [cell.request for cell in _cells(plan, cohort, literal, most) if cell.label != FULL]
    lines = []
    for cell in _cells(plan, cohort, variants, sizes):
        if cell.label == FULL:
            lines.append(Line(cohort, "full", None, cell))
            continue
        if cell.request in carried:
            cell = replace(cell, networks=OTHER_NETWORKS[cohort])
        lines.append(Line(cohort, _method(cohort, cell), cell.request.rows_per_class, cell))
    return lines


def _method(cohort: str, cell: Cell) -> str:
    return cell.request.method.partition("+")[0] if cell.request.preset == f"paper-{cohort}" else OURS


def _methods(cohorts: Sequence[str]) -> Callable[[Plan], list[Line]]:
    def lines(plan: Plan) -> list[Line]:
        compared = (*METHODS, OURS)
        return [
            line
            for cohort in cohorts
            for line in _lines(plan, cohort, [_variant(cohort, name) for name in compared], plan.scale.rows(cohort))
        ]

    return lines


def _networks(plan: Plan) -> list[Line]:
    return [
        line
        for cohort in OTHER_NETWORKS
        for line in _lines(
            plan, cohort, [_variant(cohort, name) for name in TRANSFERRED], [max(plan.scale.rows(cohort))]
        )
        if line.method != "full"
    ]


def _starts(plan: Plan) -> list[Line]:
    starts = {"real start": "real", "Gaussian start": "gaussian"}
    variants = [_variant(ABLATED, "btm", label, (f"start={start}",)) for label, start in starts.items()]
    return _lines(plan, ABLATED, variants, plan.scale.rows(ABLATED))


def _student_steps(plan: Plan) -> list[Line]:
    variants = [
        _variant(ABLATED, method, f"{NAMES[method]}, {steps} steps", (f"match.student_steps={steps}",))
        for method in SWEPT
        for steps in plan.scale.steps
    ]
    return _lines(plan, ABLATED, variants, [plan.scale.steps_size])


def _ways(cohorts: Sequence[str], recipes: Sequence[str]) -> Callable[[Plan], list[Line]]:
    """What experts and curves are like, with the paper's settings (``btm``) or ours; no rows are learned."""

    def lines(plan: Plan) -> list[Line]:
        return [
            Line(cohort, _method(cohort, cell), None, replace(cell, kind="ways"))
            for cohort in cohorts
            for cell in _cells(plan, cohort, [_variant(cohort, recipe) for recipe in recipes], [1])
            if cell.label != FULL
        ]

    return lines


def _figure_1(plan: Plan) -> list[Line]:
    recipes = ("btm", OURS)
    along = [_variant(ABLATED, recipe + path) for recipe in recipes for path in PATHS]
    fewest = [min(plan.scale.rows(ABLATED))]
    followed = [line for line in _lines(plan, ABLATED, along, fewest) if line.method != "full"]
    return [*_ways([ABLATED], recipes)(plan), *followed]


STUDIES = {
    "table-curial": Study("Methods on the three CURIAL sites", _methods(CURIAL)),
    "table-icu": Study("Methods on eICU and MIMIC-III", _methods(ICU)),
    "cross-architecture": Study("Rows learned with one network train others", _networks),
    "initialisation": Study("Rows that start from patients or from Gaussians", _starts),
    "storage": Study("Bytes on disk of checkpoints and of curves", _ways(EVERY, ["btm"])),
    "inner-loop": Study("Student steps of each matching iteration", _student_steps),
    "figure-1": Study("Paths, loss along them, and how matching converges", _figure_1),
    "theorem": Study("What the theorem speaks of, measured for every expert", _ways(EVERY, ["btm", OURS])),
}
