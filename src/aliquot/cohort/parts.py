"""The three parts of a cohort as arrays, encoded by what the training part alone teaches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aliquot.cohort.cohort import Cohort
from aliquot.cohort.encoder import Encoder
from aliquot.cohort.fitting import EncoderSettings
from aliquot.cohort.roles import HELD_OUT, TRAIN, TUNING
from aliquot.cohort.series import SeriesEncoder
from aliquot.cohort.split import split_patients
from aliquot.cohort.stays import Stays
from aliquot.cohort.support import supported
from aliquot.cohort.wording import counted, quoted
from aliquot.disclosure import SUPPORT, patients_per
from aliquot.errors import SchemaError, TooFewPatientsError
from aliquot.identity import digest


@dataclass(frozen=True, eq=False)
class Part:
    """Encoded patients and their class codes."""

    x: np.ndarray  # (n, features) or (n, T, features) float32
    labels: np.ndarray  # (n,) int32
    patients: np.ndarray | None = None  # (n,) int64 codes; None: every row is a patient
    groups: pd.DataFrame | None = None  # the group of each row by every column by which results are compared

    def counts(self, n_classes: int) -> list[int]:
        """Number of patients in each class."""
        return patients_per(self.labels, self.patients, n_classes).tolist()


@dataclass(frozen=True, eq=False)
class Parts:
    """Learn from ``train``, choose on ``tuning``, open ``held_out`` once."""

    train: Part
    tuning: Part
    held_out: Part
    encoder: Encoder | SeriesEncoder
    roles: np.ndarray  # (all rows of the cohort,) int8
    prevalence: tuple[float, ...]  # share of all rows in each class
    fingerprint: str = ""  # changes with any value, schema entry, outcome, patient, group or role
    notes: tuple[str, ...] = ()  # on what is no feature, as too few training patients stand behind it

    @property
    def n_classes(self) -> int:
        """Number of classes of the target."""
        return len(self.prevalence)

    @classmethod
    def without_held_out(cls, train: Part, tuning: Part, encoder: Any = None) -> "Parts":
        """Parts for somebody who holds patients out elsewhere."""
        counts = np.bincount(train.labels)
        nobody = Part(train.x[:0], train.labels[:0])
        return cls(train, tuning, nobody, encoder, np.empty(0, np.int8), tuple((counts / counts.sum()).tolist()))


def encode_parts(cohort: Cohort, *, seed: int, settings: EncoderSettings, rows_per_class: int) -> Parts:
    """Split the cohort by patient, fit the encoder on the training part, and encode all three parts.

    >>> from aliquot.cohort.embedded import support2
    >>> parts = encode_parts(support2(), seed=0, settings=EncoderSettings(), rows_per_class=50)
    >>> len(parts.train.x), len(parts.tuning.x), len(parts.held_out.x)
    (6375, 1365, 1365)
    """
    roles = split_patients(cohort, seed=seed)
    check_rows_per_class(cohort, roles, rows_per_class)
    members = [cohort.take(roles == role) for role in (TRAIN, TUNING, HELD_OUT)]
    learned_from, notes = supported(members[0])
    encoder = fit_encoder(learned_from, settings)
    train, tuning, held_out = parts = [
        Part(encode(encoder, member), member.labels, member.patient, member.groups) for member in members
    ]
    name = _fingerprint(cohort, roles, encoder, parts)
    return Parts(train, tuning, held_out, encoder, roles, cohort.prevalence, name, (*notes, *_named_few(settings)))


def fit_encoder(train: Cohort, settings: EncoderSettings) -> Encoder | SeriesEncoder:
    """The encoder of a table or of series, learned from the training part."""
    if train.series is None:
        return Encoder.fit(train.frame, train.schema, settings, train.patient)
    return SeriesEncoder.fit(train.series, train.frame, train.schema, settings, train.patient)


def encode(encoder: Encoder | SeriesEncoder, patients: Cohort | Stays) -> np.ndarray:
    """The features of a cohort or of patients as they were read."""
    return _encode_counted(encoder, patients)[0]


def encode_new(encoder: Encoder | SeriesEncoder, patients: Cohort | Stays) -> tuple[np.ndarray, tuple[str, ...]]:
    """The features of patients who took no part in training, and notes on what training had not seen.

    >>> from aliquot.cohort import infer_schema
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 10})
    >>> encoder = Encoder.fit(frame, infer_schema(frame))
    >>> encode_new(encoder, Stays(pd.DataFrame({"sex": ["f", "x"]})))[1]
    ("levels not seen in training count as rare: 1 cell of 'sex'",)
    """
    x, unseen = _encode_counted(encoder, patients)
    notes = [
        f"levels not seen in training count as rare: {counted(count, 'cell')} of {column!r}"
        for column, count in unseen.items()
    ]
    if isinstance(encoder, SeriesEncoder) and patients.series is not None:
        extra = [name for name in patients.series.channels if name not in encoder.channel_names]
        notes += [f"left out {quoted(extra)}: no channels of the release"] if extra else []
    return x, tuple(notes)


def _encode_counted(encoder: Encoder | SeriesEncoder, patients: Cohort | Stays) -> tuple[np.ndarray, dict[str, int]]:
    if isinstance(encoder, SeriesEncoder):
        if patients.series is None:
            raise SchemaError("asked to encode series, but found a table; pass series like those condensed")
        return encoder.transform_counted(patients.series, patients.frame)
    if patients.series is not None:
        raise SchemaError("asked to encode a table, but found series; pass a table like the one condensed")
    return encoder.transform_counted(patients.frame)


def _fingerprint(cohort: Cohort, roles: np.ndarray, encoder: Encoder | SeriesEncoder, parts: Sequence[Part]) -> str:
    arrays = (array for part in parts for array in (part.x, part.labels))
    return digest(cohort.fingerprint, roles, encoder.to_json(), *arrays)


def _named_few(settings: EncoderSettings) -> tuple[str, ...]:
    if settings.rare_below >= SUPPORT:
        return ()
    return (f"LEVELS AND GAPS OF FEWER THAN {SUPPORT} PATIENTS ARE SHOWN, as rare_below = {settings.rare_below} asks",)


def check_rows_per_class(cohort: Cohort, roles: np.ndarray, rows_per_class: int) -> None:
    """Raise a TooFewPatientsError unless every class has ten training patients, and one for each row asked for.

    Which class has too few is not said.
    """
    train = roles == TRAIN
    counts = patients_per(
        cohort.labels[train], None if cohort.patient is None else cohort.patient[train], cohort.n_classes
    )
    few = int((counts < SUPPORT).sum())
    if few:
        raise TooFewPatientsError(
            f"asked to condense the {cohort.n_classes} classes of {cohort.target!r}, but {few} of them have fewer than "
            f"{SUPPORT} patients in the training part; merge small classes, or leave their patients out"
        )
    if counts.min() < rows_per_class:
        raise TooFewPatientsError(
            f"asked for {rows_per_class} synthetic rows per class, but one class of {cohort.target!r} has only "
            f"{counts.min()} patients in the training part; ask for at most that many rows per class"
        )
