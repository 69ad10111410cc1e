from importlib.resources import files

import numpy as np

from aliquot.cohort import Encoder, split_patients
from aliquot.cohort.embedded import support2, support2_frame


def test_the_table_is_the_one_described():
    cohort = support2()
    assert (cohort.n, cohort.labels.sum()) == (9105, 2463)
    assert cohort.notes == ()
    assert len(cohort.schema) == 30
    assert int(cohort.frame["diabetes"].sum()) == 1778
    assert "died_within_30_days" not in cohort.schema


def test_gaps_are_kept():
    missing = support2_frame().isna().mean()
    assert missing["age_years"] == 0
    assert round(missing["albumin_g_dl"], 2) == 0.37
    assert round(missing["income"], 2) == 0.33


def test_it_is_small():
    assert len(files("aliquot.cohort.embedded").joinpath("support2.parquet").read_bytes()) < 500_000


def test_it_goes_through_the_border():
    cohort = support2()
    train = cohort.take(split_patients(cohort, seed=0) == 0)
    encoder = Encoder.fit(train.frame, train.schema)
    values, unseen = encoder.transform_counted(cohort.frame)
    assert np.isfinite(values).all()
    assert "race" not in unseen
    back = encoder.inverse(values)
    assert back.dtypes.astype(str).tolist() == cohort.frame.dtypes.astype(str).tolist()
