"""Projected rows are records: they decode, go through a CSV file and come back, and patients back their ranges."""

import io
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot.cohort import (
    Column,
    Encoder,
    EncoderSettings,
    Layout,
    Schema,
    Series,
    SeriesEncoder,
    ValidRows,
    on_grid,
    settled,
    valid_rows,
)
from aliquot.cohort.codes import RARE, LevelCode, NumberCode, OrdinalCode, ranks
from aliquot.cohort.declared import cells_of
from aliquot.cohort.series import as_long
from aliquot.cohort.values import numbers
from aliquot.matching import project
from aliquot.release.spreadsheet import csv

N, ROWS = 60, 12


def text(values, dtype=object):
    return pd.Series(np.asarray(values, dtype=object), dtype=dtype)


def bounded(rng):
    """Numbers, a third of them with a sign."""
    values, signs = rng.gamma(2, 20, N).round(0), rng.choice(["", "", "", "", "<=", "> "], N)
    return text([f"{sign}{value:g}" for sign, value in zip(signs, values, strict=True)])


NUMERIC, MARKED = {"kind": "numeric"}, {"kind": "integer", "gap_values": (-999,)}
ORDER = {"kind": "ordinal", "levels": ("mild", "moderate", "severe")}
SHARES = np.array([0.3, 0.2] + [0.1] * 3 + [0.05] * 4)
ICD9 = ["250", "428", "250.02", "250.1", "V45", "E888", "8", "401.9", "414"]
ICD10 = ["I21.4", "J18.9", "I21.0", "I21", "I48", "E11.9", "K70", "C34.1", "Z99"]
ATC = ["B01AC06", "C07AB02", "B01AC04", "B01AB05", "C07AB07", "N02BE01", "A10BA02", "B03AA07", "J01CA04"]
COLUMNS = {  # of a random generator: the cells, and what the schema says
    "whole": lambda rng: (pd.Series(rng.integers(20, 90, N)), {"kind": "integer"}),
    "small type": lambda rng: (pd.Series(rng.integers(0, 120, N), dtype="uint8"), {"kind": "integer"}),
    "large": lambda rng: (pd.Series(rng.integers(10**8, 10**10, N)), {"kind": "integer"}),
    "nullable": lambda rng: (pd.Series(rng.integers(-5, 5, N), dtype="Int64"), {"kind": "integer"}),
    "decimals": lambda rng: (pd.Series(rng.normal(7.4, 0.1, N).round(2)), {"kind": "numeric"}),
    "no decimals": lambda rng: (pd.Series(rng.normal(0, 1e-4, N)), {"kind": "numeric"}),
    "far from zero": lambda rng: (pd.Series(1e6 + rng.normal(0, 3, N).round(3)), {"kind": "numeric"}),
    "float32": lambda rng: (pd.Series(rng.normal(37, 1, N).round(1), dtype="float32"), {"kind": "numeric"}),
    "thirds": lambda rng: (pd.Series(rng.normal(140, 5, N) / 3, dtype="float32"), {"kind": "numeric"}),
    "arrow": lambda rng: (pd.Series(rng.normal(37, 1, N), dtype="float[pyarrow]"), {"kind": "numeric"}),
    "as text": lambda rng: (text([f"{value:.1f}" for value in rng.normal(5, 2, N)]), {"kind": "numeric"}),
    "log": lambda rng: (pd.Series(rng.lognormal(2, 1.5, N).round(1)), {"kind": "numeric", "log": True}),
    "fine log": lambda rng: (pd.Series(rng.lognormal(2, 2, N)), {"kind": "numeric", "log": True}),
    "signed log": lambda rng: (pd.Series(rng.normal(0, 20, N).round(1)), {"kind": "numeric", "log": True}),
    "bounded": lambda rng: (pd.Series(rng.normal(50, 60, N).round(0)), {"kind": "integer", "low": 0.0, "high": 100.0}),
    "heavy tail": lambda rng: (pd.Series(np.append(rng.normal(size=N - 1), 1e6).round(2)), {"kind": "numeric"}),
    "hardly varying": lambda rng: (pd.Series(np.append(np.full(N - 1, 3.0), rng.normal())), {"kind": "numeric"}),
    "truth": lambda rng: (pd.Series(rng.random(N) < 0.3), {"kind": "boolean"}),
    "words": lambda rng: (text(rng.choice(["Yes", "No"], N)), {"kind": "boolean"}),
    "levels": lambda rng: (text(rng.choice(["icu", "ward", "=1+1", "-"], N)), {"kind": "categorical"}),
    "codes": lambda rng: (text(rng.choice(["007", "7a", "1.50", "TRUE"], N)), {"kind": "categorical"}),
    "numbers": lambda rng: (pd.Series(rng.integers(1, 4, N)), {"kind": "categorical"}),
    "category": lambda rng: (pd.Series(pd.Categorical(rng.choice(["a", "b"], N))), {"kind": "categorical"}),
    "with rare": lambda rng: (text(rng.choice(["a", "b", "c"], N, p=[0.7, 0.2, 0.1])), {"kind": "categorical"}),
    "below": lambda rng: (text(np.where(rng.random(N) < 0.4, "<0.2", rng.gamma(2, 2, N).round(1))), NUMERIC),
    "below and above": lambda rng: (bounded(rng), NUMERIC),
    "below in log": lambda rng: (bounded(rng), NUMERIC | {"log": True}),
    "seldom above": lambda rng: (text([">9"] * 4 + [f"{v:.1f}" for v in rng.gamma(2, 2, N - 4)]), NUMERIC),
    "order": lambda rng: (text(rng.choice(["mild", "moderate", "severe"], N)), ORDER),
    "order of numbers": lambda rng: (pd.Series(rng.integers(1, 4, N)), {"kind": "ordinal", "levels": ("1", "2", "3")}),
    "diagnoses": lambda rng: (text(rng.choice(ICD9, N, p=SHARES)), {"kind": "code"}),
    "ICD-10": lambda rng: (text(rng.choice(ICD10, N, p=SHARES)), {"kind": "code"}),
    "drugs": lambda rng: (text(rng.choice(ATC, N, p=SHARES)), {"kind": "code"}),
    "numbers of wards": lambda rng: (pd.Series(rng.integers(100, 130, N)), {"kind": "code"}),
    "gap marks": lambda rng: (pd.Series(np.where(rng.random(N) < 0.3, -999, rng.integers(1, 90, N))), MARKED),
    "all rare": lambda rng: (text([f"level {place}" for place in range(N)]), {"kind": "categorical"}),
}
GAPS = ("none", "few", "own", "shared")


