import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot.cohort import Column, Encoder, EncoderSettings, Schema, infer_schema
from aliquot.cohort.declared import cells_of
from aliquot.errors import SchemaError, SettingsError, TamperedError
from aliquot.release.spreadsheet import csv

N = 60
RNG = np.random.default_rng(0)
NUMBERS = ("age", "crp", "lactate")  # columns of the table


@pytest.fixture
def table(frame) -> pd.DataFrame:
    return frame.drop(columns="died")


@pytest.fixture
def encoder(table) -> Encoder:
    return Encoder.fit(table, infer_schema(table))


def one(cells, kind=None, settings=None, **known) -> tuple[Encoder, pd.DataFrame]:
    """Encoder of a table with the single column ``x``."""
    table = pd.DataFrame({"x": cells})
    schema = Schema((Column(name="x", kind=kind, **known),)) if kind else infer_schema(table)
    return Encoder.fit(table, schema, settings), table


cells = {
    "integer": st.integers(-10_000, 10_000),
    "numeric": st.decimals(-1000, 1000, places=2).map(float),
    "boolean": st.booleans(),
    "categorical": st.sampled_from(["a", "b", "c", "d"]),
}


@st.composite
def tables(draw) -> tuple[pd.DataFrame, Schema]:
    kinds = draw(st.lists(st.sampled_from(list(cells)), min_size=1, max_size=4))
    size, columns, data = draw(st.integers(2, 12)), [], {}
    for place, kind in enumerate(kinds):
        values = draw(st.lists(cells[kind], min_size=size, max_size=size))
        gaps = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        data[f"c{place}"] = [None if gap else value for value, gap in zip(values, gaps, strict=True)]
        columns.append(Column(name=f"c{place}", kind=kind))
    return pd.DataFrame(data), Schema(tuple(columns))


@settings(max_examples=60, deadline=None)
@given(drawn=tables())
def test_round_trips(drawn):
    table, schema = drawn
    encoder = Encoder.fit(table, schema, EncoderSettings(rare_below=1))
    again = Encoder.from_json(encoder.to_json())
    values = encoder.transform(table)
    assert again == encoder
    assert again.transform(table).tobytes() == values.tobytes()
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    back = encoder.inverse(values)
    assert back.columns.tolist() == table.columns.tolist()
    assert np.array_equal(back.isna(), table.isna())
    for column in schema:
        before, after = table[column.name].dropna(), back[column.name].dropna()
        if column.kind in ("numeric", "integer"):
            assert np.allclose(before.astype(float), after.astype(float), rtol=1e-5, atol=0.02)
        else:
            assert before.tolist() == after.tolist()


def test_features_of_a_table(table, encoder):
    values = encoder.transform(table)
    assert encoder.feature_names == (
        *("age", "crp", "lactate", "lactate=(missing)"),
        *("ward=icu", "ward=medical", "ward=surgical", "ward=(rare)", "smoker"),
    )
    numeric = values[:, [0, 1, 2]]
    assert np.allclose(numeric.mean(axis=0), 0, atol=0.2)  # ten patients on either side move neither number
    assert (numeric.std(axis=0) > 0.9).all()
    assert np.array_equal(values[:, 3], table["lactate"].isna())
    assert (values[:, 4:8].sum(axis=1) == 1).all()
    assert np.array_equal(values[:, 8], table["smoker"] == "yes")


def test_tables_come_back_as_they_came(table, encoder):
    pd.testing.assert_frame_equal(encoder.inverse(encoder.transform(table)), table, rtol=1e-6)


TYPED = {
    "int8": pd.Series([3, -7, 120] * 20, dtype="int8"),
    "float32": pd.Series([0.1, 2.25, np.nan] * 20, dtype="float32"),
    "Int64": pd.Series([3, None, 9] * 20, dtype="Int64"),
    "arrow": pd.Series([3, None, 9] * 20, dtype="int64[pyarrow]"),
    "bool": pd.Series([True, False, True] * 20),
    "boolean": pd.Series([True, None, False] * 20, dtype="boolean"),
    "object booleans": pd.Series([True, None, False] * 20, dtype=object),
    "object integers": pd.Series([1, None, 0] * 20, dtype=object),
    "zero and one": pd.Series([0, 1, 1] * 20),
    "zero and one with gaps": pd.Series([0.0, 1.0, np.nan] * 20),
    "Yes and No": pd.Series(["Yes", None, "No"] * 20),
    "text": pd.Series(["b", None, "a"] * 20),
    "string": pd.Series(["b", None, "a"] * 20, dtype="string"),
    "object text": pd.Series(["b", None, "a"] * 20, dtype=object),
}


