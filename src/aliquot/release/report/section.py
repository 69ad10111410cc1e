"""What a section of the report is: one module and one template in ``sections``, found by being there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

from aliquot.evaluate.evidence import Evidence
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Results
from aliquot.release.condensation import Condensation

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Check:
    """A question that a custodian asks first, its answer, and whether it must be heeded."""

    question: str
    answer: str
    heed: bool
    order: int  # among the answers
    loud: bool = False
    section: str | None = None  # where more is said


@dataclass(frozen=True, kw_only=True)
class Section(Generic[R]):
    """A part of the page, with everything that makes it.

    Each field of ``result`` is a key of ``metrics.json``, and a section that measures something names one after
    itself. Old releases lack some: the fields of ``result`` are then None or empty, and ``is_there`` says whether that
    leaves anything to show. ``content`` gives the template its tables and figures, next to ``result`` (the
    condensation) and ``results``.
    """

    key: str  # of its module, its template and its heading
    title: str
    order: int  # on the page
    result: type[R] = Record  # pyright: ignore[reportAssignmentType]
    measure: Callable[[Evidence], R] | None = None
    is_there: Callable[[Results], bool] = lambda results: True
    content: Callable[[Condensation], Mapping[str, Any]] = lambda result: {}
    checks: Callable[[Condensation], Sequence[Check]] = lambda result: ()

    def read(self, results: Results) -> R:
        """What the section measured, as far as the results hold it."""
        own = {field.name for field in fields(self.result)}
        return self.result.from_json({name: value for name, value in results.further.items() if name in own})
