"""How long a run will still take: the costs of its stages are known before it begins, its pace from what is done.

Costs are counted in rows that pass once forwards and backwards through a network. That is what almost all time goes to.
A run has two networks, that of experts and students and the one which is trained on the rows, and each has its pace; a
stage that goes on has its own. Models of scikit-learn pass no rows through one: their seconds are guessed.
"""

import time
from collections.abc import Iterable, Mapping

from aliquot.context import Progress
from aliquot.methods import Cost
from aliquot.run.progress import MINUTES_LEFT

REMEMBERED = 0.01  # seconds: what took less was kept from an earlier run, and says nothing of the pace


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
    """Hears of stages and of what is done in them, and says how many seconds are left of the whole run."""

    def __init__(self, costs: Mapping[str, Cost]):
        self._costs, self._left = dict(costs), dict.fromkeys(costs, 1.0)  # left: share of a stage that is still to do
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
        cost = self._costs[self._name]
        parts = cost.passes
        if min(parts) == 0 < max(parts) and not cost.bounded:
            pace = self._paces[parts.index(max(parts))]
            pace.note(share * max(parts), seconds)

    def _seconds(self, name: str) -> float:
        """How long a whole stage takes: at its own pace once that is known, else at the paces of its networks."""
        cost = self._costs[name]
        if name == self._name and self._own.times > 1 and not cost.seconds:
            return self._own.of(1.0)
        known = [pace for pace in self._paces if pace.times > 1] or [pace for pace in self._paces if pace.times]
        paces = (pace if pace in known else known[0] for pace in self._paces)
        return cost.seconds + sum(pace.of(rows) for pace, rows in zip(paces, cost.passes, strict=True))


class Stopwatch:
    """Passes progress on with the minutes that are left, and notes how long each stage took."""

    def __init__(self, listener: Progress):
        self.seconds: dict[str, float] = {}  # of what progress was told of
        self.stages: dict[str, float] = {}  # of whole stages of the pipeline
        self.expecting = False
        self._listener, self._forecast, self._running = listener, Forecast({}), ("", 0.0)

    def expect(self, costs: Iterable[Mapping[str, Cost] | None]) -> None:
        """Foretell from the costs of all that is to come; nothing is foretold where one of them is not known."""
        self.expecting, known = True, list(costs)
        if None not in known:
            self._forecast = Forecast({name: cost for one in known for name, cost in (one or {}).items()})

    def stage(self, name: str, total: int) -> None:
        """The stage before ends, a new one begins."""
        self.finish()
        self._running = (name, time.perf_counter())
        self._forecast.stage(name, total)
        self._listener.stage(name, total)

    def advance(self, amount: int = 1, **figures: float) -> None:
        """Pass on, with what is left of the whole run where that is known."""
        left = self._forecast.advance(amount)
        if left is not None:
            figures[MINUTES_LEFT] = left / 60
        self._listener.advance(amount, **figures)

    def finish(self) -> None:
        """The running stage ends."""
        name, since = self._running
        if name:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - since, 2)
        self._running = ("", 0.0)
