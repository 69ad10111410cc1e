"""How much of the paper a budget does: sizes, simulated patients, student steps. What a preset's budget says, it says.

``smoke`` shows that everything runs, and its numbers mean nothing; ``cpu`` is for hours on a few cores; ``paper`` is
literal.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aliquot.errors import SettingsError, known_names


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The size of a reproduction."""

    sizes: tuple[int, ...] = (50, 100, 200, 500)  # rows per class
    series_sizes: tuple[int, ...] = (50, 100, 200, 500)
    steps: tuple[int, ...] = (10, 20, 30, 40, 60, 80)  # of the student, in inner-loop
    steps_size: int = 200  # rows per class there
    looks: int = 4000  # at the tuning part, for every method: the paper's, one in ten iterations
    series_looks: int = 4000
    fractions: Mapping[str, float] = field(default_factory=dict)  # of the simulated cohorts that are not whole
    overrides: tuple[str, ...] = ()
    series_overrides: tuple[str, ...] = ()

    def rows(self, cohort: str) -> tuple[int, ...]:
        """Sizes of a cohort."""
        return self.series_sizes if cohort == "mimic3" else self.sizes

    def changes(self, cohort: str) -> tuple[str, ...]:
        """Settings of a cohort that differ from its preset's at the budget."""
        return (*self.overrides, *(self.series_overrides if cohort == "mimic3" else ()))


PAPER = Scale()
SCALES = {
    "smoke": Scale(
        sizes=(5, 10),
        series_sizes=(5,),
        steps=(10, 30, 80),
        steps_size=10,
        looks=3,
        series_looks=2,
        fractions={"ouh": 0.03, "puh": 0.05, "uhb": 0.1, "eicu": 0.03, "mimic3": 0.01},
        overrides=("evaluation.final_networks=2",),
    ),
    # a matching iteration of MTT with the TCN takes a minute or two at 50 rows per class, and ten times that at 500
    "cpu": Scale(series_sizes=(50,), looks=40, series_looks=5, series_overrides=("match.iterations=20",)),
    "paper": PAPER,
}


def scale_of(budget: str) -> Scale:
    """The scale of a budget; an unknown one is an error."""
    if budget not in SCALES:
        raise SettingsError(f"asked for budget {budget!r}; {known_names(budget, SCALES)}")
    return SCALES[budget]
