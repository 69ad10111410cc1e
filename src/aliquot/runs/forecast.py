"""How long a run will still take: the work of its stages is known before it begins, its pace from what is done.

Work is counted in rows that pass once forwards and backwards through a network. That is what almost all time goes to.
A run has two networks, that of experts and students and the one which is trained on the rows, and each has its pace; a
stage that goes on has its own. Models of scikit-learn pass no rows through one: their seconds are guessed.
"""

import math
import time
from collections.abc import Mapping
from typing import NamedTuple

from aliquot.cohort import Parts
from aliquot.evaluate.transfer import as_table
from aliquot.methods import method_named
from aliquot.runs.settings import Settings

FORWARDS = 1 / 3  # of a pass forwards and backwards
FIRST_ORDER, FULL = 2.5, 4.5  # passes per row and student step, with the gradient of the matching loss
NARROW = 0.8  # a network of an eighth of the parameters costs about a fifth (decision 8)
FOREST = 3.3e-6  # seconds of a random forest per patient, level of its trees and √feature (decision 8)
OTHERS = 5.0  # seconds of the models beside it
REMEMBERED = 0.01  # seconds: what took less was kept from an earlier run, and says nothing of the pace


class Work(NamedTuple):
    """Rows to pass through each of the two networks, in passes through the one that is trained on the rows.

    ``seconds`` of whatever passes through no network. Work that is only ``bounded``, since a look may end it early,
    tells no pace: how much was done is not known.
    """

    matched: float = 0.0  # of experts and students
    trained: float = 0.0  # of the network that is trained on the rows, or on all patients
    seconds: float = 0.0
    bounded: bool = False

    @property
    def passes(self) -> tuple[float, float]:
        """Through the one network and the other."""
        return self.matched, self.trained


def work_of(settings: Settings, method: str, parts: Parts, rows: int, share: float = 1.0) -> dict[str, Work]:
    """What each stage of a run has to do; empty where the method has other stages.

    ``share`` are the parameters of experts and students as a share of those of the network trained on the rows.
    """
    if "slots" not in method_named(method).changes:
        return {}
    small = share**NARROW
    expert, curve, match, how = settings.expert, settings.curve, settings.match, settings.evaluation
    train, tuning, held_out = (len(part.x) for part in (parts.train, parts.tuning, parts.held_out))
    pilots = min(expert.pilots, expert.count) if expert.length == "tuning" else 0
    look = how.search_networks * (how.search_epochs * rows + FORWARDS * tuning) * (2 if settings.slots.average else 1)
    student = min(match.student_batch or rows, rows) * match.student_steps
    passes = FULL if settings.slots.gradient == "full" else FIRST_ORDER
    looks = -(-match.iterations // match.judge_every)
    curves = curve.steps * curve.times * curve.batch_size if settings.slots.path == "bezier" else 0
    features = as_table(parts.train.x[:1]).shape[1]
    final = how.final_networks * (how.final_epochs * rows + FORWARDS * (tuning + held_out))
    return {
        "expert length": Work(matched=small * pilots * expert.epochs * (train + FORWARDS * tuning)),
        "experts": Work(small * (expert.count - pilots) * expert.epochs * train, bounded=expert.length == "tuning"),
        "curves": Work(matched=small * expert.count * curves, bounded=curve.check_every > 0),
        "starting rows": Work(trained=look),
        "matching": Work(small * match.iterations * student * passes, looks * look),
        "full data": Work(trained=how.final_networks * how.full_epochs * (train + FORWARDS * tuning)),
        "held-out evaluation": Work(trained=2 * final),
        "other models": Work(seconds=OTHERS + FOREST * train * math.log2(train) * math.sqrt(features)),
    }


class Pace:
    """Seconds per unit of work; the first time also compiled the program, and counts only while there is no other."""

    def __init__(self):
        self._work, self._seconds, self.times = 0.0, 0.0, 0

    def note(self, work: float, seconds: float) -> None:
        """That much was done in that time."""
        if self.times == 1:
            self._work, self._seconds = 0.0, 0.0
        self._work, self._seconds, self.times = self._work + work, self._seconds + seconds, self.times + 1

    def of(self, work: float) -> float:
        """Seconds for so much work."""
        return work * self._seconds / self._work


class Forecast:
    """Told of stages and of what is done in them, says how many seconds are left of the whole run."""

    def __init__(self, work: Mapping[str, Work]):
        self._work, self._left = dict(work), dict.fromkeys(work, 1.0)  # left: share of a stage that is still to do
        self._paces = Pace(), Pace()
        self._name, self._total, self._since, self._own = "", 0, 0.0, Pace()

    def stage(self, name: str, total: int) -> None:
        """A stage begins; whatever was left of the one before is done."""
        self._left.pop(self._name, None)
        self._name, self._total, self._since, self._own = name, max(total, 1), time.perf_counter(), Pace()

    def advance(self, amount: int) -> float | None:
        """Seconds left of the run once ``amount`` more is done; None while no pace is known."""
        now = time.perf_counter()
        took, self._since = now - self._since, now
        if self._name in self._left and amount:
            share = amount / self._total
            self._left[self._name] = max(0.0, self._left[self._name] - share)
            if took > REMEMBERED:
                self._note(share, took)
        if not any(pace.times for pace in self._paces):
            return None
        return sum(left * self._seconds(name) for name, left in self._left.items())

    def _note(self, share: float, seconds: float) -> None:
        """A stage with one network tells that network's pace, and every stage its own."""
        self._own.note(share, seconds)
        work = self._work[self._name]
        parts = work.passes
        if min(parts) == 0 < max(parts) and not work.bounded:
            pace = self._paces[parts.index(max(parts))]
            pace.note(share * max(parts), seconds)

    def _seconds(self, name: str) -> float:
        """How long a whole stage takes: at its own pace once that is known, else at the paces of its networks."""
        work = self._work[name]
        if name == self._name and self._own.times > 1 and not work.seconds:
            return self._own.of(1.0)
        known = [pace for pace in self._paces if pace.times > 1] or [pace for pace in self._paces if pace.times]
        paces = (pace if pace in known else known[0] for pace in self._paces)
        return work.seconds + sum(pace.of(rows) for pace, rows in zip(paces, work.passes, strict=True))
