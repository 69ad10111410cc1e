"""A small numerical example of every method, frozen: a change of behaviour that nobody meant is seen here.

Double precision, a fixed seed, a handful of iterations. When a change is meant, write the numbers again with
``python tests/methods/test_frozen.py`` and say in the commit why they moved.
"""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

from aliquot.context import Context, Verdict
from aliquot.methods import METHODS, Task, get_method
from aliquot.networks import mlp
from aliquot.presets.settings import load_settings

FROZEN = Path(__file__).with_name("frozen.json")
NAMES = [*METHODS, "mtt+bezier", "btm+linear", "mtt+displacement", "btm:paper", "datm:official"]
SETTINGS = {
    "expert": {"count": 3, "epochs": 4, "learning_rate": 0.1, "batch_size": 32, "length": "fixed"},
    "curve": {"steps": 10, "check_every": 0},
    "match": {"iterations": 6, "judge_every": 3, "student_steps": 3, "student_lr": 0.1, "segment": {"epochs": 2}},
    "distribution": {"iterations": 6, "judge_every": 3, "real_batch": 16},
    "gradients": {"iterations": 2, "judge_every": 1, "outer_steps": 2, "inner_epochs": 2, "real_batch": 16},
}


class LikesTheLast:
    """Scores every evaluation higher than the one before, so that nothing hangs on a tie."""

    x = np.zeros((1, 5))

    def __init__(self):
        self.evaluations = 0

    def score(self, logits):
        return 0.0

    def rows(self, x, targets):
        self.evaluations += 1
        return Verdict(float(self.evaluations), 0.0)


def example(name: str) -> dict[str, float]:
    """A few sums of what the method returns; to be called in double precision."""
    rng = np.random.default_rng(7)
    labels = (np.arange(120) % 3 == 0).astype(np.int32)
    x = rng.normal(size=(120, 5)) + 0.8 * labels[:, None]
    network = mlp(5, 2, (6,), 0.23)  # a shape of its own: networks are cached, with their precision
    method, _, preset = name.partition(":")
    settings = load_settings(preset or "default", "smoke", method=method, rows_per_class=3, changes=SETTINGS)
    task = Task(network, x, labels, 3, Context(LikesTheLast()))
    got = get_method(method).condense(task, settings, key=jax.random.key(11))
    sums = {
        "rows": got.x.sum(),
        "squares": (got.x**2).sum(),
        "slope": got.x.ravel() @ np.arange(got.x.size),
        "targets": got.targets @ np.arange(len(got.targets)),
        "student_lr": got.student_lr,
    }
    if "loss" in got.history:
        sums["loss"] = got.history["loss"].sum()
    return {key: float(value) for key, value in sums.items()}


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_as_they_were(name, x64):
    frozen = json.loads(FROZEN.read_text("utf-8"))[name]
    got = example(name)
    assert got.keys() == frozen.keys()
    for key, value in frozen.items():
        assert got[key] == pytest.approx(value, rel=1e-6, abs=1e-9), key


if __name__ == "__main__":
    with jax.enable_x64(True):
        FROZEN.write_text(json.dumps({name: example(name) for name in NAMES}, indent=1) + "\n", "utf-8")
