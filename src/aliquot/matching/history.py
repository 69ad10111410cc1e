"""What happened on the way: figures of every iteration, looks of the judge, and the best rows so far."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np
from jax import Array

from aliquot.errors import DegenerateSegmentError
from aliquot.hooks import Judge


class Figures(NamedTuple):
    """What one iteration reports."""

    loss: Array
    student_lr: Array
    squared_length: Array
    travelled: Array
    skipped: Array


@dataclass(frozen=True)
class Condensed:
    """Synthetic rows as the loop leaves them, with the history that led there."""

    x: np.ndarray  # (n, …) the snapshot with the best tuning score
    targets: np.ndarray  # (n,) or (n, C)
    student_lr: float
    best_iteration: int
    skipped: int
    history: Mapping[str, np.ndarray]  # per iteration: loss, student_lr, …; per look: judged_at, tuning, tuning_std


class History:
    """Figures of every iteration, every look of the judge, and the best rows so far."""

    def __init__(self):
        self.figures: list[Figures] = []
        self.looks: list[tuple[int, float, float]] = []  # iteration, tuning score, its spread over networks
        self.best: dict[str, np.ndarray] = {}

    def extend(self, figures: Figures) -> None:
        """Add a block's figures; a segment without length is an error, not a NaN."""
        figures = jax.tree.map(np.asarray, figures)
        if (figures.squared_length == 0).any():
            raise DegenerateSegmentError(
                "asked to match trajectory segments, but found one whose start equals its target; "
                "train the experts longer or with a larger learning rate"
            )
        self.figures.append(figures)

    def look(self, iteration: int, x: np.ndarray, targets: np.ndarray, student_lr: float, judge: Judge) -> None:
        """Let the judge score the rows, and keep them if they are the best yet."""
        verdict = judge.rows(x, targets)
        if not self.looks or verdict.mean > max(score for _, score, _ in self.looks):
            self.best = {"x": x, "targets": targets, "student_lr": np.asarray(student_lr)}
        self.looks.append((iteration, verdict.mean, verdict.std))

    def recent_loss(self) -> float:
        """Mean matching loss of the last block, over the iterations that were not skipped."""
        loss = np.asarray(self.figures[-1].loss)
        return float(loss[np.isfinite(loss)].mean()) if np.isfinite(loss).any() else float("nan")

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays, to be kept."""
        parts = {
            f"history.{name}": np.concatenate(column)
            for name, column in zip(Figures._fields, zip(*self.figures, strict=True), strict=True)
        }
        return parts | {f"best.{name}": part for name, part in self.best.items()} | {"looks": np.asarray(self.looks)}

    @classmethod
    def restore(cls, kept: Mapping[str, np.ndarray]) -> "History":
        """The history that :meth:`arrays` wrote."""
        history = cls()
        history.figures = [Figures._make(kept[f"history.{name}"] for name in Figures._fields)]
        history.looks = [(int(iteration), float(score), float(std)) for iteration, score, std in kept["looks"]]
        history.best = {name.removeprefix("best."): part for name, part in kept.items() if name.startswith("best.")}
        return history

    def condensed(self, skipped: int) -> Condensed:
        """The best rows, and how the search for them went."""
        iterations, scores, spreads = (np.asarray(column) for column in zip(*self.looks, strict=True))
        history = {name.removeprefix("history."): part for name, part in self.arrays().items() if "history." in name}
        history |= {"judged_at": iterations, "tuning": scores, "tuning_std": spreads}
        best = int(iterations[np.argmax(scores)])
        return Condensed(self.best["x"], self.best["targets"], float(self.best["student_lr"]), best, skipped, history)
