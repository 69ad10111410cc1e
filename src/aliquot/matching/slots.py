"""What trajectory-matching methods differ in: each method is one choice of these slots (see ``methods/``)."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Slots:
    """The exchangeable parts of the one loop; defaults are those of BTM.

    ================  ==========================================================================================
    ``path``          what the student follows: the experts' ``sgd`` checkpoints; the same checkpoints at equal
                      ``displacement``; the ``linear`` way from start to end; a fitted ``bezier`` curve
    ``experts``       how experts are trained: ``sgd``, or ``gsam`` for flatter ends
    ``goal``          what the student is judged by: its ``parameters``, by their distance to the segment's target; or
                      its ``predictions`` on patients, by their distance to the experts'
    ``begin``         where the student begins: on the ``path``; ``fresh``, as networks do; ``both`` in turns
    ``gradient``      of the matching loss by the rows: ``first_order`` or ``full``
    ``labels``        ``hard``; ``teacher``: probabilities of the segment's target network, new at every iteration;
                      ``ensemble``: mean probabilities of all experts' ends; ``learned``: logits, learned beside rows
    ``gate``          iterations whose matching loss is larger move nothing; 0: no gate
    ``average``       β of a running average of rows and labels, a second candidate for the judge; 0: no average
    ``keep``          which rows are the result: the ``best`` on tuning, or the ``last`` average
    ``valid``         whether the student only ever sees valid records
    ================  ==========================================================================================
    """

    path: Literal["sgd", "displacement", "linear", "bezier"] = "bezier"
    experts: Literal["sgd", "gsam"] = "sgd"
    goal: Literal["parameters", "predictions"] = "parameters"
    begin: Literal["path", "fresh", "both"] = "path"
    gradient: Literal["first_order", "full"] = "first_order"
    labels: Literal["hard", "teacher", "ensemble", "learned"] = "hard"
    gate: float = 0.0
    average: float = 0.0
    keep: Literal["best", "last"] = "best"
    valid: bool = False
