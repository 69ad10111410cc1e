"""The one place that opens the held-out part: networks trained on the rows, on random rows and on the full data."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aliquot.cohort import Cohort, Part, Parts
from aliquot.context import Context
from aliquot.evaluate.calibration import AS_THEY_ARE, Correction, fit_correction, score_logits
from aliquot.evaluate.evidence import Evidence, TrainingSet
from aliquot.evaluate.protocol import EvaluationSettings, Training, finite_logits, hard_targets, train_on
from aliquot.evaluate.results import HeldOut, Scores
from aliquot.experts import expert_keys, watch_training
from aliquot.experts.watch import Watched
from aliquot.matching import Condensed
from aliquot.methods import MethodKeys, starting_rows
from aliquot.networks import Network
from aliquot.seeds import generator, streams


def collect_evidence(
    cohort: Cohort,
    parts: Parts,
    network: Network,
    settings: EvaluationSettings,
    condensed: Condensed,
    *,
    seed: int,
    context: Context = Context(),
) -> Evidence:
    """Train and score all networks whose results are reported: on the rows, on random patients, on all patients."""
    keys, progress, n_classes = streams(seed), context.progress, network.n_classes
    full, full_best_epoch = full_data_logits(network, settings, parts, keys, context)
    progress.stage("held-out evaluation", 2)
    correction, logits = score_rows(network, settings, parts, [(condensed.x, condensed.targets)], keys)
    progress.advance()
    draws = random_draws(parts.train, len(condensed.x) // n_classes, n_classes, settings, keys["random rows"])
    random_correction, random_logits = score_rows(network, settings, parts, draws, keys)
    progress.advance()
    return Evidence(
        cohort=cohort,
        parts=parts,
        training=Training(network, settings.training(settings.final_epochs)),
        condensed=condensed,
        logits={"random": random_logits, "aliquot": logits, **full},
        corrections={"random": random_correction, "aliquot": correction.rounded(), **dict.fromkeys(full, AS_THEY_ARE)},
        draws=draws,
        full_best_epoch=full_best_epoch,
        keys=keys,
        expanded_records=settings.expanded_records,
        progress=progress,
    )


def held_out_scores(evidence: Evidence) -> HeldOut:
    """Scores of all networks on held_out; their probabilities are those after the correction."""
    labels, how = evidence.labels, evidence.corrections
    found: dict[str, Any] = {name: score_logits(labels, one, how[name]) for name, one in evidence.logits.items()}
    return HeldOut(**found).rounded(evidence.decimals)


def score_rows(
    network: Network,
    settings: EvaluationSettings,
    parts: Parts,
    sets: Sequence[TrainingSet],
    keys: Mapping[str, jax.Array],
    *,
    correct_on: Sequence[Part] | None = None,
) -> tuple[Correction, np.ndarray]:
    """Correction, and logits on held_out, of the final networks trained on rows.

    ``sets`` holds rows and targets: one pair for all networks, or one for each. The correction is fitted on the
    patients of ``correct_on``; None: the tuning part, on whom nothing was trained (decision 3).
    """
    final = settings.training(settings.final_epochs)
    final_keys = jax.random.split(keys["final networks"], settings.final_networks)
    if len(sets) == 1:
        trained = train_on(network, final, *sets[0], final_keys)
    else:
        each = [train_on(network, final, *one, final_keys[i : i + 1]) for i, one in enumerate(sets)]
        trained = jnp.concatenate(each)
    patients = (parts.tuning,) if correct_on is None else correct_on
    known = np.concatenate([finite_logits(network, trained, part.x) for part in patients], axis=1)
    correction = fit_correction(np.concatenate([part.labels for part in patients]), known)
    return correction, finite_logits(network, trained, parts.held_out.x)


def score_full_data(
    network: Network,
    settings: EvaluationSettings,
    parts: Parts,
    keys: Mapping[str, jax.Array],
    context: Context,
) -> tuple[dict[str, Scores], int]:
    """Scores of networks trained on all training patients, for the fixed number of epochs and to the best epoch.

    The second result is that epoch, chosen on tuning.
    """
    logits, best_epoch = full_data_logits(network, settings, parts, keys, context)
    return {name: score_logits(parts.held_out.labels, one) for name, one in logits.items()}, best_epoch


def full_data_logits(
    network: Network,
    settings: EvaluationSettings,
    parts: Parts,
    keys: Mapping[str, jax.Array],
    context: Context,
) -> tuple[dict[str, np.ndarray], int]:
    """Logits on held_out of networks trained on all training patients, for the fixed number and to the best epoch."""
    watched = _watch_full_training(network, settings, parts, keys, context)
    lengths = {"full": settings.full_training().epochs, "full_best_epoch": watched.best_epoch}
    thetas = {name: jnp.asarray(watched.after(epochs)) for name, epochs in lengths.items()}
    logits = {name: finite_logits(network, theta, parts.held_out.x) for name, theta in thetas.items()}
    return logits, watched.best_epoch


def _watch_full_training(network, settings: EvaluationSettings, parts: Parts, keys, context: Context) -> Watched:
    """The method's own experts where these were trained so; otherwise networks from the same starts."""
    return watch_training(
        network,
        settings.full_training(),
        jnp.asarray(parts.train.x),
        jnp.asarray(hard_targets(parts.train.labels, network.n_classes)),
        expert_keys(MethodKeys.of(keys["condense"]).expert, jnp.arange(settings.final_networks)),
        name="full data",
        context=context,
    )


def random_draws(
    train: Part, rows_per_class: int, n_classes: int, settings: EvaluationSettings, key: jax.Array
) -> list[TrainingSet]:
    """Real patients, as many as there are rows; another draw for every network."""
    rng, count = generator(key), settings.final_networks
    draws = [starting_rows(train.x, train.labels, rows_per_class, n_classes, "real", rng=rng) for _ in range(count)]
    return [(x, hard_targets(labels, n_classes)) for x, labels in draws]
