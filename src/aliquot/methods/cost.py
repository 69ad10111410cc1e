"""What stages of a method cost, counted in rows that pass once forwards and backwards through a network."""

from typing import TYPE_CHECKING, NamedTuple

from aliquot.experts import pilot_count

if TYPE_CHECKING:
    from aliquot.methods.settings import MethodSettings

FORWARDS = 1 / 3  # of a pass forwards and backwards
FIRST_ORDER, FULL_GRADIENT = 2.5, 4.5  # passes per row and student step, with the gradient of the matching loss


class Cost(NamedTuple):
    """Rows to pass through each of the two networks, in passes through the one that is trained on the rows.

    ``seconds`` of whatever passes through no network. A cost that is only ``bounded``, since an evaluation may end the
    stage early, tells no pace: how much was done is not known.
    """

    matched: float = 0.0  # of experts and students
    trained: float = 0.0  # of the network that is trained on the rows, or on all patients
    seconds: float = 0.0
    bounded: bool = False

    @property
    def passes(self) -> tuple[float, float]:
        """Through the one network and the other."""
        return self.matched, self.trained


class Sizes(NamedTuple):
    """What the costs of a method's stages depend on, apart from its settings."""

    rows: int  # synthetic
    train: int  # patients
    tuning: int
    classes: int
    matched: float  # cost of a pass through the network of experts and students, in passes through the other one
    evaluation: float  # passes of one candidate's evaluation on tuning


def search_cost(iterations: int, judge_every: int, passes: float, candidates: int, sizes: Sizes) -> dict[str, Cost]:
    """The stages of a search: the starting rows are evaluated, then iterations of so many passes each."""
    evaluations = -(-iterations // judge_every) * candidates
    return {
        "starting rows": Cost(trained=sizes.evaluation),
        "matching": Cost(sizes.matched * iterations * passes, evaluations * sizes.evaluation),
    }


def expert_cost(settings: "MethodSettings", sizes: Sizes) -> dict[str, Cost]:
    """The stages in which experts are trained."""
    expert = settings.expert
    pilots = pilot_count(expert)
    watched = sizes.matched * pilots * expert.epochs * (sizes.train + FORWARDS * sizes.tuning)
    others = sizes.matched * (expert.count - pilots) * expert.epochs * sizes.train
    return {
        "expert length": Cost(matched=watched),
        "experts": Cost(others, bounded=expert.length != "fixed"),
    }


def trajectory_cost(settings: "MethodSettings", sizes: Sizes, *, candidates: int, curves: bool) -> dict[str, Cost]:
    """All stages of a trajectory method."""
    curve, match = settings.curve, settings.match
    passes = _student_passes(settings, sizes)
    fitted = curve.steps * curve.times * curve.batch_size if curves else 0
    return {
        **expert_cost(settings, sizes),
        "curves": Cost(matched=sizes.matched * settings.expert.count * fitted, bounded=curve.check_every > 0),
        **search_cost(match.iterations, match.judge_every, passes, candidates, sizes),
    }


def _student_passes(settings: "MethodSettings", sizes: Sizes) -> float:
    """Of one iteration: the student's way, back through its window and, where it is asked, on what it is asked."""
    match, slots = settings.match, settings.slots
    window = min(match.window or match.student_steps, match.student_steps)
    fresh = {"path": 0.0, "fresh": 1.0, "both": 0.5}[slots.begin]
    gradient = FULL_GRADIENT if slots.gradient == "full" else FIRST_ORDER
    asked = min(match.questions, sizes.train) if slots.goal == "predictions" else 0
    steps = fresh * (match.student_steps - window) + gradient * window
    return min(match.student_batch or sizes.rows, sizes.rows) * steps + asked


def distribution_cost(settings: "MethodSettings", sizes: Sizes) -> dict[str, Cost]:
    """The search of M3D and DM: features of all rows with a gradient, of a batch of patients without."""
    how = settings.distribution
    steps = sizes.classes if how.step == "class" else 1
    passes = steps * (sizes.rows + FORWARDS * sizes.classes * how.real_batch)
    return search_cost(how.iterations, how.judge_every, passes, 1, sizes)
