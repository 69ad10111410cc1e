"""What happened on the way: figures of every iteration, looks of the judge, and the best rows so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from aliquot.hooks import Judge, Progress, Silence


class Candidate(NamedTuple):
    """Rows as the judge and the result see them."""

    x: np.ndarray
    targets: np.ndarray
    student_lr: float = 0.0


@dataclass(frozen=True)
class Condensed:
    """Synthetic rows as a method leaves them, with the history that led there."""

    x: np.ndarray  # (n, …) the snapshot with the best tuning score
    targets: np.ndarray  # (n,) or (n, C)
    student_lr: float = 0.0
    best_iteration: int = 0
    skipped: int = 0  # iterations that moved nothing: not finite, or stopped by the gate
    history: Mapping[str, np.ndarray] = field(default_factory=dict)  # per iteration: loss, …; per look: judged_at, …
    stored: tuple[str, ...] = ()  # names under which what the student followed was kept
    expert_epochs: int = 0
    expert_seconds: float = 0.0  # that training the experts took, in this run or an earlier one
    notes: tuple[str, ...] = ()  # what a user should know


class History:
    """Figures of every iteration, every look of the judge, and the best rows so far."""

    def __init__(self):
        self.figures: list[dict[str, np.ndarray]] = []
        self.looks: list[tuple[int, float, float, int]] = []  # iteration, tuning score, its spread, which candidate
        self.best: dict[str, np.ndarray] = {}

    @property
    def iterations(self) -> int:
        """How many iterations are done."""
        return sum(len(block["loss"]) for block in self.figures)

    def extend(self, figures: Mapping[str, np.ndarray]) -> None:
        """Add a block's figures, one entry per iteration."""
        self.figures.append({name: np.asarray(column) for name, column in figures.items()})

    def look(self, candidates: Sequence[Candidate], judge: Judge, progress: Progress = Silence()) -> None:
        """Let the judge score the candidates; keep the best one if it is the best yet."""
        verdicts = []
        for one in candidates:
            verdicts.append(judge.rows(one.x, one.targets))
            progress.advance()
        which = int(np.argmax([verdict.mean for verdict in verdicts]))
        verdict = verdicts[which]
        if not self.looks or verdict.mean > max(score for _, score, *_ in self.looks):
            self.best = {name: np.asarray(part) for name, part in candidates[which]._asdict().items()}
        self.looks.append((self.iterations, verdict.mean, verdict.std, which))

    def recent_loss(self) -> float:
        """Mean loss of the last block, over the iterations whose loss was finite."""
        loss = self.figures[-1]["loss"]
        return float(loss[np.isfinite(loss)].mean()) if np.isfinite(loss).any() else float("nan")

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays, to be kept."""
        return {
            **{f"history.{name}": column for name, column in self._columns().items()},
            **{f"best.{name}": part for name, part in self.best.items()},
            "looks": np.asarray(self.looks),
        }

    @classmethod
    def restore(cls, kept: Mapping[str, np.ndarray]) -> "History":
        """The history that :meth:`arrays` wrote."""
        history = cls()
        history.figures = [_under("history.", kept)]
        history.looks = [(int(at), float(score), float(std), int(which)) for at, score, std, which in kept["looks"]]
        history.best = _under("best.", kept)
        return history

    def condensed(self) -> Condensed:
        """The best rows, and how the search for them went."""
        at, scores, spreads, which = (np.asarray(column) for column in zip(*self.looks, strict=True))
        columns = self._columns()
        best = int(np.argmax(scores))
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
