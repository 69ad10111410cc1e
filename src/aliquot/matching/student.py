"""The student: what it minimises on the rows, and which of them it sees at each step."""

import jax
import jax.numpy as jnp
from jax import Array

from aliquot.matching.metagradient import Batch, Split
from aliquot.matching.rows import soft_targets
from aliquot.matching.slots import Slots
from aliquot.networks import Network, cross_entropy


def student_loss(network: Network, slots: Slots):
    """ℓ(θ, rows, batch): the student's loss on the batch, or on all rows; dropout only with the batch's key."""

    def loss(theta, rows, batch):
        x, targets = rows.x, soft_targets(rows.labels) if slots.labels == "learned" else rows.labels
        if batch is None:
            return network.loss(theta, x, targets)
        if batch.numbers is not None:
            x, targets = x[batch.numbers], targets[batch.numbers]
        return network.loss(theta, x, targets, batch.weights, batch.key)

    return loss


def student_split(network: Network, slots: Slots) -> Split | None:
    """The same loss in two parts, first layer and the rest, where the network has them; dropout off."""
    if not network.splits:
        return None

    def leave(theta, a, rows):
        targets = soft_targets(rows.labels) if slots.labels == "learned" else rows.labels
        return cross_entropy(network.leave(theta, a), targets)

    return Split(network.enter, leave)


def student_batches(key: Array, n: int, batch_size: int, steps: int, *, dropout: bool = False) -> Batch | None:
    """What the student sees at each step, or None for all rows without dropout at every step.

    A permutation is cut into consecutive chunks which are taken from the back, so that a short remainder comes
    first (padded, with weight 0); when it is used up the rows are permuted again.
    """
    keys = jax.random.split(jax.random.fold_in(key, n), steps) if dropout else None
    if batch_size <= 0 or batch_size >= n:
        return Batch(key=keys) if dropout else None
    chunks = -(-n // batch_size)
    rounds = -(-steps // chunks)
    orders = jax.vmap(lambda key: jax.random.permutation(key, n))(jax.random.split(key, rounds))
    padding = chunks * batch_size - n
    numbers = jnp.pad(orders, ((0, 0), (0, padding))).reshape(rounds, chunks, batch_size)[:, ::-1]
    weights = jnp.pad(jnp.ones(n), (0, padding)).reshape(chunks, batch_size)[::-1]
    numbers = numbers.reshape(-1, batch_size)[:steps]
    return Batch(numbers, jnp.tile(weights, (rounds, 1))[:steps], keys)
