"""Which encoding of numbers serves networks and logistic regression on all patients best?

    python benchmarks/encoders.py --cohort support2
    python benchmarks/encoders.py --cohort physionet2012-table --path DIR [--splits 3]
    python benchmarks/encoders.py --cohort support2 --encodings "plain" "robust, clip 5"

Per split and encoding: AUPRC on tuning of five networks (their mean at its best epoch) and of logistic regression, both
trained on all training patients. The splits are of the patients outside the cohort's own held_out, which stays closed.
"""

import argparse
import warnings
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aliquot.cohort import HELD_OUT, EncoderSettings, Parts, encode_parts, split_patients
from aliquot.cohort.embedded import support2
from aliquot.evaluate.metrics import auprc
from aliquot.networks import get_network
from aliquot.networks.training import TrainSettings, train_networks
from aliquot.run.source import Source

ENCODINGS = {
    "plain": EncoderSettings(),
    "clip 5": EncoderSettings(clip=5.0),
    "robust, clip 5": EncoderSettings(scale="robust", clip=5.0),
    "robust, clip 5, log auto": EncoderSettings(scale="robust", clip=5.0, log="auto"),
    "robust, clip 10": EncoderSettings(scale="robust", clip=10.0),
}
NETWORKS, TRAINING = 5, TrainSettings(epochs=40, learning_rate=0.05, momentum=0.9, batch_size=256)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohort", required=True)
    parser.add_argument("--path")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--encodings", nargs="+", choices=ENCODINGS, default=[*ENCODINGS], metavar="NAME")
    asked = parser.parse_args()
    embedded = asked.cohort == "support2"
    cohort = support2() if embedded else Source(file=asked.path or asked.cohort, cohort=asked.cohort).read()
    print(f"{asked.cohort}, {cohort.n:,} patients; AUPRC on tuning, splits 1 to {asked.splits} and their mean")
    known = replace(cohort.take(split_patients(cohort, seed=0) != HELD_OUT), split=None)
    seeds = range(1, asked.splits + 1)
    for name in asked.encodings:
        parts = [encode_parts(known, seed=seed, settings=ENCODINGS[name], rows_per_class=1) for seed in seeds]
        for model, score in (("networks", score_networks), ("logistic", score_logistic)):
            scores = [score(part) for part in parts]
            shown = " ".join(f"{one:.4f}" for one in scores)
            print(f"{model:>9} {shown}  {np.mean(scores):.4f}  {name}", flush=True)


def score_networks(parts: Parts) -> float:
    """Mean AUPRC of networks after the epoch where it is largest."""
    network = get_network("mlp", parts.encoder.shape, parts.n_classes, (64,), 0.25)
    keys = jax.random.split(jax.random.key(0), NETWORKS)
    x, targets = jnp.asarray(parts.train.x), jnp.asarray(parts.train.labels, jnp.float32)
    watched = train_networks(network, TRAINING, x, targets, keys, watch=jnp.asarray(parts.tuning.x)).watched
    scores = [[auprc(parts.tuning.labels, logits) for logits in epochs] for epochs in np.asarray(watched)]
    return float(np.mean(scores, axis=0).max())


def score_logistic(parts: Parts) -> float:
    """AUPRC of logistic regression."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(max_iter=500).fit(parts.train.x, parts.train.labels)
    return auprc(parts.tuning.labels, model.decision_function(parts.tuning.x))


if __name__ == "__main__":
    main()