@st.composite
def tables(draw) -> tuple[Encoder, pd.DataFrame, np.ndarray]:
    """An encoder, the table that it learned from, and rows anywhere."""
    chosen = draw(st.lists(st.tuples(st.sampled_from(list(COLUMNS)), st.sampled_from(GAPS)), min_size=4, max_size=10))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shared, cells, schema = rng.random(N) < 0.4, {}, []
    for place, (kind, gaps) in enumerate(chosen):
        values, known = COLUMNS[kind](rng)
        gap = {"none": np.zeros(N, bool), "few": np.arange(N) < 3, "own": rng.random(N) < 0.3, "shared": shared}[gaps]
        cells[f"c{place}"] = values.where(~gap) if gap.any() else values
        schema.append(Column(name=f"c{place}", **known))
    how = EncoderSettings(
        scale=draw(st.sampled_from(["std", "robust"])),
        clip=draw(st.sampled_from([0.0, 2.0, 5.0])),
        log=draw(st.sampled_from(["schema", "auto"])),
    )
    frame = pd.DataFrame(cells)
    encoder = Encoder.fit(frame, Schema(tuple(schema)), how)
    z = rng.normal(size=(ROWS, *encoder.shape)) * draw(st.sampled_from([0.5, 3.0, 100.0]))
    return encoder, frame, z.astype(np.float32)


def projected(encoder: Encoder | SeriesEncoder, z: np.ndarray) -> np.ndarray:
    return np.asarray(jax.jit(project)(valid_rows(encoder), z))


@settings(max_examples=20, deadline=None)
@given(drawn=tables())
def test_projected_rows_are_records(drawn):
    encoder, _, z = drawn
    hard = projected(encoder, z)
    x = settled(encoder, hard)
    np.testing.assert_allclose(x, hard, atol=1e-4)
    np.testing.assert_array_equal(settled(encoder, x), x)
    file = csv(encoder.inverse(x))
    np.testing.assert_array_equal(encoder.transform(pd.read_csv(io.BytesIO(file))), x)
    np.testing.assert_allclose(projected(encoder, x), x, atol=1e-4)


@settings(max_examples=20, deadline=None)
@given(drawn=tables())
def test_cells_of_projected_rows_are_those_of_patients(drawn):
    encoder, frame, z = drawn
    table = encoder.inverse(settled(encoder, projected(encoder, z)))
    for code in encoder.columns:
        cells = table[code.name].dropna()
        if isinstance(code, LevelCode):
            assert not code.named or (cells.astype(str) != RARE).all()
        if isinstance(code, NumberCode):
            shown, source = (numbers_of(code, one) for one in (table, frame))
            tolerance = 1e-6 * np.abs(source).max()
            assert ((shown >= code.row_low - tolerance) & (shown <= code.row_high + tolerance)).all()
            if code.row_low < code.row_high:
                assert (source <= code.row_low + tolerance).sum() >= 10
                assert (source >= code.row_high - tolerance).sum() >= 10


