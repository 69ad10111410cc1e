"""One cell of a grid: a method at a size with a seed. A pure function of these and of the data.

A cell passes through the same stages as a run. A finished cell is one JSON file named by everything that decides it;
cells of one folder share experts, curves and full-data networks through one store.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Scores, Summary
from aliquot.grid.geometry import PathsResult
from aliquot.identity import identity
from aliquot.methods import Method, get_method
from aliquot.methods.method import NEEDS
from aliquot.presets.settings import Change, Settings, default_method, load_settings
from aliquot.run.request import PROTOCOL, Request

FULL = "full data"  # label of the cell that trains on all patients


@dataclass(frozen=True)
class Cell:
    """What is asked of one cell; its label is what tables call it.

    ============  =======================================================================================
    ``rows``      condense, and score the rows on held_out
    ``full``      train on all patients
    ``geometry``  no rows: experts, their curves, and what both are like
    ============  =======================================================================================

    ``networks`` are other networks to train on the same rows, or on all patients.
    """

    label: str
    request: Request
    kind: Literal["rows", "full", "geometry"] = "rows"
    networks: tuple[str, ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """What it shares with others: experts, curves, whole paths of experts."""
        return {"rows": self.request.chosen.needs, "full": frozenset(), "geometry": NEEDS}[self.kind]

    def name(self, data: str) -> str:
        """The name of its file: made of the data's fingerprint and of everything that decides the result."""
        return identity("cell", data, self.kind, self.networks, self._decisive())

    def experts(self, data: str) -> str:
        """The name of the experts that it trains or finds trained."""
        settings = self.request.settings
        return identity("experts", data, settings.network, settings.expert, settings.slots.experts, self.request.seed)

    def _decisive(self) -> dict[str, Any]:
        if self.kind == "rows":
            return self.request.decisive()
        own = ("expert", "curve", "slots") if self.kind == "geometry" else ()
        sections = {name: getattr(self.request.settings, name) for name in (*PROTOCOL, *own)}
        return {**sections, "seed": self.request.seed}


@dataclass(frozen=True)
class Evaluations(Record):
    """Every evaluation on tuning: its iteration, the mean loss since the one before, the score."""

    iteration: tuple[int, ...] = ()
    loss: tuple[float | None, ...] = ()  # none before the first iteration
    tuning: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CellResult(Record):
    """What a cell gave. Which fields are set depends on its kind; a cell that failed has only the reason.

    All scores are AUROC and AUPRC on held_out, over several networks.
    """

    label: str = ""
    cohort: str = ""
    method: str = ""
    preset: str = ""
    budget: str = ""
    rows_per_class: int = 0
    seed: int = 0
    failed: str = ""  # why there is no result
    auroc: Summary | None = None
    auprc: Summary | None = None
    others: Mapping[str, Scores] = field(default_factory=dict)  # of other networks
    tuning: float | None = None
    iterations: int | None = None
    best_iteration: int | None = None
    skipped: int | None = None
    seconds: float | None = None  # of the search
    expert_seconds: float | None = None  # of training the experts once for all that share them
    expert_epochs: int | None = None
    trajectory_bytes: int | None = None
    notes: tuple[str, ...] = ()
    history: Evaluations | None = None
    rows_sha256: str = ""
    fixed_epochs: Scores | None = None  # of full data: after the protocol's number of epochs
    best_epoch: int | None = None  # of full data: the one that ``auroc`` and ``auprc`` are of
    paths: PathsResult | None = None


@dataclass(frozen=True)
class Variant:
    """A method as it is compared: with a preset of its own, and with single settings changed."""

    label: str
    method: str | Method
    preset: str | None = None  # None: as all others
    changes: tuple[Change, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Variant":
        """The variant of ``METHOD[+PATH][:PRESET]``, as in ``btm``, ``mtt+bezier`` or ``btm:paper``."""
        method, _, preset = text.partition(":")
        return cls(text, method, preset or None)


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What all cells of a comparison have in common.

    Network, encoder and evaluation are those of ``preset`` for all, and the judge sees equally many candidates of every
    method, ``evaluations`` after the starting rows.
    """

    preset: str = "default"
    budget: str = "cpu"
    evaluations: int = 40
    series: bool = False
    changes: tuple[Change, ...] = ()

    def settings(self) -> Settings:
        """The settings that decide the protocol."""
        return load_settings(self.preset, self.budget, series=self.series, changes=self.changes)


def compared_cells(
    variants: Sequence[Variant], sizes: Sequence[int], seeds: Sequence[int], conditions: Conditions | None = None
) -> list[Cell]:
    """All cells of a comparison, seed by seed: full data, then every variant at every size."""
    conditions = conditions or Conditions()
    common, budget = conditions.settings(), conditions.budget
    everybody = {"settings": common, "method": default_method(conditions.preset, series=conditions.series)}

    def cell(variant: Variant, size: int, seed: int) -> Cell:
        asked = {"method": variant.method, "rows_per_class": size}
        preset, changes = variant.preset or conditions.preset, (*conditions.changes, *variant.changes)
        settings = load_settings(preset, budget, series=conditions.series, changes=changes, **asked)
        settings = _on_equal_terms(get_method(variant.method), settings, common, conditions.evaluations)
        return Cell(variant.label, Request(settings=settings, seed=seed, preset=preset, budget=budget, **asked))

    cells = []
    for seed in seeds:
        request = Request(**everybody, rows_per_class=1, seed=seed, preset=conditions.preset, budget=budget)
        cells.append(Cell(FULL, request, "full"))
        cells += [cell(variant, size, seed) for size in sizes for variant in variants]
    return cells


def _on_equal_terms(method: Method, settings: Settings, common: Settings, evaluations: int) -> Settings:
    """A method's settings with the protocol that all share; which network is matched is the method's own choice."""
    candidates = method.candidates(settings)

    def every(iterations: int) -> int:
        return -(-iterations * candidates // evaluations)

    return replace(
        settings,
        network=replace(common.network, matched=settings.network.matched),
        encoder=common.encoder,
        evaluation=common.evaluation,
        match=replace(settings.match, judge_every=every(settings.match.iterations)),
        distribution=replace(settings.distribution, judge_every=every(settings.distribution.iterations)),
        gradients=replace(settings.gradients, judge_every=every(settings.gradients.iterations)),
    )
