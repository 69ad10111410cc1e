"""Labels of the rows: from where learned ones start, and those that networks give at every iteration."""

import jax
import jax.numpy as jnp
from jax import Array

from aliquot.matching.rows import Rows, ensemble_logits, ensemble_targets, label_logits, soft_targets
from aliquot.matching.slots import Slots
from aliquot.networks import Network

SURE = 0.999  # what experts are sure of must have a finite logit


def first_labels(
    network: Network, slots: Slots, kind: str, ends: Array, rows: Rows, offset: Array | float = 0
) -> Array:
    """The classes of the rows; where labels are learned, the logits from which that starts.

    ============  ==========================================================================
    kind          logits of a row
    ============  ==========================================================================
    ``hard``      of its class, softened
    ``experts``   the mean logits of the experts that classify the row correctly
    ``ensemble``  of the experts' mean probability, whatever its class
    ``balanced``  the experts' mean logits less ``offset``: as if classes were equally frequent
    ============  ==========================================================================
    """
    if slots.labels != "learned":
        return rows.labels
    if kind == "experts":
        return expert_logits(network, ends, *rows)
    if kind == "ensemble":
        return label_logits(ensemble_targets(network, ends, rows.x), confidence=SURE)
    if kind == "balanced":
        return ensemble_logits(network, ends, rows.x) - offset
    return label_logits(rows.labels)


def expert_logits(network: Network, ends: Array, x: Array, targets: Array) -> Array:
    """Logits of each row, averaged over the experts that classify it correctly; over all where none does."""
    logits = jax.lax.map(lambda theta: network.logits(theta, x), ends)  # (K, n[, C])
    if logits.ndim == 2:
        right = (logits > 0) == (targets > 0.5)
    else:
        right = (logits.argmax(axis=-1) == targets.argmax(axis=-1))[..., None]
    right = jnp.where(right.any(axis=0), right, True)
    return jnp.sum(logits * right, axis=0) / right.sum(axis=0)


def labelled(network: Network, slots: Slots, ends: Array, target: Array, rows: Rows) -> Rows:
    """The rows with the labels of this iteration; constants as far as the gradient is concerned."""
    if slots.labels == "teacher":
        return rows._replace(labels=soft_targets(network.logits(target, rows.x)))
    if slots.labels == "ensemble":
        return rows._replace(labels=ensemble_targets(network, ends, rows.x))
    return rows
