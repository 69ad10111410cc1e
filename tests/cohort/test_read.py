import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from aliquot.cohort import fingerprint, read_patients, read_table
from aliquot.errors import FileError, SchemaError

WRITERS = {
    "t.csv": lambda frame, path: frame.to_csv(path, index=False),
    "t.CSV": lambda frame, path: frame.to_csv(path, index=False),
    "t.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "t.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "t.tsv.gz": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "t.parquet": lambda frame, path: frame.to_parquet(path),
    "t.feather": lambda frame, path: frame.to_feather(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_tables_come_back(name, frame, tmp_path):
    WRITERS[name](frame, tmp_path / name)
    pd.testing.assert_frame_equal(read_table(tmp_path / name), frame, check_dtype="parquet" in name)


def test_missing_markers_quotes_and_byte_order_mark(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes('\ufeffa,b\n1,"x, y"\nNA,\n\nnull,"two\nlines"\n'.encode())
    frame = read_table(path)
    assert frame.columns.tolist() == ["a", "b"]
    assert frame["a"].isna().tolist() == [False, True, True]
    assert frame["b"].isna().tolist() == [False, True, False]


def test_a_named_parquet_index_is_a_column(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2]}, index=pd.Index(["p", "q"], name="pid")).to_parquet(path)
    assert read_table(path).columns.tolist() == ["pid", "a"]


def test_npz(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=np.eye(3, 2), y=[0, 1, 0], ids=["a", "b", "c"])
    assert read_table(path).columns.tolist() == ["x0", "x1", "y", "id"]
    np.savez(path, X=np.eye(3, 2), names=["age", "crp"])
    assert read_table(path).columns.tolist() == ["age", "crp"]


def test_npz_of_series(tmp_path, raises):
    path = tmp_path / "t.npz"
    X = np.arange(24).reshape(3, 4, 2)
    np.savez(path, X=X, y=[0, 1, 0], ids=["a", "b", "c"], names=["hr", "ph"])
    stays = read_patients(path)
    assert stays.series is not None
    np.testing.assert_array_equal(stays.series.values, X.astype(np.float32))
    assert stays.series.values.dtype == np.float32
    assert stays.series.channels == ("hr", "ph")
    assert (stays.frame.columns.tolist(), stays.stay_id) == (["y", "id"], "id")
    with raises(SchemaError, "three dimensions"):
        read_table(path)
    np.savez(path, X=X)
    assert read_patients(path).frame.shape == (3, 0)
    for arrays in ({"X": X, "y": [0, 1]}, {"X": X, "names": ["hr"]}, {"X": X[None]}, {"X": np.full((3, 2, 1), np.inf)}):
        np.savez(path, **arrays)
        with raises(SchemaError, "t.npz"):
            read_patients(path)


def test_a_table_is_read_as_patients_too(frame, tmp_path):
    frame.to_parquet(tmp_path / "t.parquet")
    stays = read_patients(tmp_path / "t.parquet")
    assert stays.series is None
    pd.testing.assert_frame_equal(stays.frame, frame)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b""),
        ("t.csv", b"\n\n"),
        ("t.csv", b"a,b\n1,SENTINEL,3\n1,2\n"),
        ("t.csv", b"a,b\n1,2\nSENTINEL\n"),
        ("t.csv", b"a,b\n1,2,SENTINEL\n3,4,5\n"),
        ("t.csv", b"PK\x03\x04\x00\x00,b\n1,2\n"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16-le")),
        ("t.csv.gz", b"a,b\n1,2\n3,4\n"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,SENTINEL\n" * 99, mtime=0)[:-12]),
        ("t.parquet", b"a,b\n1,SENTINEL\n3,4\n"),
        ("t.feather", b"a,b\n1,SENTINEL\n3,4\n"),
        ("t.npz", b"a,b\n1,SENTINEL\n3,4\n"),
        ("t.npz", b"PK\x03\x04SENTINEL"),
        ("t.xlsx", b"SENTINEL"),
        ("t", b"SENTINEL"),
    ],
)
def test_not_a_table(name, content, tmp_path, raises, sentinel):
    path = tmp_path / name
    path.write_bytes(content.replace(b"SENTINEL", sentinel.encode()))
    with raises(FileError, name):
        read_table(path)


def test_no_file_there(tmp_path, raises):
    with raises(FileError, "does not exist"):
        read_table(tmp_path / "absent.csv")
    with raises(FileError, "is a folder"):
        read_table(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n", ["no rows"]),
        ("a,b\nSENTINEL,2\n", ["only one row"]),
        ("a,b,a\n1,SENTINEL,3\n1,2,3\n", ["more than once", "'a'"]),
        ("a,,\n1,SENTINEL,3\n1,2,3\n", ["2 columns without a name"]),
    ],
)
def test_wrong_shape(content, words, tmp_path, raises, sentinel):
    path = tmp_path / "t.csv"
    path.write_text(content.replace("SENTINEL", sentinel))
    with raises(SchemaError, *words):
        read_table(path)


def test_repeated_names_in_binary_files(tmp_path, raises):
    table = pa.table([[1, 2], [3, 4]], names=["a", "a"])
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.feather")
    np.savez(tmp_path / "t.npz", X=np.eye(2), names=["y", "z"], y=[0, 1])
    for name in ("t.parquet", "t.feather", "t.npz"):
        with raises(SchemaError, "more than once"):
            read_table(tmp_path / name)


@pytest.mark.parametrize(
    "arrays",
    [
        {"x": np.eye(2)},
        {"X": np.zeros(2)},
        {"X": np.array([["a", "b"]] * 2)},
        {"X": np.eye(2), "y": np.zeros(3)},
        {"X": np.eye(2), "names": ["a"]},
    ],
)
def test_npz_without_a_table(arrays, tmp_path, raises):
    np.savez(tmp_path / "t.npz", **arrays)
    with raises(SchemaError, "t.npz"):
        read_table(tmp_path / "t.npz")


def test_pickles_are_refused(tmp_path, raises):
    np.savez(tmp_path / "t.npz", X=np.array([[object()] * 2] * 2), allow_pickle=True)
    with raises(FileError, "t.npz"):
        read_table(tmp_path / "t.npz")


def test_fingerprint_notices_every_change(frame):
    changes = [
        frame,
        frame.rename(columns={"age": "Age"}),
        frame.assign(age=frame["age"].astype("int32")),
        frame.assign(ward=frame["ward"].where(frame.index > 0)),
        frame.iloc[::-1],
        frame.iloc[1:],
        frame.assign(nested=[[1]] * len(frame)),
    ]
    prints = [fingerprint(change) for change in changes]
    assert len(set(prints)) == len(prints)
    assert fingerprint(frame.set_axis(frame.index + 5)) == prints[0]


def test_fingerprint_is_stable_across_processes_and_versions():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan], "c": pd.Categorical(["x", None])})
    assert fingerprint(frame) == "604024e3c6fc77531b1a808d300d5ba0a3b317ddbc69df6cf59448e2845d7212"
