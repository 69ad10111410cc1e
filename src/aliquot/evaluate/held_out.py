"""The one place that opens the held-out part: the rows beside random rows and the full data, and other models."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from aliquot.cohort import Part, Parts
from aliquot.evaluate.calibration import corrected, prior_offset, reliability, summarised
from aliquot.evaluate.metrics import probabilities
from aliquot.evaluate.protocol import EvaluationSettings, hard_targets, logits_of, train_on
from aliquot.evaluate.ranking_curves import ranking_curves
from aliquot.evaluate.subgroups import subgroup_scores
from aliquot.evaluate.transfer import MODELS, transfer_metrics
from aliquot.experts import watch_training
from aliquot.hooks import Forgetting, Judge, Memory, Progress, Silence
from aliquot.methods import starting_rows
from aliquot.networks import Network
from aliquot.seeds import generator, integer

LARGEST = 1e30  # of logits that overflowed


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
    groups: "Mapping[str, pd.Categorical[str]] | None" = None,
    patient: np.ndarray | None = None,
) -> dict[str, Any]:
    """Every reported number of rows ``x`` with ``targets``: held_out, calibration, transfer, chosen length, groups.

    ``groups`` are those of the held-out rows by each column that tells results apart, and ``patient`` who they are,
    where a patient has several.

    Probabilities are those after the prior correction, except under ``calibration`` → ``before``; the full-data
    networks, trained at the real prevalence, need none.
    """
    labels = parts.held_out.labels
    full_logits, best_epoch = full_data_logits(
        network, settings, parts, keys=keys, judge=judge, memory=memory, progress=progress
    )
    full = {name: summarised(labels, one, 0.0) for name, one in full_logits.items()}
    progress.stage("held-out evaluation", 2)
    offset, logits = score_rows(network, settings, parts, [(x, targets)], keys=keys)
    ours = summarised(labels, logits, offset)
    progress.advance()
    draws = random_draws(parts.train, len(x) // network.n_classes, network.n_classes, settings, keys["random rows"])
    random_offset, random_logits = score_rows(network, settings, parts, draws, keys=keys)
    progress.advance()
    shown = {"random": random_logits, "aliquot": logits, "full_best_epoch": full_logits["full_best_epoch"]}
    compared = {name: one for name, one in shown.items() if name != "random"}
    return {
        "ranking": {name: ranking_curves(labels, one) for name, one in shown.items()},
        "subgroups": subgroup_scores(groups or {}, labels, compared, patient),
        "held_out": {"aliquot": ours, "random": summarised(labels, random_logits, random_offset), **full},
        "calibration": _calibration(labels, logits, offset, ours),
        "transfer": _transfer(parts, x, targets, draws[0], integer(keys["transfer"]), progress),
        "full_best_epoch": best_epoch,
    }


def score_rows(
    network: Network,
    settings: EvaluationSettings,
    parts: Parts,
    sets: Sequence[tuple[np.ndarray, np.ndarray]],
    *,
    keys: dict[str, jax.Array],
) -> tuple[Any, np.ndarray]:
    """Prior offset, and logits on held_out, of the final networks trained on rows.

    ``sets`` holds rows and targets: one pair for all networks, or one for each.
    """
    final = settings.training(settings.final_epochs)
    final_keys = jax.random.split(keys["final networks"], settings.final_networks)
    if len(sets) == 1:
        trained = train_on(network, final, *sets[0], final_keys)
    else:
        each = [train_on(network, final, *one, final_keys[i : i + 1]) for i, one in enumerate(sets)]
        trained = jnp.concatenate(each)
    prevalence = np.asarray(parts.train.counts(network.n_classes)) / len(parts.train.labels)
    tuning, held_out = (_usable(logits_of(network, trained, part.x)) for part in (parts.tuning, parts.held_out))
    return prior_offset(tuning, prevalence), held_out


def _usable(logits: np.ndarray) -> np.ndarray:
    """Logits as finite numbers: a network that broke on its rows ranks nobody, which is chance, not an error."""
    return np.nan_to_num(np.asarray(logits, np.float64), nan=0.0, posinf=LARGEST, neginf=-LARGEST)


def score_full_data(
    network: Network,
    settings: EvaluationSettings,
    parts: Parts,
    *,
    keys: dict[str, jax.Array],
    judge: Judge,
    memory: Memory = Forgetting(),
    progress: Progress = Silence(),
) -> tuple[dict[str, Any], int]:
    """Scores of networks trained on all training patients, for the fixed number of epochs and to the best epoch.

    The second result is that epoch, chosen on tuning.
    """
    logits, best_epoch = full_data_logits(
        network, settings, parts, keys=keys, judge=judge, memory=memory, progress=progress
    )
    return {name: summarised(parts.held_out.labels, one, 0.0) for name, one in logits.items()}, best_epoch


def full_data_logits(
    network: Network,
    settings: EvaluationSettings,
    parts: Parts,
    *,
    keys: dict[str, jax.Array],
    judge: Judge,
    memory: Memory = Forgetting(),
    progress: Progress = Silence(),
) -> tuple[dict[str, np.ndarray], int]:
    """Logits on held_out of networks trained on all training patients, for the fixed number and to the best epoch."""
    full_keys = jax.random.split(keys["full data"], settings.final_networks)
    x, targets = jnp.asarray(parts.train.x), jnp.asarray(hard_targets(parts.train.labels, network.n_classes))
    training = settings.full_training()
    around = {"judge": judge, "memory": memory, "progress": progress}
    watched = watch_training(network, training, x, targets, full_keys, name="full data", **around)
    lengths = {"full": training.epochs, "full_best_epoch": watched.best_epoch}
    thetas = {name: jnp.asarray(watched.after(epochs)) for name, epochs in lengths.items()}
    return {name: logits_of(network, theta, parts.held_out.x) for name, theta in thetas.items()}, watched.best_epoch


def random_draws(train: Part, rows_per_class: int, n_classes: int, settings: EvaluationSettings, key: jax.Array):
    """Real patients, as many as there are rows, drawn anew for every network."""
    rng, count = generator(key), settings.final_networks
    draws = [starting_rows(train.x, train.labels, rows_per_class, n_classes, "real", rng=rng) for _ in range(count)]
    return [(x, hard_targets(labels, n_classes)) for x, labels in draws]


def _calibration(labels, logits, offset, after) -> dict[str, Any]:
    """Probabilities before and after the prior correction; the ranking is the same."""
    mean_before = np.mean([probabilities(one) for one in logits], axis=0)
    mean_after = np.mean([corrected(one, offset) for one in logits], axis=0)
    return {
        "offset": np.asarray(offset).tolist(),
        "before": summarised(labels, logits, 0.0),
        "after": after,
        "reliability": {"before": reliability(labels, mean_before), "after": reliability(labels, mean_after)},
    }


def _transfer(parts, x, targets, random, seed, progress) -> dict[str, dict[str, dict[str, float]]]:
    """Other kinds of model trained on the rows, on as many random patients, and on all training patients."""
    n_classes = 2 if targets.ndim == 1 else targets.shape[1]
    everyone = (parts.train.x, hard_targets(parts.train.labels, n_classes))
    data = {"aliquot": (x, targets), "random": random, "full": everyone}
    progress.stage("other models", len(MODELS))
    result = {}
    for name in MODELS:
        result[name] = {
            source: transfer_metrics(name, rows, labels, parts.held_out.x, parts.held_out.labels, seed=seed)
            for source, (rows, labels) in data.items()
        }
        progress.advance()
    return result
