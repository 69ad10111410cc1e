"""The results of a run as values: everything that is in ``metrics.json``.

What the sections of the report measure beyond these is kept as JSON in ``Results.further`` under the names that the
sections give it; :meth:`aliquot.release.report.section.Section.read` gives it back typed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aliquot.evaluate.record import Record
from aliquot.methods import Method, get_method

KEYS = (  # of metrics.json, in the order in which they are written; those of other sections come last
    *(
        "method",
        "about_method",
        "rows_per_class",
        "seed",
        "preset",
        "budget",
        "start",
        "real_rows",
        "notes",
        "versions",
        "data",
    ),
    *("held_out", "calibration", "transfer", "ranking", "subgroups", "features", "outside_range", "copying"),
    *("learning", "tuning", "seconds", "storage_bytes", "settings", "paths"),
)
TRAINED_ON = ("random", "aliquot", "full", "full_best_epoch")  # what networks are trained on, as results are shown


@dataclass(frozen=True)
class Summary(Record):
    """A metric over several networks."""

    mean: float
    std: float  # of a sample: divided by n - 1; 0 for a single network
    n: int


@dataclass(frozen=True)
class Scores(Record):
    """Metrics over several networks; in groups of patients AUROC and AUPRC alone."""

    auroc: Summary
    auprc: Summary
    log_loss: Summary | None = None
    brier: Summary | None = None
    calibration_slope: Summary | None = None


@dataclass(frozen=True)
class HeldOut(Record):
    """Scores on held_out by what the networks were trained on."""

    aliquot: Scores
    random: Scores | None = None
    full: Scores | None = None
    full_best_epoch: Scores | None = None

    def by_source(self) -> dict[str, Scores]:
        """The scores that are there, in the order in which they are shown."""
        found = {source: getattr(self, source) for source in TRAINED_ON}
        return {source: scores for source, scores in found.items() if scores is not None}


@dataclass(frozen=True, kw_only=True)
class Data(Record):
    """The patients; counts under ten as ``"<10"``."""

    patients: int
    columns: int
    features: int
    steps: int | None = None  # of series
    classes: tuple[str, ...]
    prevalence: tuple[float, ...]
    licence: str | None = None
    train: tuple[int | str, ...]  # patients of each class
    tuning: tuple[int | str, ...]
    held_out: tuple[int | str, ...]


@dataclass(frozen=True)
class Tuning(Record):
    """What was chosen on the tuning part, and on the way there."""

    best_iteration: int | None = None
    iterations: int | None = None
    skipped: int | None = None
    expert_epochs: int | None = None
    full_best_epoch: int | None = None


@dataclass(frozen=True)
class Storage(Record):
    """Bytes of the curves, and of all checkpoints of the experts had they been kept."""

    curves: int | None = None
    trajectories_if_dense: int | None = None


@dataclass(frozen=True)
class AboutMethod(Record):
    """What a reader must know of a method, who may not have it."""

    title: str
    selects_rows: bool  # its rows are real patients
    uses_start: bool  # its rows are learned from a start
    origin: str | None = None  # of other rows

    @classmethod
    def of(cls, method: Method) -> "AboutMethod":
        """As the method declares itself."""
        return cls(method.title, method.selects_rows, method.uses_start, method.origin or None)


@dataclass(frozen=True, kw_only=True)
class Results(Record):
    """All results of a run; ``further`` has what sections of the report measured, by its name in ``metrics.json``."""

    method: str
    about_method: AboutMethod | None = None  # None in old releases
    rows_per_class: int
    seed: int
    preset: str | None = None
    budget: str | None = None
    start: str | None = None
    real_rows: bool | None = None
    notes: tuple[str, ...] | None = None
    versions: Mapping[str, str]
    data: Data
    held_out: HeldOut
    tuning: Tuning | None = None
    seconds: Mapping[str, float] | None = None  # of each stage
    storage_bytes: Storage | None = None
    settings: Mapping[str, Any] | None = None

    @property
    def method_facts(self) -> AboutMethod:
        """About the method; in old releases as Aliquot knows it."""
        return self.about_method or AboutMethod.of(get_method(self.method))

    def to_json(self) -> dict[str, Any]:
        """The content of ``metrics.json``."""
        place = {name: number for number, name in enumerate(KEYS)}
        return dict(sorted(super().to_json().items(), key=lambda item: place.get(item[0], len(KEYS))))