@pytest.mark.parametrize("cells", TYPED.values(), ids=TYPED.keys())
def test_types_come_back(cells):
    encoder, table = one(cells)
    pd.testing.assert_frame_equal(encoder.inverse(encoder.transform(table)), table)


def test_pandas_categories_come_back():
    encoder, table = one(pd.Categorical(["b", None, "a"] * 20))
    back = encoder.inverse(encoder.transform(table))["x"]
    assert back.cat.categories.tolist() == ["a", "b", "(rare)"]
    assert back.astype("str").equals(table["x"].astype("str"))


def test_codes_declared_as_categories_come_back():
    encoder, table = one([1, 2, 3] * 20, "categorical")
    pd.testing.assert_frame_equal(encoder.inverse(encoder.transform(table)), table)
    assert encoder.transform(pd.DataFrame({"x": [2.0, np.nan]})).tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]


def test_numbers_as_text_come_back_as_numbers():
    encoder, table = one(["1.5", None, "2.25"] * 20)
    back = encoder.inverse(encoder.transform(table))["x"]
    assert back.dropna().tolist() == [1.5, 2.25] * 20
    assert back.isna().equals(table["x"].isna())


def test_rare_levels_are_not_named():
    encoder, table = one(["a"] * 10 + ["hermit"] * 9 + [None] * 10)
    assert encoder.feature_names == ("x=a", "x=(rare)", "x=(missing)")
    assert "hermit" not in encoder.to_json()
    assert encoder.inverse(encoder.transform(table))["x"].tolist()[10:19] == ["(rare)"] * 9


def test_unseen_and_newly_missing_levels_are_counted(encoder, table):
    new = table.head(4).assign(
        ward=["icu", "hospice", None, "(rare)"], lactate=[1.0, np.nan, 2.0, 3.0], age=[1.0, 2, 3, None]
    )
    values, unseen = encoder.transform_counted(new)
    assert unseen == {"ward": 2}
    assert values[:, encoder.feature_names.index("ward=(rare)")].tolist() == [0, 1, 1, 1]
    median = encoder.transform(table.head(1).assign(age=58.0))[0, 0]  # of 60 ages, 57.5, but coarse
    assert values[3, 0] == median


def test_reserved_names_are_no_levels():
    encoder, _ = one(["(rare)"] * 20 + ["(missing)"] * 20 + ["a"] * 20 + [None] * 10)
    assert encoder.feature_names == ("x=a", "x=(rare)", "x=(missing)")


def test_encoding_does_not_touch_the_frame(encoder, table):
    before = table.copy(deep=True)
    encoder.transform(table)
    pd.testing.assert_frame_equal(table, before)


def test_extreme_values_stay_finite():
    encoder, _ = one(np.linspace(0, 1e-3, N), "numeric", log=True)
    assert np.isfinite(encoder.transform(pd.DataFrame({"x": [1e29, -1e29]}))).all()
    assert np.isfinite(encoder.inverse(np.array([[1e9], [-1e9]]))["x"]).all()


def test_column_order_and_extra_columns_do_not_matter(encoder, table):
    shuffled = table[table.columns[::-1]].assign(extra="anything")
    assert np.array_equal(encoder.transform(shuffled), encoder.transform(table))


def test_log_and_its_choices():
    skewed = np.round(np.exp(np.linspace(0, 8, N)), 1)
    for choice, known, expected in (
        ("auto", {}, True),
        ("schema", {}, False),
        ("never", {"log": True}, False),
    ):
        encoder, _ = one(skewed, "numeric", EncoderSettings(log=choice), **known)
        assert json.loads(encoder.to_json())["columns"][0]["log"] is expected
    encoder, table = one(np.append(skewed, -5.0), "numeric", log=True)
    assert np.allclose(encoder.inverse(encoder.transform(table))["x"], table["x"], rtol=1e-5)


