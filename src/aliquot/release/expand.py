"""Any number of labelled records around the rows, for models to which 100 rows say too little.

Made from what a release holds and from nothing else: no patient is touched.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from aliquot.cohort import Encoder, SeriesEncoder, settled, valid_rows
from aliquot.cohort.series import as_long
from aliquot.context import NoProgress, Progress
from aliquot.errors import SettingsError
from aliquot.evaluate import Training, finite_logits, probabilities
from aliquot.evaluate.evidence import TrainingSet
from aliquot.evaluate.labels import WEIGHT, lines_of, with_labels
from aliquot.matching import project
from aliquot.networks import Network
from aliquot.release.recipe import training_of
from aliquot.seeds import generator

if TYPE_CHECKING:
    from aliquot.release.bundle import Release
    from aliquot.release.condensation import Condensation

OPINIONS = 10  # whose mean opinion is the label
NOISE = 0.7  # standard deviations of the rows
CROSSED = 0.3  # share of columns that are another row's
BLOCK = 1_000  # records made at a time


@dataclass(frozen=True, eq=False)
class Expansion:
    """Records around the rows of a release, and what networks trained on the rows think of them."""

    x: np.ndarray  # (n, features) or (n, T, features) encoded, float32
    targets: np.ndarray  # (n,) or (n, C) probabilities, in the world of the rows: before the prior correction
    target: str
    classes: tuple[Any, ...]
    encoder: Encoder | SeriesEncoder
    weight: str  # the column of weights

    @property
    def table(self) -> pd.DataFrame:
        """Encoded features, probability of each class, class and weight; a record appears once per class."""
        return self._lines(pd.DataFrame(self.x.reshape(len(self.x), -1), columns=list(self.encoder.column_names)))

    @property
    def readable(self) -> pd.DataFrame:
        """The same lines in the columns and units of the source; series as one line per value."""
        if not isinstance(self.encoder, SeriesEncoder):
            return self._lines(self.encoder.inverse(self.x))
        series, frame = self.encoder.inverse(self.x)
        return as_long(series.take(lines_of(self.targets).row), self._lines(frame))

    def _lines(self, features: pd.DataFrame) -> pd.DataFrame:
        return with_labels(features, self.targets, self.target, self.classes, weight=self.weight)


def expand(rows: "Condensation | Release", n: int, *, seed: int = 0, progress: Progress = NoProgress()) -> Expansion:
    """``n`` labelled records around the rows; of rows by a network of the user's own there are none."""
    labels, training = rows.recipe["labels"], training_of(rows.recipe, rows.encoder.shape)
    key, given = jax.random.key(seed), (rows.x, rows.targets)
    x, targets = records_around(training, rows.encoder, given, n, key=key, progress=progress)
    return Expansion(x, targets, labels["target"], tuple(labels["classes"]), rows.encoder, labels.get("weight", WEIGHT))


def records_around(
    training: Training,
    encoder: Encoder | SeriesEncoder,
    rows: TrainingSet,
    n: int,
    *,
    key: jax.Array,
    progress: Progress = NoProgress(),
) -> TrainingSet:
    """Features and targets of ``n`` records around rows.

    Ten networks are trained on the rows; what they think of a record, the mean of their logits, is its target.

    Guarantees: every record is valid, and exactly what its cells encode to; the same key gives the same records, and
    the first of them whatever ``n``.
    """
    if n < 1:
        raise SettingsError(f"asked to expand the rows to {n} records; ask for at least one")
    network_key, draw_key = jax.random.split(key)
    progress.stage("networks on the rows", 1)
    thetas = jax.block_until_ready(training.train(*rows, networks=OPINIONS, key=network_key))
    progress.advance()
    progress.stage("records around the rows", n)
    rng, made = generator(draw_key), []
    for start in range(0, n, BLOCK):  # whole blocks: programs are compiled once
        x = as_records(encoder, points_around(rows[0], column_of(encoder), BLOCK, rng))
        made.append((x, opinion(training.network, thetas, x)))
        progress.advance(min(BLOCK, n - start))
    x, targets = zip(*made, strict=True)
    return np.concatenate(x)[:n], np.concatenate(targets)[:n]


def points_around(x: np.ndarray, column: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Points around rows (rows, …, F): one drawn at random, some columns of which are other rows', and noise.

    The noise of a column has a share of the rows' standard deviation; in series it is the same at every step.
    """
    crossed = rng.random((n, column.max() + 1)) < CROSSED
    own, other = rng.integers(len(x), size=(n, 1)), rng.integers(len(x), size=crossed.shape)
    source = np.where(crossed, other, own)[:, column]  # (n, F)
    points = np.stack([x[source[:, f], ..., f] for f in range(len(column))], axis=-1)
    noise = rng.standard_normal((n, *(1,) * (x.ndim - 2), len(column)))
    return points + NOISE * np.ascontiguousarray(x).std(axis=0) * noise


def column_of(encoder: Encoder | SeriesEncoder) -> np.ndarray:
    """The number of the source's column or channel that each feature shows.

    >>> from aliquot.cohort import infer_schema
    >>> frame = pd.DataFrame({"age": [50, 60, 70] * 10, "sex": ["f", "m", "m"] * 10})
    >>> column_of(Encoder.fit(frame, infer_schema(frame))).tolist()
    [0, 1, 1, 1]
    """
    if isinstance(encoder, SeriesEncoder):
        channels = np.arange(len(encoder.channels))
        return np.concatenate(
            [channels, channels[np.flatnonzero(encoder.gaps)], len(channels) + column_of(encoder.static)]
        )
    features = np.array([len(code.features) for code in encoder.columns], int)
    return np.repeat(np.arange(len(features)), features)


_project = jax.jit(project)


def as_records(encoder: Encoder | SeriesEncoder, points: np.ndarray) -> np.ndarray:
    """The valid record nearest to each point, exactly as its cells are encoded."""
    return settled(encoder, np.asarray(_project(valid_rows(encoder), jnp.asarray(points, jnp.float32))))


def opinion(network: Network, thetas: jax.Array, x: np.ndarray) -> np.ndarray:
    """Probabilities, as targets, of the mean of the networks' logits."""
    p = probabilities(finite_logits(network, thetas, x).mean(axis=0)).astype(np.float32)
    return p[:, 1] if p.shape[1] == 2 else p
