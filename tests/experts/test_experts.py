from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aliquot.experts import ExpertSettings, train_experts
from aliquot.networks import as_targets
from aliquot.runs.store import Notebook

SETTINGS = ExpertSettings(count=5, epochs=4, learning_rate=0.1, batch_size=64, block=2, pilots=2)


@pytest.fixture(scope="module")
def train(blobs, small_network):
    (x, labels), _ = blobs

    def run(settings=SETTINGS, **options):
        return train_experts(
            small_network, settings, jnp.asarray(x), as_targets(labels, 2), key=jax.random.key(3), **options
        )

    return run


def test_experts_differ_and_have_moved(train):
    experts = train()
    assert experts.start.shape == experts.end.shape == (5, 57)
    assert experts.epochs == 4
    assert experts.path is None
    assert (experts.start != experts.end).any(axis=1).all()
    assert len(np.unique(experts.end[:, 0])) == 5


def test_blocks_do_not_change_experts(train):
    np.testing.assert_allclose(train().end, train(replace(SETTINGS, block=5)).end, rtol=1e-4, atol=1e-6)


def test_every_epoch_on_request(train):
    experts = train(keep_path=True)
    assert experts.path.shape == (5, 5, 57)
    assert (experts.path[:, -1] == experts.end).all()


def test_length_is_chosen_on_tuning(train, small_judge):
    chosen = train(replace(SETTINGS, length="tuning", epochs=6), judge=small_judge).epochs
    assert 1 <= chosen <= 6


def test_the_chosen_length_is_where_the_judge_peaks(train, blobs):
    class Early:
        """Likes networks less the longer they were trained."""

        x = blobs[1][0]

        def __init__(self):
            self.calls = 0

        def score(self, logits):
            self.calls += 1
            return -float(np.abs(logits).mean())

    assert train(replace(SETTINGS, length="tuning", epochs=6), judge=Early()).epochs <= 2


def test_kept_blocks_are_not_trained_again(train):
    memory = Notebook()
    whole = train(memory=memory)
    memory.keep("experts-2", {part: np.zeros_like(value) for part, value in memory.recall("experts-2").items()})
    again = train(memory=memory)
    assert (again.end[2:4] == 0).all()
    assert (again.end[[0, 1, 4]] == whole.end[[0, 1, 4]]).all()