def test_plausible_range_holds_both_ways():
    encoder, _ = one(np.arange(N, dtype=float), "numeric", low=10, high=20)
    inside = encoder.transform(pd.DataFrame({"x": [10.0, 20.0]}))
    assert np.array_equal(encoder.transform(pd.DataFrame({"x": [-1e9, 1e9]})), inside)
    assert encoder.inverse(np.array([[-100.0], [100.0]]))["x"].tolist() == [10.0, 20.0]


def test_integers_stay_within_their_type():
    encoder, _ = one(pd.Series([3, 7, 120] * 20, dtype="uint8"))
    assert encoder.inverse(np.array([[-1e6], [1e6]]))["x"].tolist() == [0, 255]


def test_decimals_are_those_of_the_source_as_far_as_float32_carries_them():
    for cells, decimals in (([0.5, 1.25, 3.0], 2), ([0.1, 1 / 3, 0.7], 6), ([1e5 / 3, 7.5e5, 0.0], 0)):
        encoder, _ = one(cells, "numeric")
        assert json.loads(encoder.to_json())["columns"][0]["decimals"] == decimals


def test_float32_cells_and_their_csv_are_encoded_alike():
    encoder, table = one(pd.Series([0.1, 2.3, 0.7] * 20, dtype="float32"))
    values = encoder.transform(table)
    assert np.array_equal(encoder.transform(pd.DataFrame({"x": [0.1, 2.3, 0.7] * 20})), values)
    assert encoder.inverse(values).equals(table)


def test_levels_come_back_from_files_that_do_not_know_them_for_text():
    cells = ["007", "=1+1", "TRUE", "a"] * 20
    encoder, table = one(cells, "categorical")
    assert np.array_equal(
        encoder.transform(pd.DataFrame({"x": [7, "'=1+1", True, "a"] * 20})), encoder.transform(table)
    )
    encoder, _ = one(["007", "7.0", "a"] * 20, "categorical")
    assert encoder.transform_counted(pd.DataFrame({"x": [7]}))[1] == {"x": 1}  # it could be either


def test_a_robust_scale_is_not_moved_by_a_few_wild_values():
    wild = np.append(np.tile(np.linspace(-1, 1, 21), 100), [1e6] * 5)
    for how in ("robust", "std"):
        code = one(wild, "numeric", EncoderSettings(scale=how))[0].columns[0]
        assert (code.centre, code.scale) == (0.0, 0.6)
    many = np.append(wild, [1e6] * 5)
    robust, plain = (one(many, "numeric", EncoderSettings(scale=how))[0].columns[0] for how in ("robust", "std"))
    assert robust.scale == 0.6
    assert plain.scale > 1e4  # ten patients may move it


def test_a_robust_scale_of_hardly_varying_numbers_is_the_plain_one():
    cells = np.append(np.zeros(1000), [3.0, 4.0])
    robust, plain = (one(cells, "numeric", EncoderSettings(scale=how))[0].columns[0] for how in ("robust", "std"))
    assert (robust.centre, robust.scale) == (plain.centre, plain.scale)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (np.arange(2000) / 10, (1.0, 198.0)),  # half a per cent, moved inwards to a round number
        (np.arange(60), (10, 50)),  # the tenth from either end, or the next
        (np.arange(19), (9, 9)),  # too few patients: the median
        ([1.5, None], (0.0, 0.0)),  # a single value is not told at all
        ([None, None], (0.0, 0.0)),
    ],
)
def test_the_range_of_rows_has_ten_patients_at_either_end(cells, expected):
    code = one(cells, "numeric")[0].columns[0]
    assert (code.row_low, code.row_high) == expected


def test_ten_rows_of_one_patient_are_one_patient():
    table, patients = pd.DataFrame({"x": np.arange(1000)}), np.arange(1000) // 10
    code = Encoder.fit(table, infer_schema(table), patients=patients).columns[0]
    assert (code.row_low, code.row_high) == (100, 900)


