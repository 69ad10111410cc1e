"""The border: tables are read, checked, split by patient and encoded, reversibly, on training rows only."""

from aliquot.cohort.cohort import Cohort
from aliquot.cohort.encoder import Encoder
from aliquot.cohort.fitting import EncoderSettings
from aliquot.cohort.parts import Part, Parts, encode_parts
from aliquot.cohort.read import fingerprint, read_table
from aliquot.cohort.records import Records
from aliquot.cohort.roles import HELD_OUT, ROLES, TRAIN, TUNING
from aliquot.cohort.schema import Column, Schema, infer_schema, schema_file
from aliquot.cohort.series import Series, SeriesEncoder
from aliquot.cohort.split import split_patients

__all__ = [
    "HELD_OUT",
    "ROLES",
    "TRAIN",
    "TUNING",
    "Cohort",
    "Column",
    "Encoder",
    "EncoderSettings",
    "Part",
    "Parts",
    "Records",
    "Schema",
    "Series",
    "SeriesEncoder",
    "encode_parts",
    "fingerprint",
    "infer_schema",
    "read_table",
    "schema_file",
    "split_patients",
]
