"""A run on its way, and the stages that it passes through."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import jax

from aliquot.cohort import Cohort, Parts, valid_rows
from aliquot.context import Context
from aliquot.evaluate.evidence import Evidence
from aliquot.matching import Condensed
from aliquot.methods import Cost, Task
from aliquot.presets.settings import Networks
from aliquot.release.condensation import Condensation
from aliquot.run.forecast import Stopwatch
from aliquot.run.request import Request
from aliquot.seeds import streams

UNSET: Any = None  # of what a later stage finds
R = TypeVar("R", bound="Run")


@dataclass(frozen=True, kw_only=True)
class Run:
    """What was asked, and what the stages have found so far. A stage returns the run with more in it."""

    request: Request
    cohort: Cohort = UNSET
    context: Context = Context()
    keep_paths: bool = False  # of the experts, for other methods that share the store
    clock: Stopwatch = UNSET
    parts: Parts = UNSET  # by prepare, as the networks
    networks: Networks = UNSET
    condensed: Condensed = UNSET  # by condense
    evidence: Evidence = UNSET  # by score
    measured: Mapping[str, Any] = UNSET  # by measure, as the report's sections name it
    condensation: Condensation = UNSET  # by release

    @property
    def task(self) -> Task:
        """What the method is given."""
        train, request = self.parts.train, self.request
        return Task(
            self.networks.matched,
            train.x,
            train.labels,
            request.rows_per_class,
            self.context,
            None if self.parts.encoder is None else valid_rows(self.parts.encoder),
            train.patients,
            self.keep_paths,
        )

    @property
    def keys(self) -> dict[str, jax.Array]:
        """A key for each use of randomness."""
        return streams(self.request.seed)


@dataclass(frozen=True)
class Stage:
    """A named step of the pipeline.

    ``cost`` are the parts of the stage that progress is told of, with what they cost; None: nobody knows.
    """

    name: str
    run: Callable[[Any], Any]  # of a run, or of one that carries more; returns the same kind
    cost: Callable[[Any], dict[str, Cost] | None] = lambda run: {}


def run_stages(run: R, stages: Sequence[Stage]) -> R:
    """The run after all stages, which say how long the rest will take as soon as the patients are known."""
    clock = Stopwatch(run.context.progress)
    run = replace(run, clock=clock, context=replace(run.context, progress=clock))
    for place, stage in enumerate(stages):
        if run.networks is not UNSET and not clock.expecting:
            clock.expect([later.cost(run) for later in stages[place:]])
        since = time.perf_counter()
        run = stage.run(run)
        clock.stages[stage.name] = round(time.perf_counter() - since, 2)
    clock.finish()
    return run