def test_clip_bounds_the_scores():
    encoder, table = one(np.append(np.zeros(N), 1e6) + 0.5, settings=EncoderSettings(clip=3))
    assert np.abs(encoder.transform(table)).max() == 3


@pytest.mark.parametrize("cells", [[2.5] * 20, [np.nan] * 20, ["yes"] * 20], ids=["same", "missing", "yes"])
def test_columns_without_variation_in_training(cells):
    kind = "boolean" if cells[0] == "yes" else "numeric"
    encoder, table = one(cells, kind)
    assert np.isfinite(encoder.transform(table)).all()
    assert encoder.inverse(encoder.transform(table)).equals(table)


def test_wrong_tables(encoder, table, raises, sentinel):
    with raises(SchemaError, "'age', 'ward'"):
        encoder.transform(table.drop(columns=["age", "ward"]))
    with raises(SchemaError, "'crp'", "1 cell "):
        encoder.transform(table.assign(crp=[sentinel] + ["1.5"] * (N - 1)))
    with raises(SchemaError, "'age'", "2 cells"):
        encoder.transform(table.assign(age=[np.inf, -np.inf] + [50.0] * (N - 2)))
    with raises(SchemaError, "'smoker'", "1 cell "):
        encoder.transform(table.assign(smoker=[sentinel] + ["yes"] * (N - 1)))
    with raises(SchemaError, "(3, 2)"):
        encoder.inverse(np.zeros((3, 2)))
    with raises(SchemaError, "'weight'"):
        Encoder.fit(table, Schema((Column(name="weight", kind="numeric"),)))


def test_clashing_feature_names(raises):
    table = pd.DataFrame({"a": [1.5, None] * 10, "a=(missing)": [1.5, 2.5] * 10})
    with raises(SchemaError, "same name"):
        Encoder.fit(table, infer_schema(table))


@pytest.mark.parametrize(
    "wrong", [{"log": "always"}, {"scale": "wide"}, {"rare_below": 0}, {"clip": -1.0}, {"clip": float("nan")}]
)
def test_impossible_settings(wrong, raises):
    with raises(SettingsError, next(iter(wrong))):
        EncoderSettings(**wrong)


def changed(text: str, change) -> str:
    document = json.loads(text)
    change(document)
    return json.dumps(document)


TAMPERED = {
    "truncated": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "another document": lambda text: "[]",
    "another format": lambda text: changed(text, lambda document: document.update(format="other")),
    "another version": lambda text: changed(text, lambda document: document.update(version=2)),
    "no columns": lambda text: changed(text, lambda document: document.pop("columns")),
    "a number changed": lambda text: changed(text, lambda document: document["columns"][0].update(median=1.0)),
    "a key gone": lambda text: changed(text, lambda document: document["columns"][0].pop("scale")),
    "a column of text": lambda text: changed(text, lambda document: document.update(columns=["x"])),
    "a feature renamed": lambda text: changed(text, lambda document: document["features"].reverse()),
}


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED.keys())
def test_tampered_encoders_are_refused(tamper, encoder, raises):
    with raises(TamperedError, "aliquot-encoder"):
        Encoder.from_json(tamper(encoder.to_json()))


def test_json_is_readable_by_a_stranger(encoder):
    document = json.loads(encoder.to_json())
    assert (document["format"], document["version"]) == ("aliquot-encoder", 1)
    assert document["features"] == list(encoder.feature_names)
    lactate = document["columns"][2]
    assert lactate["name"] == "lactate"
    assert {"kind", "median", "centre", "scale", "log", "missing"} <= lactate.keys()


def test_files_without_a_range_of_rows_are_read_and_written_as_they_were(encoder, table):
    known = [replace(code, row_low=None, row_high=None) if code.name in NUMBERS else code for code in encoder.columns]
    old = Encoder(tuple(known))
    assert "row_low" not in old.to_json()
    again = Encoder.from_json(old.to_json())
    assert again.to_json() == old.to_json()
    assert np.array_equal(again.transform(table), encoder.transform(table))


