"""What happened on the way: figures of every iteration, evaluations on tuning, and the best rows so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from aliquot.context import Judge


class Candidate(NamedTuple):
    """Rows as the judge and the result see them."""

    x: np.ndarray
    targets: np.ndarray
    student_lr: float = 0.0


@dataclass(frozen=True)
class Condensed:
    """Synthetic rows as a method leaves them, with the history that led there."""

    x: np.ndarray  # (n, …) the rows that were kept
    targets: np.ndarray  # (n,) or (n, C)
    student_lr: float = 0.0
    best_iteration: int = 0
    skipped: int = 0  # iterations that moved nothing: not finite, or stopped by the gate
    history: Mapping[str, np.ndarray] = field(
        default_factory=dict
    )  # per iteration loss, …; per evaluation judged_at, …
    stored: tuple[str, ...] = ()  # names under which what the student followed was kept
    expert_epochs: int = 0
    expert_seconds: float = 0.0  # that training the experts took, in this run or an earlier one
    notes: tuple[str, ...] = ()  # what a user should know


class Evaluation(NamedTuple):
    """What the judge said of the candidates after so many iterations."""

    iteration: int
    score: float  # of the best candidate, on tuning
    spread: float
    candidate: int  # which one was the best


class History:
    """Figures of every iteration, every evaluation by the judge, and the best rows so far, or the last ones."""

    def __init__(self, keep: str = "best"):
        self.keep = keep
        self.figures: list[dict[str, np.ndarray]] = []
        self.evaluations: list[Evaluation] = []
        self.best: dict[str, np.ndarray] = {}

    @property
    def iterations(self) -> int:
        """How many iterations are done."""
        return sum(len(block["loss"]) for block in self.figures)

    def extend(self, figures: Mapping[str, np.ndarray]) -> None:
        """Add a block's figures, one entry per iteration."""
        self.figures.append({name: np.asarray(column) for name, column in figures.items()})

    def evaluate(self, candidates: Sequence[Candidate], judge: Judge) -> None:
        """Let the judge score the candidates; keep the best one if it is the best yet, or always."""
        verdicts = [judge.rows(one.x, one.targets) for one in candidates]
        which = int(np.argmax([verdict.mean for verdict in verdicts]))
        verdict = verdicts[which]
        if self.keep == "last" or not self.evaluations or verdict.mean > max(one.score for one in self.evaluations):
            self.best = {name: np.asarray(part) for name, part in candidates[which]._asdict().items()}
        self.evaluations.append(Evaluation(self.iterations, verdict.mean, verdict.std, which))

    def recent_loss(self) -> float:
        """Mean loss of the last block, over the iterations whose loss was finite."""
        loss = self.figures[-1]["loss"]
        return float(loss[np.isfinite(loss)].mean()) if np.isfinite(loss).any() else float("nan")

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays, to be kept."""
        return {
            **{f"history.{name}": column for name, column in self._columns().items()},
            **{f"best.{name}": part for name, part in self.best.items()},
            "evaluations": np.asarray(self.evaluations),
        }

    @classmethod
    def restore(cls, kept: Mapping[str, np.ndarray], keep: str = "best") -> "History":
        """The history that :meth:`arrays` wrote."""
        history = cls(keep)
        history.figures = [_under("history.", kept)]
        history.evaluations = [
            Evaluation(int(at), float(score), float(spread), int(which))
            for at, score, spread, which in kept["evaluations"]
        ]
        history.best = _under("best.", kept)
        return history

    def condensed(self) -> Condensed:
        """The best rows, and how the search for them went."""
        at, scores, spreads, which = (np.asarray(column) for column in zip(*self.evaluations, strict=True))
        columns = self._columns()
        best = len(scores) - 1 if self.keep == "last" else int(np.argmax(scores))
        return Condensed(
            x=np.asarray(self.best["x"]),
            targets=np.asarray(self.best["targets"]),
            student_lr=float(self.best["student_lr"]),
            best_iteration=int(at[best]),
            skipped=int(sum(columns[name].sum() for name in ("skipped", "gated") if name in columns)),
            history={**columns, "judged_at": at, "tuning": scores, "tuning_std": spreads, "candidate": which},
        )

    def _columns(self) -> dict[str, np.ndarray]:
        names = self.figures[0] if self.figures else ()
        return {name: np.concatenate([block[name] for block in self.figures]) for name in names}


def _under(prefix: str, kept: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): np.asarray(part) for name, part in kept.items() if name.startswith(prefix)}
