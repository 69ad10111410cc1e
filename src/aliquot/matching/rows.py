"""Synthetic rows while they are being learned."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from aliquot.networks import Network


class Rows(NamedTuple):
    """Inputs and labels of the synthetic rows, class blocks in class order."""

    x: Array  # (n, …)
    labels: Array  # targets (n,) or (n, C), hard or soft; while they are learned, logits of the same shape


def soft_targets(logits: Array) -> Array:
    """Probabilities of a network's or of learned labels' logits."""
    return jax.nn.sigmoid(logits) if logits.ndim == 1 else jax.nn.softmax(logits)


def ensemble_targets(network: Network, thetas: Array, x: Array) -> Array:
    """Mean probabilities of several networks on the rows; dropout off."""
    return jax.lax.map(lambda theta: soft_targets(network.logits(theta, x)), thetas).mean(axis=0)


def ensemble_logits(network: Network, thetas: Array, x: Array) -> Array:
    """Mean logits of several networks on any number of rows; dropout off. For more than two classes they sum to 0."""
    logits = jax.lax.map(lambda theta: network.predict(theta, x), thetas).mean(axis=0)
    return logits if logits.ndim == 1 else logits - logits.mean(axis=1, keepdims=True)


def label_logits(targets: Array, confidence: float = 0.95) -> Array:
    """Logits of targets softened to at most ``confidence``, from where learned labels may start.

    >>> soft_targets(label_logits(jnp.array([0.0, 1.0]))).round(2)
    Array([0.05, 0.95], dtype=float32)
    """
    if targets.ndim == 1:
        p = (1 - confidence) + targets * (2 * confidence - 1)
        return jnp.log(p) - jnp.log1p(-p)
    others = (1 - confidence) / (targets.shape[1] - 1)
    return jnp.log(others + targets * (confidence - others))
