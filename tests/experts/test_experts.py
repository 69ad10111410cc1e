from dataclasses import fields, replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aliquot.context import Context, InMemoryStore
from aliquot.experts import ExpertSettings, train_experts
from aliquot.networks import TrainSettings, as_targets
from aliquot.run.store import FolderStore

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
    assert experts.paths == []
    assert (experts.start != experts.end).any(axis=1).all()
    assert len(np.unique(experts.end[:, 0])) == 5


def test_blocks_do_not_change_experts(train):
    np.testing.assert_allclose(train().end, train(replace(SETTINGS, block=5)).end, rtol=1e-4, atol=1e-6)


def test_every_epoch_on_request(train):
    experts = train(keep_paths=True)
    paths = np.stack(experts.paths)
    assert paths.shape == (5, 5, 57)
    assert (paths[:, 0] == experts.start).all()
    assert (paths[:, -1] == experts.end).all()
    assert (np.abs(np.diff(paths, axis=1)).max(axis=2) > 0).all()  # snapshots differ from each other


def test_length_is_chosen_on_tuning(train, small_judge):
    chosen = train(replace(SETTINGS, length="tuning", epochs=6), context=Context(judge=small_judge)).epochs
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

    assert train(replace(SETTINGS, length="tuning", epochs=6), context=Context(judge=Early())).epochs <= 2


def test_kept_blocks_are_not_trained_again(train):
    memory = InMemoryStore()
    whole = train(context=Context(store=memory))
    name = whole.names["experts"][1]
    memory.put(name, {part: np.zeros_like(value) for part, value in memory.get(name).items()})
    again = train(context=Context(store=memory))
    assert (again.end[2:4] == 0).all()
    assert (again.end[[0, 1, 4]] == whole.end[[0, 1, 4]]).all()


def test_paths_are_kept_on_disk_and_mapped_from_there(train, tmp_path):
    store = FolderStore(tmp_path)
    experts = train(keep_paths=True, context=Context(store=store))
    assert all(isinstance(path, np.memmap) or isinstance(path.base, np.memmap) for path in experts.paths)
    assert store.size(*experts.names["paths"]) >= 5 * 5 * 57 * 4
    again = train(keep_paths=True, context=Context(store=store))
    assert all((one == other).all() for one, other in zip(experts.paths, again.paths, strict=True))


CHANGES = {
    "epochs": 3,
    "learning_rate": 0.2,
    "momentum": 0.5,
    "weight_decay": 0.1,
    "batch_size": 32,
    "balance": True,
    "schedule": "cosine",
}


def test_every_setting_of_training_is_tried_below():
    assert {part.name for part in fields(TrainSettings)} == {*CHANGES, "gsam"}


@pytest.mark.parametrize("change", [{name: value} for name, value in CHANGES.items()], ids=list(CHANGES))
def test_other_experts_are_not_taken_for_these(train, change):
    context = Context(store=InMemoryStore())
    ours, others = train(context=context), train(replace(SETTINGS, **change), context=context)
    assert not set(ours.names["experts"]) & set(others.names["experts"])
    assert (ours.end != others.end).any()


def test_kind_is_part_of_the_name_but_the_way_of_keeping_paths_is_not_part_of_the_experts(train):
    memory = InMemoryStore()
    plain, flat = train(context=Context(store=memory)), train(kind="gsam", context=Context(store=memory))
    assert (plain.end != flat.end).any()
    half = train(replace(SETTINGS, keep_as="float16"), keep_paths=True, context=Context(store=memory))
    assert half.names["experts"] == plain.names["experts"]


@pytest.mark.parametrize(("keep_as", "error"), [("float16", 1e-3), ("bfloat16", 1e-2)])
def test_paths_in_half_precision_are_close(train, tmp_path, keep_as, error):
    exact = train(keep_paths=True)
    store = FolderStore(tmp_path)
    half = train(replace(SETTINGS, keep_as=keep_as), keep_paths=True, context=Context(store=store))
    assert {str(path.dtype) for path in half.paths} == {keep_as}
    for one, other in zip(exact.paths, half.paths, strict=True):
        np.testing.assert_allclose(np.asarray(other, np.float32), one, rtol=error, atol=error / 10)


def test_seconds_of_the_training_are_remembered(train):
    memory = InMemoryStore()
    first = train(context=Context(store=memory))
    assert first.seconds > 0
    assert train(context=Context(store=memory)).seconds == first.seconds