@pytest.mark.parametrize(
    "cells", [[1.5, 2.5] * 20, ["a", "b"] * 20, [True, False] * 20], ids=["number", "level", "truth"]
)
def test_gaps_of_a_few_patients_get_no_feature_that_would_point_at_them(cells):
    assert not any("missing" in name for name in one([*cells, *[None] * 9])[0].feature_names)
    assert any("missing" in name for name in one([*cells, *[None] * 10])[0].feature_names)


@pytest.fixture
def shared() -> pd.DataFrame:
    """Gaps: blood gases alike, lactate elsewhere, weaned as the blood gases, a few in both temperatures."""
    place, rng = np.arange(N), np.random.default_rng(0)
    gas, few = place % 4 == 0, place < 5
    return pd.DataFrame(
        {
            "ph_min": np.where(gas, np.nan, np.round(rng.normal(7.3, 0.1, N), 2)),
            "lactate": np.where(place % 5 == 0, np.nan, np.round(rng.gamma(2, 1, N), 2)),
            "ph_max": np.where(gas, np.nan, np.round(rng.normal(7.5, 0.1, N), 2)),
            "weaned": pd.Series(np.where(gas, None, place % 3 == 0), dtype="boolean"),
            "temperature_min": np.where(few, np.nan, 36.5 + place % 2),
            "temperature_max": np.where(few, np.nan, 37.5 + place % 3),
        }
    )


def test_columns_with_the_same_gaps_share_one_feature(shared):
    encoder = Encoder.fit(shared, infer_schema(shared))
    assert encoder.feature_names == (
        *("ph_min", "ph_min=(missing)", "lactate", "lactate=(missing)", "ph_max", "weaned"),
        *("temperature_min", "temperature_max"),
    )
    values = encoder.transform(shared)
    assert np.array_equal(values[:, 1], shared["ph_max"].isna())
    back = encoder.inverse(values)
    known = shared.columns[:4]
    pd.testing.assert_frame_equal(back[known], shared[known], rtol=1e-6)
    assert not back["temperature_max"].isna().any()
    again = Encoder.from_json(encoder.to_json())
    assert again == encoder
    assert again.inverse(values).equals(back)


def test_other_features_do_not_change_where_gaps_are_shared(shared):
    alone = shared.drop(columns="ph_min")
    together, apart = Encoder.fit(shared, infer_schema(shared)), Encoder.fit(alone, infer_schema(alone))
    for name in ("ph_max", "weaned", "lactate", "lactate=(missing)"):
        before = apart.transform(alone)[:, apart.feature_names.index(name)]
        assert before.tobytes() == together.transform(shared)[:, together.feature_names.index(name)].tobytes()


def test_a_shared_feature_tells_the_gaps_of_its_own_column_on_new_rows(shared):
    encoder = Encoder.fit(shared, infer_schema(shared))
    new = shared.tail(3).assign(ph_min=[7.2, np.nan, 7.2], ph_max=[np.nan, 7.5, 7.5])
    assert encoder.transform(new)[:, 1].tolist() == [0, 1, 0]
    back = encoder.inverse(encoder.transform(new))
    assert back["ph_min"].isna().tolist() == back["ph_max"].isna().tolist() == [False, True, False]
    assert back["ph_max"][0] == shared["ph_max"].median()


def test_levels_keep_their_missing_bin_and_others_share_it(shared):
    table = shared[["ph_min"]].assign(ward=np.where(shared["ph_min"].isna(), None, "icu"), ph_max=shared["ph_max"])
    for order in (["ward", "ph_min", "ph_max"], ["ph_min", "ward", "ph_max"]):
        frame = table[order]
        encoder = Encoder.fit(frame, infer_schema(frame))
        own = ("ward=(missing)",) if order[0] == "ward" else ("ph_min=(missing)", "ward=(missing)")
        assert tuple(name for name in encoder.feature_names if "missing" in name) == own
        pd.testing.assert_frame_equal(encoder.inverse(encoder.transform(frame)), frame, rtol=1e-6)