def numbers_of(code: NumberCode, table: pd.DataFrame) -> np.ndarray:
    """The numbers, or the places in the declared order, of a column."""
    cells = cells_of(table, code)
    found = numbers(ranks(code.name, cells, code.levels) if isinstance(code, OrdinalCode) else cells)
    return found[~np.isnan(found)]


def small_table() -> tuple[Encoder, dict[str, int]]:
    place = np.arange(N)
    frame = pd.DataFrame(
        {
            "ph": np.where(place % 4 == 0, np.nan, 7.0 + place % 5 / 10),
            "weaned": pd.Series(np.where(place % 4 == 0, None, place % 3 == 0), dtype="boolean"),
            "ward": np.where(place % 2 == 0, "icu", "hdu"),
            "age": 20 + place,
        }
    )
    kinds = {"ph": "numeric", "weaned": "boolean", "ward": "categorical", "age": "integer"}
    encoder = Encoder.fit(frame, Schema(tuple(Column(name=name, kind=kind) for name, kind in kinds.items())))
    return encoder, {name: number for number, name in enumerate(encoder.feature_names)}


def test_gaps_take_median_and_mode_also_where_they_share_a_flag():
    encoder, place = small_table()
    z = np.zeros((2, len(place)), np.float32)
    z[:, place["ph"]], z[:, place["weaned"]] = 1.0, 0.9
    z[1, place["ph=(missing)"]] = 0.6
    table = encoder.inverse(projected(encoder, z))
    assert table["ph"].isna().tolist() == table["weaned"].isna().tolist() == [False, True]
    gap = encoder.transform(pd.DataFrame({"ph": [np.nan], "weaned": [None], "ward": ["hdu"], "age": [50]}))[0]
    hard = projected(encoder, z)
    names = ["ph", "ph=(missing)", "weaned"]
    assert hard[1, [place[name] for name in names]].tolist() == gap[[place[name] for name in names]].tolist()


def test_levels_are_one_hot_never_rare_and_ties_go_to_the_first():
    encoder, place = small_table()
    z = np.zeros((3, len(place)), np.float32)
    z[0, place["ward=(rare)"]], z[0, place["ward=icu"]], z[1, place["ward=hdu"]] = 9.0, 0.1, -1.0
    levels = projected(encoder, z)[:, [place[f"ward={level}"] for level in ("hdu", "icu", RARE)]]
    assert levels.tolist() == [[0, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_numbers_stay_where_ten_patients_are():
    encoder, place = small_table()
    z = np.zeros((2, len(place)), np.float32)
    z[:, place["age"]] = [-50, 50]
    assert encoder.inverse(projected(encoder, z))["age"].tolist() == [30, 70]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_precision_is_that_of_the_rows(dtype):
    encoder, place = small_table()
    with jax.enable_x64(dtype == "float64"):
        hard = project(valid_rows(encoder), jnp.ones((2, len(place)), dtype))
        assert hard.dtype == dtype
    np.testing.assert_allclose(settled(encoder, np.asarray(hard)), hard, atol=1e-6)


def test_many_sets_of_rows_at_once():
    encoder, place = small_table()
    valid = valid_rows(encoder)
    z = jax.random.normal(jax.random.key(0), (3, 4, len(place)))
    at_once = jax.jit(jax.vmap(project, in_axes=(None, 0)))(valid, z)
    np.testing.assert_allclose(at_once, jnp.stack([project(valid, one) for one in z]), atol=1e-6)
    np.testing.assert_allclose(jax.vmap(lambda row: project(valid, row))(z[0]), at_once[0], atol=1e-6)


def test_encoders_without_a_range_of_rows_know_decimals_and_levels():
    encoder, place = small_table()
    old = Encoder(
        tuple(
            replace(code, row_low=None, row_high=None) if isinstance(code, NumberCode) else code
            for code in encoder.columns
        )
    )
    z = np.zeros((1, len(place)), np.float32)
    z[0, place["age"]] = 3.0
    age = old.inverse(projected(old, z))["age"].tolist()
    assert age == [round(3 * encoder.columns[3].scale + encoder.columns[3].centre)]


def stays(rng: np.random.Generator) -> tuple[Series, pd.DataFrame]:
    values = rng.normal([80, 7.4, 46.7], [15, 0.1, 3], size=(N, 5, 3)).astype(np.float32)
    values[:, :, :2] = values[:, :, :2].round(2)
    values = np.concatenate([values, (rng.random((N, 5, 1)) < 0.1)], axis=2).astype(np.float32)
    values[:, :, 1:3][rng.random((N, 5, 2)) < 0.4] = np.nan
    frame = pd.DataFrame({"age": rng.integers(20, 90, N), "unit": rng.choice(["icu", "hdu"], N)})
    frame["weight"] = np.where(rng.random(N) < 0.3, np.nan, rng.normal(80, 15, N).round(1))
    return Series(values, ("hr", "ph", "thirds", "alarm")), frame


SERIES_SCHEMA = Schema(
    (
        Column(name="age", kind="integer"),
        Column(name="unit", kind="categorical"),
        Column(name="weight", kind="numeric"),
    )
)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), spread=st.sampled_from([0.5, 3.0, 100.0]), clip=st.sampled_from([0.0, 5.0]))
def test_projected_series_are_records(seed, spread, clip):
    rng = np.random.default_rng(seed)
    series, frame = stays(rng)
    encoder = SeriesEncoder.fit(series, frame, SERIES_SCHEMA, EncoderSettings(clip=clip))
    hard = projected(encoder, (rng.normal(size=(ROWS, *encoder.shape)) * spread).astype(np.float32))
    x = settled(encoder, hard)
    np.testing.assert_allclose(x, hard, atol=1e-4)
    np.testing.assert_array_equal(settled(encoder, x), x)
    back, table = encoder.inverse(x)
    for place, code in enumerate(encoder.channels):
        seen = back.values[:, :, place]
        seen = seen[np.isfinite(seen)]
        assert ((seen >= np.float32(code.row_low)) & (seen <= np.float32(code.row_high))).all()
        measured = series.values[:, :, place]
        assert (measured <= code.row_low + 1e-5).any(axis=1).sum() >= 10  # stays, not measurements
        assert (measured >= code.row_high - 1e-5).any(axis=1).sum() >= 10
    assert set(table["unit"]) <= {"icu", "hdu"}


