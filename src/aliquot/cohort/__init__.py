"""The border: tables are read, checked, split by patient and encoded, reversibly, on training rows only."""

from aliquot.cohort.cohort import Cohort
from aliquot.cohort.columns import Columns
from aliquot.cohort.encoder import Encoder
from aliquot.cohort.first_schema import schema_file
from aliquot.cohort.fitting import EncoderSettings
from aliquot.cohort.found import Found
from aliquot.cohort.intake import Intake, hidden_numbers, take_in
from aliquot.cohort.parts import Part, Parts, encode_new, encode_parts
from aliquot.cohort.profile import ColumnProfile, profile
from aliquot.cohort.read import fingerprint, read_patients, read_table
from aliquot.cohort.records import Records
from aliquot.cohort.roles import HELD_OUT, ROLES, TRAIN, TUNING
from aliquot.cohort.schema import Column, Schema, infer_schema
from aliquot.cohort.series import Series, SeriesEncoder
from aliquot.cohort.split import split_patients
from aliquot.cohort.stays import Stays
from aliquot.cohort.tables.query import Query
from aliquot.cohort.time.grid import Layout, on_grid
from aliquot.cohort.valid import ValidRows, settled, valid_rows

__all__ = [
    "HELD_OUT",
    "ROLES",
    "TRAIN",
    "TUNING",
    "Cohort",
    "Column",
    "ColumnProfile",
    "Columns",
    "Encoder",
    "EncoderSettings",
    "Found",
    "Intake",
    "Layout",
    "Part",
    "Parts",
    "Query",
    "Records",
    "Schema",
    "Series",
    "SeriesEncoder",
    "Stays",
    "ValidRows",
    "encode_new",
    "encode_parts",
    "fingerprint",
    "hidden_numbers",
    "infer_schema",
    "on_grid",
    "profile",
    "read_patients",
    "read_table",
    "schema_file",
    "settled",
    "split_patients",
    "take_in",
    "valid_rows",
]
