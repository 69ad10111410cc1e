"""The one place that opens the held-out part: the rows beside random rows and the full data, and other models."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.cohort import Part, Parts
from aliquot.evaluate.calibration import corrected, prior_offset, reliability
from aliquot.evaluate.metrics import all_metrics, probabilities, summary
from aliquot.evaluate.protocol import EvaluationSettings, hard_targets, logits_of, train_on
from aliquot.evaluate.transfer import MODELS, transfer_metrics
from aliquot.experts import watch_training
from aliquot.hooks import Forgetting, Judge, Memory, Progress, Silence
from aliquot.methods import starting_rows
from aliquot.networks import Network
from aliquot.seeds import generator, integer


def evaluate_held_out(
    network: Network,
    settings: EvaluationSettings,
    parts: Parts,
    x: np.ndarray,
    targets: np.ndarray,
    *,
    keys: dict[str, jax.Array],
    judge: Judge,
    memory: Memory = Forgetting(),
    progress: Progress = Silence(),
) -> dict[str, Any]:
    """Every reported number of rows ``x`` with ``targets``: held_out, calibration, transfer, chosen length.

    Probabilities are those after the prior correction, except under ``calibration`` → ``before``; the full-data
    networks, trained at the real prevalence, need none.
    """
    final = settings.training(settings.final_epochs)
    final_keys = jax.random.split(keys["final networks"], settings.final_networks)
    train_targets = hard_targets(parts.train.labels, network.n_classes)
    rows_per_class = len(x) // network.n_classes

    full, best, best_epoch = _full_data(
        network, settings, parts, train_targets, keys["full data"], judge, memory, progress
    )
    progress.stage("held-out evaluation", 3 + len(MODELS))
    ours = train_on(network, final, x, targets, final_keys)
    progress.advance()
    draws = _random_draws(parts.train, rows_per_class, network.n_classes, len(final_keys), keys["random rows"])
    random = [train_on(network, final, *draw, final_keys[i : i + 1]) for i, draw in enumerate(draws)]
    progress.advance()

    prevalence = np.asarray(parts.train.counts(network.n_classes)) / len(parts.train.labels)
    held_out, labels = parts.held_out.x, parts.held_out.labels
    logits = {
        "aliquot": logits_of(network, ours, held_out),
        "random": logits_of(network, jnp.concatenate(random), held_out),
    }
    offsets = {
        "aliquot": prior_offset(logits_of(network, ours, parts.tuning.x), prevalence),
        "random": prior_offset(logits_of(network, jnp.concatenate(random), parts.tuning.x), prevalence),
    }
    scores = {name: _scores(labels, logits[name], offsets[name]) for name in logits}
    scores |= {
        "full": _scores(labels, logits_of(network, full, held_out), 0.0),
        "full_best_epoch": _scores(labels, logits_of(network, best, held_out), 0.0),
    }
    progress.advance()
    return {
        "held_out": scores,
        "calibration": _calibration(labels, logits["aliquot"], offsets["aliquot"], scores["aliquot"]),
        "transfer": _transfer(parts, x, targets, draws[0], train_targets, integer(keys["transfer"]), progress),
        "full_best_epoch": best_epoch,
    }


def _full_data(network, settings, parts, targets, key, judge, memory, progress):
    """Networks trained on all training patients: for the fixed number of epochs, and to the best epoch on tuning."""
    keys = jax.random.split(key, settings.final_networks)
    x, targets = jnp.asarray(parts.train.x), jnp.asarray(targets)
    training = settings.training(settings.full_epochs)
    around = {"judge": judge, "memory": memory, "progress": progress}
    watched = watch_training(network, training, x, targets, keys, name="full data", **around)
    best = train_on(network, settings.training(watched.best_epoch), x, targets, keys)
    return jnp.asarray(watched.end), best, watched.best_epoch


def _random_draws(train: Part, rows_per_class: int, n_classes: int, count: int, key: jax.Array):
    """Real patients, as many as there are rows, drawn anew for every network."""
    rng = generator(key)
    draws = [starting_rows(train.x, train.labels, rows_per_class, n_classes, "real", rng=rng) for _ in range(count)]
    return [(x, hard_targets(labels, n_classes)) for x, labels in draws]


def _scores(labels, logits, offset) -> dict[str, dict[str, float]]:
    return summary([all_metrics(labels, corrected(one, offset)) for one in logits])


def _calibration(labels, logits, offset, after) -> dict[str, Any]:
    """Probabilities before and after the prior correction; the ranking is the same."""
    mean_before = np.mean([probabilities(one) for one in logits], axis=0)
    mean_after = np.mean([corrected(one, offset) for one in logits], axis=0)
    return {
        "offset": np.asarray(offset).tolist(),
        "before": _scores(labels, logits, 0.0),
        "after": after,
        "reliability": {"before": reliability(labels, mean_before), "after": reliability(labels, mean_after)},
    }


def _transfer(parts, x, targets, random, train_targets, seed, progress) -> dict[str, dict[str, dict[str, float]]]:
    """Other kinds of model trained on the rows, on as many random patients, and on all training patients."""
    data = {"aliquot": (x, targets), "random": random, "full": (parts.train.x, train_targets)}
    result = {}
    for name in MODELS:
        result[name] = {
            source: transfer_metrics(name, rows, labels, parts.held_out.x, parts.held_out.labels, seed=seed)
            for source, (rows, labels) in data.items()
        }
        progress.advance()
    return result