def test_measurements_of_projected_series_come_back_from_their_csv():
    rng = np.random.default_rng(0)
    series, frame = stays(rng)
    encoder = SeriesEncoder.fit(series, frame, SERIES_SCHEMA)
    x = settled(encoder, projected(encoder, rng.normal(size=(ROWS, *encoder.shape)).astype(np.float32)))
    back, table = encoder.inverse(x)
    lines = pd.read_csv(io.BytesIO(csv(as_long(back, table.iloc[:, :0]))))
    read = on_grid(lines, Layout("row", "hour", "variable", "value", hours=5)).series
    np.testing.assert_array_equal(encoder.transform(read, table), x)


def test_series_carry_the_last_measurement_forward():
    series, frame = stays(np.random.default_rng(0))
    encoder = SeriesEncoder.fit(series, frame, SERIES_SCHEMA)
    place = {name: number for number, name in enumerate(encoder.feature_names)}
    z = np.zeros((1, *encoder.shape), np.float32)
    z[0, :, place["ph"]] = [1.0, 0.5, -1.0, 0.0, 1.0]
    z[0, :, place["ph=(measured)"]] = [0.2, 0.9, 0.1, 0.8, -3.0]
    hard = projected(encoder, z)[0]
    median = valid_rows(encoder).fill[0, place["ph"]]
    steps = hard[:, place["ph"]]
    assert hard[:, place["ph=(measured)"]].tolist() == [0, 1, 0, 1, 0]
    np.testing.assert_array_equal(steps, np.float32([median, steps[1], steps[1], steps[3], steps[3]]))


def test_what_does_not_change_in_series_is_projected_once():
    series, frame = stays(np.random.default_rng(0))
    encoder = SeriesEncoder.fit(series, frame, SERIES_SCHEMA)
    place = {name: number for number, name in enumerate(encoder.feature_names)}
    z = np.zeros((1, *encoder.shape), np.float32)
    z[0, :, place["unit=icu"]] = [3, -1, -1, -1, 1]
    hard = projected(encoder, z)[0, :, [place["unit=hdu"], place["unit=icu"]]]
    assert hard.tolist() == [[0] * 5, [1] * 5]


def test_valid_rows_pass_through_transformations_as_arrays():
    encoder, _ = small_table()
    leaves, _ = jax.tree.flatten(valid_rows(encoder))
    assert len(leaves) == 11
    assert isinstance(jax.tree.map(jnp.asarray, valid_rows(encoder)), ValidRows)
