"""Series: encoding, gaps, round trips, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot.cohort import Cohort, EncoderSettings, Records, Series, SeriesEncoder, encode_parts, infer_schema
from aliquot.cohort.encoder import checksum_of
from aliquot.cohort.schema import Schema
from aliquot.cohort.series import as_long, carried_forward
from aliquot.errors import FileError, SchemaError, TamperedError


def stays(n=40, steps=6, gaps=0.3, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal([80.0, 7.4], [15.0, 0.1], size=(n, steps, 2)).astype(np.float32).round(2)
    values[rng.random(values.shape) < gaps] = np.nan
    values[:, 0, 0] = 75.0  # the first heart rate is always measured
    frame = pd.DataFrame({"age": rng.integers(20, 90, n), "unit": rng.choice(["icu", "hdu"], n)})
    return Series(values, ("hr", "ph")), frame


def fitted(series, frame, **options):
    return SeriesEncoder.fit(series, frame, infer_schema(frame), EncoderSettings(**options))


def test_measured_values_come_back_and_gaps_stay_gaps():
    series, frame = stays()
    encoder = fitted(series, frame)
    x = encoder.transform(series, frame)
    assert x.shape == (40, 6, 2 + 2 + 4)
    assert x.dtype == np.float32
    assert np.isfinite(x).all()
    back, table = encoder.inverse(x)
    np.testing.assert_array_equal(np.isnan(back.values), np.isnan(series.values))
    np.testing.assert_allclose(back.values, series.values, atol=0.011)
    pd.testing.assert_frame_equal(table, frame)


def test_channels_are_standardised_by_what_was_measured():
    series, frame = stays(n=400)
    encoder = fitted(series, frame)
    x = encoder.transform(series, frame)
    seen = np.isfinite(series.values)
    for place in (0, 1):
        assert x[:, :, place][seen[:, :, place]].mean() == pytest.approx(0, abs=0.05)
        assert x[:, :, place][seen[:, :, place]].std() == pytest.approx(1, abs=0.02)
    np.testing.assert_array_equal(x[:, :, 2], seen[:, :, 0])


def test_gaps_take_the_last_value_and_before_the_first_the_median():
    values = np.array([[[np.nan], [90.0], [np.nan]]] + [[[70.0], [80.0], [90.0]]] * 19, np.float32)
    encoder = SeriesEncoder.fit(Series(values, ("hr",)), pd.DataFrame(index=range(20)), Schema(()))
    x = encoder.transform(Series(values, ("hr",)), pd.DataFrame(index=range(20)))
    hr = x[0, :, 0] * encoder.channels[0].scale + encoder.channels[0].centre
    np.testing.assert_allclose(hr, [80, 90, 90], rtol=1e-5)
    assert encoder.gaps == (False,)  # gaps of fewer than ten stays would point at them


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), steps=st.integers(1, 5), gaps=st.floats(0, 0.9))
def test_json_is_exact(seed, steps, gaps):
    series, frame = stays(30, steps, gaps, seed)
    series.values[0, 0] = [70, 7.3]
    encoder = fitted(series, frame)
    again = SeriesEncoder.from_json(encoder.to_json())
    assert again == encoder
    assert again.transform(series, frame).tobytes() == encoder.transform(series, frame).tobytes()


def test_flags_stay_0_and_1():
    values = (np.random.default_rng(0).random((30, 4, 1)) < 0.2).astype(np.float32)
    flags, nothing = Series(values, ("eye->4",)), pd.DataFrame(index=range(30))
    encoder = SeriesEncoder.fit(flags, nothing, Schema(()))
    np.testing.assert_array_equal(encoder.transform(flags, nothing), values)


def test_the_range_of_rows_counts_stays_and_patients_not_measurements():
    values = np.repeat(np.arange(40, dtype=np.float32), 30).reshape(40, 30, 1)
    series, nothing = Series(values, ("hr",)), pd.DataFrame(index=range(40))
    code = SeriesEncoder.fit(series, nothing, Schema(())).channels[0]
    assert (code.row_low, code.row_high) == (10, 30)
    code = SeriesEncoder.fit(series, nothing, Schema(()), patients=np.arange(40) // 2).channels[0]
    assert (code.row_low, code.row_high) == (18, 21)


def test_rare_flags_are_no_tail():
    values = np.zeros((400, 48, 1), np.float32)
    values[:12, 0] = 1.0
    code = SeriesEncoder.fit(Series(values, ("alarm",)), pd.DataFrame(index=range(400)), Schema(())).channels[0]
    assert (code.row_low, code.row_high) == (0, 1)


def test_a_changed_file_is_noticed():
    text = fitted(*stays()).to_json()
    for changed in (text.replace('"steps": 6', '"steps": 7'), text[:-30], text.replace("hr", "rr"), "[]"):
        with pytest.raises(TamperedError):
            SeriesEncoder.from_json(changed)


def test_what_no_series_give_is_refused_whatever_the_checksum():
    document = json.loads(fitted(*stays()).to_json())
    wrong = [{"steps": 0}, {"steps": 10**9}, {"step_hours": 0}, {"gaps": []}, {"channels": []}, {"static": {}}]
    wrong += [{"channels": [{**document["channels"][0], "scale": -1.0}, *document["channels"][1:]]}]
    wrong += [{"channels": [{**document["channels"][0], "missing": True}, *document["channels"][1:]]}]
    for change in ({}, *wrong):
        content = {name: document[name] for name in document if name not in ("format", "version", "sha256")} | change
        text = json.dumps({**document, **change, "sha256": checksum_of(content)})
        if change:
            with pytest.raises(TamperedError):
                SeriesEncoder.from_json(text)
        else:
            assert SeriesEncoder.from_json(text) == fitted(*stays())


def test_training_alone_decides():
    series, frame = stays(100)
    cohort = Cohort.from_records(
        Records(np.arange(100) % 2, np.arange(100).astype(str), frame, series.values, series.channels)
    )
    one = encode_parts(cohort, seed=0, settings=EncoderSettings(), rows_per_class=5)
    assert one.train.x.shape[1:] == one.encoder.shape == (6, 8)
    assert len(one.encoder.column_names) == 48


def test_what_does_not_fit_is_refused():
    series, frame = stays()
    encoder = fitted(series, frame)
    with pytest.raises(SchemaError, match="6 steps of 2 channels"):
        encoder.transform(Series(series.values[:, :3], series.channels), frame)
    with pytest.raises(SchemaError, match="6 steps of 2 channels, 1 hours each, but got 6 steps of 2 hours"):
        encoder.transform(Series(series.values, series.channels, 2.0), frame)
    with pytest.raises(SchemaError, match=r"lack channels that the encoder needs \('ph'\)"):
        encoder.transform(Series(series.values, ("hr", "pH")), frame)
    with pytest.raises(SchemaError):
        encoder.inverse(np.zeros((3, 6, 5)))
    never = Series(np.full((20, 3, 1), np.nan, np.float32), ("lactate",))
    with pytest.raises(SchemaError, match="'lactate' was never measured"):
        SeriesEncoder.fit(never, pd.DataFrame(index=range(20)), Schema(()))
    with pytest.raises(SchemaError):
        Cohort.from_arrays(np.zeros((5, 2, 2)), np.zeros(4))
    with pytest.raises(SchemaError):
        Cohort.from_arrays(np.full((4, 2, 2), np.inf), np.arange(4) % 2)


def test_the_order_of_channels_does_not_matter_and_others_are_passed_over():
    series, frame = stays()
    encoder = fitted(series, frame)
    values = np.concatenate([series.values[:, :, ::-1], np.ones((40, 6, 1), np.float32)], axis=2)
    other = Series(values, ("ph", "hr", "lactate"))
    np.testing.assert_array_equal(encoder.transform(other, frame), encoder.transform(series, frame))


def test_levels_not_seen_are_counted():
    series, frame = stays()
    encoder = fitted(series, frame)
    frame.loc[:2, "unit"] = "hospice"
    assert encoder.transform_counted(series, frame)[1] == {"unit": 3}


def test_carrying_forward_changes_only_gaps():
    series, _ = stays()
    filled = carried_forward(series.values)
    seen = np.isfinite(series.values)
    assert (filled[seen] == series.values[seen]).all()
    assert np.isfinite(filled[:, :, 0]).all()


def test_long_table_has_a_line_per_value():
    series, frame = stays(3, 2)
    long = as_long(series, frame)
    assert long.columns.tolist() == ["row", "hour", "variable", "value"]
    assert len(long) == np.isfinite(series.values).sum() + frame.size
    assert long["row"].is_monotonic_increasing


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ids": np.array(["a", "b"])}, "2 ids for 4 outcomes"),
        ({"ids": np.array(["a", "a", "b", "c"])}, "1 repeated id"),
        ({"labels": np.zeros(4, int)}, "not 0 and 1"),
        ({"roles": np.array(["train", "test", "tuning", "held_out"])}, "split with other names"),
        ({"series": np.zeros((4, 2, 3), np.float32)}, "0 names for series"),
        ({"series": np.full((4, 2, 1), np.inf), "channels": ("a",)}, "infinite"),
    ],
)
def test_records_that_do_not_fit_together_are_refused(change, words):
    whole = {"labels": np.array([0, 1, 0, 1]), "ids": np.array(list("abcd")), "frame": pd.DataFrame(index=range(4))}
    Records(**whole)
    with pytest.raises(FileError, match=words):
        Records(**{**whole, **change})