def test_the_json_names_a_shared_feature_only_where_there_is_one(shared, encoder):
    assert "missing_with" not in encoder.to_json()
    document = json.loads(Encoder.fit(shared, infer_schema(shared)).to_json())
    found = {column["name"]: (column["missing"], column.get("missing_with")) for column in document["columns"]}
    assert found["ph_min"] == (True, None)
    assert found["ph_max"] == found["weaned"] == (False, "ph_min")
    assert found["temperature_max"] == (False, None)


def test_a_shared_feature_that_does_not_exist_is_refused(shared, raises):
    encoder = Encoder.fit(shared, infer_schema(shared))
    stray = Encoder(
        tuple(replace(code, missing_with="else") if code.name == "ph_max" else code for code in encoder.columns)
    )
    with raises(TamperedError, "aliquot-encoder"):
        Encoder.from_json(stray.to_json())


def test_no_number_comes_back_as_minus_zero():
    for log in (False, True):
        frame = pd.DataFrame({"score": np.linspace(0, 30, 60).round() - 15.0})
        encoder = Encoder.fit(frame, Schema((Column(name="score", kind="numeric", log=log),)))
        below = encoder.transform(pd.DataFrame({"score": [0.0]})) - 1e-4
        cells = encoder.inverse(below)["score"]
        assert cells.tolist() == [0.0]
        assert not np.signbit(cells).any()


def some(levels, shares):
    """Texts in which levels have these shares."""
    return np.random.default_rng(0).choice(np.array(levels, dtype=object), 200, p=shares)


def dates(days, form="%Y-%m-%d"):
    return [(pd.Timestamp("2024-01-31") + pd.Timedelta(days=int(day))).strftime(form) for day in days]


NUMERIC, CODE, DATE = {"kind": "numeric"}, {"kind": "code"}, {"kind": "date", "days_from": "admitted"}
KINDS = {
    "decimal commas": ({"x": some(["36,5", "37,25", None], [0.5, 0.3, 0.2])}, NUMERIC),
    "bounds": ({"x": some(["<0.2", "5.5", ">=90", "7", None], [0.2] * 5)}, NUMERIC),
    "bounds in log": ({"x": some(["≤ 1", "5.5", "8", "17"], [0.25] * 4)}, NUMERIC | {"log": True}),
    "marks of gaps": ({"x": np.append(np.arange(150.0), [-999.0] * 50)}, {"kind": "integer", "gap_values": (-999,)}),
    "marks in text": ({"x": some(["a", "b", "?"], [0.4, 0.3, 0.3])}, {"kind": "categorical", "gap_values": ("?",)}),
    "order": (
        {"x": some(["mild", "moderate", "severe", None], [0.4, 0.3, 0.2, 0.1])},
        {"kind": "ordinal", "levels": ("mild", "moderate", "severe")},
    ),
    "order of numbers": ({"x": np.resize([1, 2, 3], 200)}, {"kind": "ordinal", "levels": ("3", "2", "1")}),
    "order of categories": (
        {"x": pd.Categorical(np.resize(["low", "high"], 200))},
        {"kind": "ordinal", "levels": ("low", "high")},
    ),
    "codes": ({"x": some(["250", "V45", "8", "401.9", "414", None], [0.5, 0.2, 0.1, 0.1, 0.04, 0.06])}, CODE),
    "numbers as codes": ({"x": np.resize(np.arange(100, 135), 200)}, CODE),
    "dates": ({"x": dates(np.arange(200) % 40), "admitted": dates(np.arange(200) % 7)}, DATE),
    "dates with day first": (
        {"x": dates(np.arange(200) % 40, "%d.%m.%Y"), "admitted": dates(np.zeros(200), "%d.%m.%Y")},
        DATE,
    ),
    "points in time": (
        {"x": pd.date_range("2024-01-31", periods=200, freq="7h", tz="UTC"), "admitted": pd.Timestamp("2024-01-30")},
        DATE,
    ),
}


