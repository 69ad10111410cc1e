"""The reversible encoding of a table: fitted on training rows, stored as JSON that a stranger can read."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from aliquot.cohort.codes import Code, LevelCode, ListCode, NumberCode, OrdinalCode, TruthCode
from aliquot.cohort.declared import as_declared, cells_of
from aliquot.cohort.fitting import EncoderSettings, fit_code, share_gaps
from aliquot.cohort.schema import Schema
from aliquot.cohort.wording import quoted
from aliquot.errors import SchemaError, TamperedError
from aliquot.loading import expecting, json_of, require, typed

FORMAT, VERSION = "aliquot-encoder", 1

_CODES = {
    **{"numeric": NumberCode, "integer": NumberCode, "date": NumberCode, "ordinal": OrdinalCode},
    **{"boolean": TruthCode, "categorical": LevelCode, "code": ListCode},
}
_OPTIONAL = (  # absent from files where they are None, as in those of 0.1
    *("missing_with", "row_low", "row_high"),
    *("below", "above", "days_from", "day_first", "gap_values"),
)


@dataclass(frozen=True)
class Encoder:
    """Turns tables into float32 features and features back into tables.

    >>> from aliquot.cohort import infer_schema
    >>> frame = pd.DataFrame({"age": [50, 60, 70] * 10, "sex": ["f", "m", "m"] * 10})
    >>> encoder = Encoder.fit(frame, infer_schema(frame))
    >>> encoder.feature_names
    ('age', 'sex=f', 'sex=m', 'sex=(rare)')
    >>> encoder.inverse(encoder.transform(frame)).equals(frame)
    True
    """

    columns: tuple[Code, ...]

    @classmethod
    def fit(
        cls,
        frame: pd.DataFrame,
        schema: Schema,
        settings: EncoderSettings | None = None,
        patients: np.ndarray | None = None,
    ) -> "Encoder":
        """Encoder learned from training rows only; columns that are no features are passed over.

        ``patients`` has a code for the patient of each row; None: every row is a patient.
        """
        features = [column for column in schema if column.is_feature]
        _check_present(frame, [column.name for column in features])
        table, known = as_declared(frame, Schema(tuple(features)))
        settings = settings or EncoderSettings()
        codes = [fit_code(column, table[column.name], settings, patients) for column in known]
        encoder = cls(share_gaps(codes, table))
        if len(set(encoder.feature_names)) < len(encoder.feature_names):
            raise SchemaError("two encoded columns would have the same name; rename columns that contain '='")
        return encoder

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the encoded columns, in order."""
        return tuple(feature for code in self.columns for feature in code.features)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns of an encoded table: the features."""
        return self.feature_names

    @property
    def shape(self) -> tuple[int]:
        """Shape of one encoded row."""
        return (len(self.feature_names),)

    def transform(self, frame: pd.DataFrame) -> np.ndarray:
        """Features of each row, float32 (n, features); the order of the table's columns does not matter."""
        return self.transform_counted(frame)[0]

    def transform_counted(self, frame: pd.DataFrame) -> tuple[np.ndarray, dict[str, int]]:
        """Features of each row, and per column with any, how many cells held a level not seen in training."""
        _check_present(frame, [code.name for code in self.columns])
        values = np.empty((len(frame), len(self.feature_names)), dtype=np.float32)
        unseen, start = {}, 0
        for code in self.columns:
            stop = start + len(code.features)
            unseen[code.name] = code.encode(cells_of(frame, code), values[:, start:stop])
            start = stop
        return values, {name: count for name, count in unseen.items() if count}

    def inverse(self, values: np.ndarray) -> pd.DataFrame:
        """Table in the source's columns, units, decimals and types."""
        values = np.asarray(values)
        if values.ndim != 2 or values.shape[1] != len(self.feature_names):
            raise SchemaError(
                f"the encoder has {len(self.feature_names)} features but got an array of shape "
                f"{values.shape}; pass rows encoded by this encoder"
            )
        place = {feature: column for column, feature in enumerate(self.feature_names)}
        cells = {}
        for code in self.columns:
            cells[code.name] = code.decode(values[:, [place[feature] for feature in code.decoded_from]])
        return pd.DataFrame(cells, index=range(len(values)))

    def to_json(self) -> str:
        """The encoder as JSON with exact numbers; its checksum lets ``from_json`` notice a changed file."""
        content = {"columns": [entry_of(code) for code in self.columns], "features": list(self.feature_names)}
        document = {"format": FORMAT, "version": VERSION, **content, "sha256": checksum_of(content)}
        return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Encoder":
        """The encoder that ``to_json`` wrote; a TamperedError where the text is not whole and unchanged."""
        with expecting(tampered(f"{FORMAT}, version {VERSION}")):
            return parse(text)


@dataclass(frozen=True)
class _Document:
    format: Literal["aliquot-encoder"]
    version: Literal[1]
    columns: list[dict[str, Any]]
    features: list[str]
    sha256: str


def parse(text: str) -> Encoder:
    """The encoder in a document; a NotAsWrittenError where it is not whole and unchanged."""
    document = typed(json_of(text), _Document)
    require(document.sha256 == checksum_of({"columns": document.columns, "features": document.features}))
    encoder = encoder_of(document.columns)
    require([*encoder.feature_names] == document.features)
    return encoder


def encoder_of(entries: list[dict[str, Any]]) -> Encoder:
    """The encoder of columns that :func:`entry_of` described, if they go together."""
    encoder = Encoder(tuple(code_of(entry) for entry in entries))
    features = set(encoder.feature_names)
    require(len(features) == len(encoder.feature_names))
    require(len({code.name for code in encoder.columns}) == len(encoder.columns))
    require(features.issuperset(feature for code in encoder.columns for feature in code.decoded_from))
    return encoder


def tampered(what: str) -> TamperedError:
    """The error for an encoder of some format that is not whole and unchanged."""
    return TamperedError(
        f"the encoder is not a whole and unchanged file of the format {what}; take it from the original release again"
    )


def _check_present(frame: pd.DataFrame, names: list[str]) -> None:
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise SchemaError(f"the table lacks columns that the encoder needs ({quoted(absent)}); add them")


def entry_of(code: Code) -> dict[str, Any]:
    """The code's fields, without those that it may lack and lacks."""
    return {key: value for key, value in asdict(code).items() if not (key in _OPTIONAL and value is None)}


def code_of(entry: dict[str, Any]) -> Code:
    """The code that :func:`entry_of` described, by its kind; a NotAsWrittenError where it describes none."""
    kind = entry.get("kind")
    require(isinstance(kind, str) and kind in _CODES)
    code = _CODES[str(kind)]
    require(entry.keys() <= {field.name for field in fields(code)})
    return typed(entry, code)


def checksum_of(content: dict[str, Any]) -> str:
    """SHA-256 of the content as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
