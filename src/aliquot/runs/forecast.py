"""How long a run will still take: the work of its stages is known before it begins, its pace from what is done.

Work is counted in rows that pass once forwards and backwards through the network. That is what almost all time goes
to, and for large networks the pace is the same in every stage.
"""

import time
from collections.abc import Mapping

from aliquot.cohort import Parts
from aliquot.methods import method_named
from aliquot.runs.settings import Settings

FORWARDS = 1 / 3  # of a pass forwards and backwards
FIRST_ORDER, FULL = 2.5, 4.5  # passes per row and student step, with the gradient of the matching loss
NARROW = 0.8  # a network of an eighth of the parameters costs about a fifth (decision 8)
REMEMBERED = 0.01  # seconds: what took less was kept from an earlier run, and says nothing of the pace


def work_of(settings: Settings, method: str, parts: Parts, rows: int, share: float = 1.0) -> dict[str, float]:
    """Rows to pass through the network in each stage of a run; empty where the method has other stages.

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
    final = how.final_networks * (how.final_epochs * rows + FORWARDS * (tuning + held_out))
    return {
        "expert length": small * pilots * expert.epochs * (train + FORWARDS * tuning),
        "experts": small * (expert.count - pilots) * expert.epochs * train,
        "curves": small * expert.count * curves,
        "starting rows": look,
        "matching": small * match.iterations * student * passes + looks * look,
        "full data": how.final_networks * how.full_epochs * (train + FORWARDS * tuning),
        "held-out evaluation": 2 * final,
    }


class Forecast:
    """Told of stages and of what is done in them, says how many seconds are left of the whole run."""

    def __init__(self, work: Mapping[str, float]):
        self._left = dict(work)  # work of stages that have not ended
        self._name, self._total, self._since = "", 0, 0.0
        self._done, self._seconds, self._timed = 0.0, 0.0, 0  # work and time that tell the pace, and how often

    def stage(self, name: str, total: int) -> None:
        """A stage begins; whatever was left of the one before is done."""
        self._left.pop(self._name, None)
        self._name, self._total, self._since = name, total, time.perf_counter()
        self._unit = self._left.get(name, 0.0) / max(total, 1)

    def advance(self, amount: int) -> float | None:
        """Seconds left of the run once ``amount`` more is done; None while the pace is not known."""
        now = time.perf_counter()
        took, work = now - self._since, amount * self._unit
        self._since = now
        if work:
            self._left[self._name] = max(0.0, self._left[self._name] - work)
        if took > REMEMBERED:
            if self._timed == 1:  # the first time also compiled the program, and counts only while there is no other
                self._done, self._seconds = 0.0, 0.0
            self._done, self._seconds, self._timed = self._done + work, self._seconds + took, self._timed + 1
        return sum(self._left.values()) * self._seconds / self._done if self._done else None