@pytest.mark.parametrize(("cells", "known"), KINDS.values(), ids=KINDS.keys())
def test_encoded_cells_come_back_exactly(cells, known):
    table = pd.DataFrame(cells)
    encoder = Encoder.fit(table, Schema((Column(name="x", **known),)))
    again = Encoder.from_json(encoder.to_json())
    assert again == encoder
    x = again.transform(table)
    assert np.isfinite(x).all()
    back = encoder.inverse(x)
    np.testing.assert_array_equal(back["x"].isna(), cells_of(table, encoder.columns[0]).isna())
    np.testing.assert_array_equal(encoder.transform(back), x)
    file = pd.read_csv(io.BytesIO(csv(back)))
    np.testing.assert_array_equal(encoder.transform(file), x)


def test_bounds_have_a_flag_and_keep_their_sign():
    encoder, table = one(["<=0.2"] * 10 + [">90"] * 9 + ["1.5", "20"] * 10, "numeric")
    assert encoder.feature_names == ("x", "x=(below)")
    back = encoder.inverse(encoder.transform(table))["x"].astype(str)
    assert back.tolist() == ["<=0.2"] * 10 + ["90.0"] * 9 + ["1.5", "20.0"] * 10


def test_days_count_from_the_anchor():
    table = pd.DataFrame({"out": ["2024-01-05", "2024-02-01 12:00", None] * 10, "in": ["2024-01-02"] * 30})
    encoder = Encoder.fit(table, Schema((Column(name="out", kind="date", days_from="in"),)))
    assert encoder.feature_names == ("out", "out=(missing)")
    back = encoder.inverse(encoder.transform(table))["out"]
    assert back.tolist()[:2] == [3.0, 30.5]
    assert back.isna()[2]


def test_dates_that_cannot_be_counted(raises, sentinel):
    table = pd.DataFrame({"out": ["2024-01-05", "2024-02-01"] * 10, "in": ["2024-01-02"] * 20})
    encoder = Encoder.fit(table, Schema((Column(name="out", kind="date", days_from="in"),)))
    with raises(SchemaError, "'in'", "'out'"):
        encoder.transform(table[["out"]])
    with raises(SchemaError, "'in'", "20 cells"):
        encoder.transform(table.assign(**{"in": sentinel}))


def test_levels_without_a_place_in_the_order_are_refused(raises, sentinel):
    encoder, _ = one(["mild", "severe"] * 20, "ordinal", levels=("mild", "severe"))
    with raises(SchemaError, "'x'", "1 cell "):
        encoder.transform(pd.DataFrame({"x": [sentinel, "mild"]}))


def test_files_say_nothing_of_what_columns_do_not_need(encoder):
    """So that files of plain columns are as they were before there were other kinds, and older files are read."""
    columns = {column["name"]: {*column} for column in json.loads(encoder.to_json())["columns"]}
    scale = {"median", "centre", "scale", "log", "low", "high", "clip", "decimals", "row_low", "row_high"}
    assert columns["crp"] == {"name", "kind", "dtype", "missing", *scale}
    assert columns["ward"] == {"name", "kind", "dtype", "levels", "missing"}
    assert columns["smoker"] == {"name", "kind", "dtype", "spelling", "mode", "missing"}


@pytest.mark.parametrize(
    "how", [EncoderSettings(), EncoderSettings(scale="robust", clip=5.0)], ids=["plain", "default"]
)
@pytest.mark.parametrize(
    "cells",
    [
        np.append(RNG.normal(7.4, 0.1, 500), [7.4e6] * 3),
        np.append(np.zeros(500), RNG.lognormal(12, 2, 12)),
        RNG.lognormal(5, 4, 500),
    ],
    ids=["lost decimal point", "nearly all zero", "many powers of ten"],
)
def test_heavy_tails_break_nothing(cells, how):
    encoder, table = one(cells, "numeric", settings=how)
    x = encoder.transform(table)
    stated = json.loads(encoder.to_json())["columns"][0]
    assert np.isfinite(x).all()
    assert np.unique(x).size > 1
    assert (stated["clip"], stated["log"]) == (how.clip, False)
    assert not how.clip or np.abs(x).max() <= how.clip
    assert np.isfinite(encoder.inverse(x)["x"]).all()
