import io
import json
import tempfile
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aliquot.cohort.readers.fiddle import _Summary, paper_table, read_fiddle
from aliquot.errors import FileError, SettingsError

N, STATIC, HOURS, DYNAMIC = 12, 5, 4, 7
SENTINEL = "Zq7_secret"
FIRST_ID = 770011
SUMMARIES: dict[_Summary, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda x: x.mean(axis=1),
    "any": lambda x: (x != 0).any(axis=1),
    "last": lambda x: x[:, -1],
}


def flags(*shape: int) -> np.ndarray:
    """Truth values of which the last stay and the last feature have none."""
    dense = np.random.default_rng(sum(shape)).random(shape) < 0.4
    dense[-1], dense[..., -1] = False, False
    return dense


def stored(dense: np.ndarray, data: type = np.uint8, **extra) -> dict[str, Any]:
    coords = np.array(dense.nonzero(), dtype=np.int64)
    arrays = {"coords": coords, "data": dense[tuple(coords)].astype(data), "shape": dense.shape, **extra}
    return {key: np.asarray(array) for key, array in arrays.items()}


def mimic_mortality() -> str:
    """Two stays of each of six patients, with the part of the patient."""
    parts = ["train"] * 6 + ["val"] * 2 + ["test"] * 4
    lines = [
        f"{FIRST_ID + i},{800 + i // 2}_episode{i % 2 + 1}_timeseries.csv,{parts[i]},{i % 2},{i % 2}" for i in range(N)
    ]
    return "ID,stay,partition,mortality_LABEL,y_true\n" + "\n".join(lines) + "\n"


@dataclass
class Tree:
    """One task as it will be written, for tests to change; bytes are written as they are, None not at all."""

    task: str = "ARF_4h"
    static: Any = field(default_factory=lambda: stored(flags(N, STATIC), fill_value=0))
    dynamic: Any = field(default_factory=lambda: stored(flags(N, HOURS, DYNAMIC), fill_value=0))
    static_names: Any = field(default_factory=lambda: [f"unittype_value:{i}" for i in range(STATIC)])
    dynamic_names: Any = field(
        default_factory=lambda: [f"Vital Signs|{name}_mask" for name in "abcd"] + ["x", "y", "z"]
    )
    population: str | None = "ID,ARF_ONSET_TIME,ARF_LABEL\n" + "".join(f"{FIRST_ID + i},,{i % 2}\n" for i in range(N))
    letter: str = "s"
    more: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        place = folder / "features" / self.task
        place.mkdir(parents=True)
        (folder / "population").mkdir()
        files = {
            f"{self.letter}.npz": self.static,
            "X.npz": self.dynamic,
            f"{self.letter}.feature_names.json": self.static_names,
            "X.feature_names.json": self.dynamic_names,
            **{name: text.encode() for name, text in self.more.items()},
        }
        for name, content in files.items():
            if isinstance(content, dict):
                content = packed(content)
            if content is not None:
                (place / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        if self.population is not None:
            (folder / "population" / f"{self.task}.csv").write_text(self.population)
        return folder


def packed(arrays: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def test_table_of_means_and_what_does_not_change_in_time(tmp_path):
    tree = Tree()
    records = read_fiddle(tree.write(tmp_path), "ARF_4h")
    assert records.frame.columns.tolist() == [*tree.dynamic_names, *tree.static_names]
    assert set(records.frame.dtypes) == {np.dtype(np.float32)}
    np.testing.assert_array_equal(
        records.frame, np.hstack([flags(N, HOURS, DYNAMIC).mean(axis=1, dtype=np.float32), flags(N, STATIC)])
    )
    assert records.labels.tolist() == [0, 1] * 6
    assert records.labels.dtype == np.int8
    assert records.ids.tolist() == [str(FIRST_ID + i) for i in range(N)]
    assert (records.target, records.series, records.groups, records.roles) == ("ARF_LABEL", None, None, None)
    assert records.notes[0] == "no cell missing: what was not set is 0"
    assert "no patient number" in records.notes[-1]


def test_series_keep_time_and_trailing_zeros(tmp_path):
    tree = Tree()
    records = read_fiddle(tree.write(tmp_path), "ARF_4h", summary="series")
    assert records.series is not None
    assert records.series.dtype == np.float32
    assert records.series.shape == (N, HOURS, DYNAMIC)
    np.testing.assert_array_equal(records.series, flags(N, HOURS, DYNAMIC))
    np.testing.assert_array_equal(records.frame, flags(N, STATIC))
    assert records.channels == tuple(tree.dynamic_names)
    assert records.step_hours == 1.0


@pytest.mark.parametrize("data", [bool, np.uint8, np.float64, np.int64])
@pytest.mark.parametrize("extra", [{}, {"fill_value": 0}, {"fill_value": 0.0, "format": "coo"}], ids=str)
@pytest.mark.parametrize("letter", ["s", "S"])
def test_archives_of_every_age(tmp_path, data, extra, letter):
    tree = Tree(letter=letter)
    tree.static = stored(flags(N, STATIC), data, **extra)
    tree.dynamic = stored(flags(N, HOURS, DYNAMIC), data, **extra)
    frame = read_fiddle(tree.write(tmp_path), "ARF_4h", summary="any").frame
    np.testing.assert_array_equal(frame, np.hstack([flags(N, HOURS, DYNAMIC).any(axis=1), flags(N, STATIC)]))


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint64])
def test_coordinates_of_any_whole_type_in_any_order(tmp_path, kind):
    tree = Tree()
    order = np.random.default_rng(0).permutation(tree.dynamic["data"].size)
    tree.dynamic |= {"coords": tree.dynamic["coords"].astype(kind)[:, order], "data": tree.dynamic["data"][order]}
    records = read_fiddle(tree.write(tmp_path), "ARF_4h", summary="series")
    np.testing.assert_array_equal(records.series, flags(N, HOURS, DYNAMIC))


def test_zeros_that_are_stored_are_not_set(tmp_path):
    tree = Tree()
    tree.dynamic["data"][:] = 0
    frame = read_fiddle(tree.write(tmp_path), "ARF_4h", summary="any", features="^Vital|^[xyz]$").frame
    assert frame.to_numpy().sum() == 0


def test_lower_case_comes_first_and_other_files_do_not_matter(tmp_path):
    more = {"S.npz": "broken", "index.html": "<html>", "X_all.npz": "broken", "X.ID,t_range.csv": "ID"}
    assert read_fiddle(Tree(more=more).write(tmp_path), "ARF_4h").frame.shape == (N, STATIC + DYNAMIC)


@pytest.mark.parametrize("onset", ["ARF_ONSET_TIME", "ARF_ONSET_HOUR"])
def test_onset_is_never_a_feature(tmp_path, onset):
    tree = Tree()
    tree.population = f"ID,{onset},ARF_LABEL\n" + "".join(f"{i},{'37' if i % 2 else ''},{i % 2}\n" for i in range(N))
    records = read_fiddle(tree.write(tmp_path), "ARF_4h")
    assert not [name for name in map(str, records.frame) if "ONSET" in name or "LABEL" in name]
    assert records.frame.shape == (N, STATIC + DYNAMIC)


@pytest.mark.parametrize(
    "header",
    ["ID,ARF_LABEL", "ICUSTAY_ID,ARF_LABEL", "stay,ARF_LABEL", "ID,other_LABEL"],
)
def test_names_of_the_columns_and_labels_with_a_point(tmp_path, header):
    population = header + "\n" + "".join(f"{i},{i % 2}.0\r\n" for i in range(N))
    records = read_fiddle(Tree(population=population).write(tmp_path), "ARF_4h")
    assert records.labels.tolist() == [0, 1] * 6
    assert records.ids.tolist() == [str(i) for i in range(N)]
    assert records.target == header.split(",")[1]
    assert records.groups is None


def test_the_label_of_the_task_counts_where_there_are_several(tmp_path):
    population = "ID,Shock_LABEL,ARF_LABEL\n" + "".join(f"{i},1,{i % 2}\n" for i in range(N))
    assert read_fiddle(Tree(population=population).write(tmp_path), "ARF_4h").target == "ARF_LABEL"


def test_patients_and_parts_of_the_mimic_mortality_task(tmp_path):
    records = read_fiddle(Tree("mortality_48h", population=mimic_mortality()).write(tmp_path), "mortality_48h")
    assert records.roles is not None
    assert records.groups is not None
    assert records.roles.tolist() == ["train"] * 6 + ["tuning"] * 2 + ["held_out"] * 4
    assert records.groups.tolist() == [str(800 + i // 2) for i in range(N)]
    assert not [note for note in records.notes if "patient" in note]
    assert records.step_hours == 12.0


def test_a_stay_of_another_form_names_no_patient(tmp_path):
    population = mimic_mortality().replace("800_episode1", "800")
    records = read_fiddle(Tree("mortality_48h", population=population).write(tmp_path), "mortality_48h")
    assert records.groups is None
    assert "no patient number" in records.notes[-1]


def stay_table(path: Path, change=lambda text: text) -> Path:
    lines = [f"{FIRST_ID + i},{i // 3},{('train', 'val', 'test', 'train')[i // 3]}" for i in reversed(range(N))]
    path.write_text(change("ICUStayID,PatientID,partition\n1,99,test\n" + "\n".join(lines)))
    return path


def test_parts_and_patients_from_a_table_of_stays(tmp_path):
    records = read_fiddle(Tree().write(tmp_path), "ARF_4h", partition=stay_table(tmp_path / "icustays.csv"))
    assert records.roles is not None
    assert records.groups is not None
    assert records.roles.tolist() == ["train"] * 3 + ["tuning"] * 3 + ["held_out"] * 3 + ["train"] * 3
    assert records.groups.tolist() == [str(i // 3) for i in range(N)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace(f"{FIRST_ID}", "5"), ("lacks 1 stay",)),
        (lambda text: text + f"\n{FIRST_ID},0,train", ("repeats stays",)),
        (lambda text: text.replace("val", SENTINEL), ("3 rows whose 'partition'",)),
        (lambda text: text.replace(",2,", ",,"), ("3 rows without 'PatientID'",)),
        (lambda text: text.replace("PatientID", SENTINEL), ("lacks the column 'PatientID'",)),
        (
            lambda text: text.replace(f"{FIRST_ID},0,train", f"{FIRST_ID},0,test"),
            ("1 patient into more than one part",),
        ),
    ],
    ids=["stay missing", "stay twice", "another part", "no patient", "another header", "divided"],
)
def test_wrong_tables_of_stays_are_refused(tmp_path, change, words):
    refused(Tree().write(tmp_path), *words, partition=stay_table(tmp_path / "icustays.csv", change))


def test_features_by_name(tmp_path):
    folder = Tree().write(tmp_path)
    assert read_fiddle(folder, "ARF_4h", features="^Vital Signs").frame.shape == (N, 4)
    assert read_fiddle(folder, "ARF_4h", features="^x$|value:1").frame.columns.tolist() == ["x", "unittype_value:1"]
    records = read_fiddle(folder, "ARF_4h", features="^[xy]$", summary="series")
    assert records.series is not None
    assert records.frame.shape == (N, 0)
    assert records.channels == ("x", "y")
    np.testing.assert_array_equal(records.series, flags(N, HOURS, DYNAMIC)[:, :, 4:6])


def test_features_by_share_of_stays(tmp_path):
    tree = Tree()
    shares = [*flags(N, HOURS, DYNAMIC).any(axis=1).mean(axis=0), *flags(N, STATIC).mean(axis=0)]
    folder = tree.write(tmp_path)
    for least in (0.01, 0.5, float(np.median(shares)), max(shares)):
        frame = read_fiddle(folder, "ARF_4h", minimum_share=least).frame
        names = [*tree.dynamic_names, *tree.static_names]
        assert frame.columns.tolist() == [name for name, share in zip(names, shares, strict=True) if share >= least]


@pytest.mark.parametrize("rows", [[7, 2, 5, 11], np.isin(np.arange(N), [2, 5, 7, 11])], ids=["positions", "mask"])
def test_rows_are_chosen_in_every_part(tmp_path, rows):
    tree = Tree("mortality_48h", population=mimic_mortality())
    records = read_fiddle(tree.write(tmp_path), "mortality_48h", rows=rows, summary="series")
    chosen = [7, 2, 5, 11] if isinstance(rows, list) else [2, 5, 7, 11]
    assert records.series is not None
    assert records.groups is not None
    assert records.ids.tolist() == [str(FIRST_ID + i) for i in chosen]
    assert records.groups.tolist() == [str(800 + i // 2) for i in chosen]
    np.testing.assert_array_equal(records.series, flags(N, HOURS, DYNAMIC)[chosen])
    np.testing.assert_array_equal(records.frame, flags(N, STATIC)[chosen])


@given(st.integers(2, 8), st.integers(1, 5), st.integers(1, 6), st.integers(0, 4), st.data())
@settings(max_examples=12, deadline=None)
def test_summaries_equal_those_of_the_dense_array(n, hours, over_time, static, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    values = rng.integers(-2, 3, (n, hours, over_time)) * (
        rng.random((n, hours, over_time)) < data.draw(st.floats(0, 1))
    )
    fixed = rng.random((n, static)) < 0.5
    tree = Tree(
        static=stored(fixed),
        dynamic=stored(values, np.float64),
        static_names=[f"s{i}" for i in range(static)],
        dynamic_names=[f"x{i}" for i in range(over_time)],
        population="ID,ARF_LABEL\n" + "".join(f"{i},{i % 2}\n" for i in range(n)),
    )
    with tempfile.TemporaryDirectory() as folder:
        tree.write(Path(folder))
        for summary, dense in SUMMARIES.items():
            frame = read_fiddle(Path(folder), "ARF_4h", summary=summary).frame
            np.testing.assert_allclose(frame, np.hstack([dense(values), fixed]), rtol=1e-6)
        np.testing.assert_array_equal(read_fiddle(Path(folder), "ARF_4h", summary="series").series, values)


def test_the_limit_is_on_what_would_become_dense(tmp_path, raises):
    folder = Tree().write(tmp_path)
    table, series = 4 * N * (STATIC + DYNAMIC), 4 * N * (STATIC + HOURS * DYNAMIC)
    assert read_fiddle(folder, "ARF_4h", limit_bytes=table).frame.shape == (N, STATIC + DYNAMIC)
    assert read_fiddle(folder, "ARF_4h", limit_bytes=series, summary="series").series is not None
    with raises(SettingsError, f"{table:,} bytes", f"{table - 1:,}"):
        read_fiddle(folder, "ARF_4h", limit_bytes=table - 1)
    with raises(SettingsError, f"{series:,} bytes"):
        read_fiddle(folder, "ARF_4h", limit_bytes=table, summary="series")
    assert read_fiddle(folder, "ARF_4h", limit_bytes=4 * N, features="^x$").frame.shape == (N, 1)


def test_nothing_but_the_choice_becomes_dense(tmp_path):
    shape = (N, 48, 20_000)
    names = [str(i) for i in range(20_000)]
    dynamic = {
        "coords": np.array([[0, 0, 1], [0, 1, 47], [5, 5, 19_999]]),
        "data": np.ones(3),
        "shape": np.array(shape),
    }
    folder = Tree(dynamic=dynamic, dynamic_names=names).write(tmp_path)
    tracemalloc.start()
    records = read_fiddle(folder, "ARF_4h", features="^(5|19999)$", summary="series")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * np.prod(shape) / 4
    assert records.series is not None
    assert np.argwhere(records.series).tolist() == [[0, 0, 0], [0, 1, 0], [1, 47, 1]]


def test_wrong_arguments_are_refused(tmp_path, raises):
    folder = Tree().write(tmp_path)
    wrong = {
        "summary cannot be": {"summary": "median"},
        "minimum_share": {"minimum_share": 1.5},
        "regular expression": {"features": "("},
        "no feature is left": {"features": "heart"},
        "0 to 11": {"rows": [0, 12]},
        "different positions": {"rows": [0, 0]},
        "12 truth values": {"rows": np.ones(11, dtype=bool)},
    }
    for words, arguments in wrong.items():
        with raises(SettingsError, words):
            read_fiddle(folder, "ARF_4h", **arguments)
    with raises(SettingsError, "no feature is left"):
        read_fiddle(folder, "ARF_4h", features="unittype", summary="series")


def test_the_paper_table_takes_the_flags_that_vary_most(tmp_path):
    tree = Tree("mortality_48h", population=mimic_mortality())
    folder = tree.write(tmp_path)
    records = paper_table(folder, n_features=6)
    everything = read_fiddle(folder, "mortality_48h", summary="any").frame
    variance = everything.var().sort_values()
    assert records.frame.shape == (N, 6)
    assert variance[records.frame.columns].min() >= variance.drop(records.frame.columns).max()
    assert records.frame.equals(everything[records.frame.columns])
    assert set(np.unique(records.frame)) == {0, 1}
    assert "6 of 12 features" in records.notes[-1]
    assert paper_table(folder).frame.shape == (N, STATIC + DYNAMIC)


def test_features_that_stand_for_others_are_noted(tmp_path):
    tree = Tree(more={"X.feature_aliases.json": '{"x": ["~w", "v"]}', "s.feature_aliases.json": "{}"})
    notes = read_fiddle(tree.write(tmp_path), "ARF_4h").notes
    assert "1 feature of 'X.npz' with other names" in notes[1]
    assert len(notes) == 3


def change(part: str, **arrays):
    def apply(tree: Tree) -> None:
        getattr(tree, part).update({key: np.asarray(array) for key, array in arrays.items()})

    return apply


def twice(tree: Tree) -> None:
    arrays = tree.dynamic
    arrays |= {key: np.concatenate([arrays[key], arrays[key][..., :2]], axis=-1) for key in ("coords", "data")}


def compressed(tree: Tree) -> None:
    tree.dynamic["compressed_axes"] = tree.dynamic["indptr"] = tree.dynamic["indices"] = tree.dynamic.pop("coords")
    tree.dynamic["format"] = np.array("gcxs")


def without(part: str, key: str):
    return lambda tree: getattr(tree, part).pop(key)


def become(part: str, content):
    return lambda tree: setattr(tree, part, content(tree) if callable(content) else content)


def moved(tree: Tree, by: int) -> None:
    tree.dynamic["coords"][2, :2] += by


POPULATION = {  # old text, new text, and words of the message
    "no label": ("ARF_LABEL", SENTINEL, ("no column 'ARF_LABEL'", "0 others")),
    "two labels": ("ARF_ONSET_TIME,ARF_LABEL", "a_LABEL,b_LABEL", ("no column 'ARF_LABEL'", "2 others")),
    "label twice": ("ARF_ONSET_TIME", "ARF_LABEL", ("more than once the column 'ARF_LABEL'",)),
    "no id": ("ID,", f"{SENTINEL},", ("none of the columns 'ID'",)),
    "text as label": (f"{FIRST_ID},,0", f"{FIRST_ID},,{SENTINEL}", ("1 row whose 'ARF_LABEL' is not 0 or 1",)),
    "another label": (f"{FIRST_ID},,0", f"{FIRST_ID},,2", ("1 row whose 'ARF_LABEL'",)),
    "empty label": (f"{FIRST_ID},,0", f"{FIRST_ID},,", ("1 row whose 'ARF_LABEL'",)),
    "empty id": (f"{FIRST_ID},", ",", ("1 row without 'ID'",)),
    "id twice": (f"{FIRST_ID}", f"{FIRST_ID + 1}", ("1 row whose 'ID' came before",)),
    "ragged": (f"{FIRST_ID},,0", f"{FIRST_ID},0", ("more or fewer cells",)),
    "one stay fewer": (f"{FIRST_ID},,0\n", "", ("12 in 's.npz', 12 in 'X.npz', 11 in 'ARF_4h.csv'",)),
    "one class": (",1\n", ",0\n", ("outcomes that are not 0 and 1",)),
}


def replaced(old: str, new: str):
    def apply(tree: Tree) -> None:
        assert tree.population is not None
        tree.population = tree.population.replace(old, new)

    return apply


MALFORMED = {
    **{f"population: {name}": (replaced(old, new), words) for name, (old, new, words) in POPULATION.items()},
    "population: none": (become("population", None), ("ARF_4h.csv' does not exist",)),
    "population: empty": (become("population", ""), ("no column 'ARF_LABEL'",)),
    "s: none": (become("static", None), ("s.npz' is missing",)),
    "X: none": (become("dynamic", None), ("X.npz' is missing",)),
    "s: names none": (become("static_names", None), ("s.feature_names.json' is missing",)),
    "X: names none": (become("dynamic_names", None), ("X.feature_names.json' is missing",)),
    "X: names too few": (become("dynamic_names", ["a"]), ("1 name,", "7 features of 'X.npz'")),
    "s: names too many": (become("static_names", [*"abcdef"]), ("6 names", "5 features of 's.npz'")),
    "s: names twice": (become("static_names", [*"abcda"]), ("5 names, 4 of them different",)),
    "names in both": (become("static_names", [*"abcdx"]), ("share names",)),
    "X: names no list": (become("dynamic_names", b'{"a": 1}'), ("not a list of names",)),
    "X: names no text": (become("dynamic_names", [*range(7)]), ("not a list of names",)),
    "X: names no JSON": (become("dynamic_names", b'["a", '), ("cannot be read as JSON",)),
    "X: names no UTF-8": (become("dynamic_names", b'["\xb0"]'), ("cannot be read as JSON",)),
    "X: aliases no JSON": (become("more", {"X.feature_aliases.json": "{"}), ("aliases.json' cannot be read",)),
    "X: aliases a list": (become("more", {"X.feature_aliases.json": "[]"}), ("aliases.json' does not give",)),
    "X: truncated": (become("dynamic", lambda tree: packed(tree.dynamic)[:-60]), ("X.npz' cannot be read",)),
    "X: half": (become("dynamic", lambda tree: packed(tree.dynamic)[:200]), ("X.npz' cannot be read",)),
    "X: empty": (become("dynamic", b""), ("X.npz' cannot be read",)),
    "X: text": (become("dynamic", SENTINEL.encode()), ("X.npz' cannot be read",)),
    "X: npy": (become("dynamic", lambda _: b"\x93NUMPY\x01\x00"), ("X.npz' cannot be read",)),
    "X: pickled": (change("dynamic", data=np.array([SENTINEL, 1], dtype=object)), ("X.npz' cannot be read",)),
    "X: compressed": (compressed, ("no key 'coords'", "compressed form", "coordinate form")),
    "X: no coords": (without("dynamic", "coords"), ("no key 'coords'",)),
    "s: no shape": (without("static", "shape"), ("no key 'shape'",)),
    "s: no data": (without("static", "data"), ("no key 'data'",)),
    "X: fill value": (change("dynamic", fill_value=1), ("not 0 by default",)),
    "X: fill value missing": (change("dynamic", fill_value=np.nan), ("not 0 by default",)),
    "X: two dimensions": (lambda tree: setattr(tree, "dynamic", tree.static), ("X.npz' should hold", "(2,)")),
    "s: three dimensions": (lambda tree: setattr(tree, "static", tree.dynamic), ("s.npz' should hold",)),
    "X: shorter data": (change("dynamic", data=[1, 1]), ("X.npz' should hold", "(2,)")),
    "X: text as data": (change("dynamic", data=[SENTINEL]), ("X.npz' should hold",)),
    "X: broken coordinates": (change("dynamic", coords=np.zeros((3, 1)), data=[1]), ("float64 (3, 1)",)),
    "X: no hours": (change("dynamic", shape=[N, 0, DYNAMIC]), ("no hours",)),
    "X: twice": (twice, ("2 coordinates twice",)),
    "X: outside": (lambda tree: moved(tree, 1000), ("2 coordinates outside its shape",)),
    "X: negative": (lambda tree: moved(tree, -1000), ("2 coordinates outside its shape",)),
    "X: smaller shape": (change("dynamic", shape=[N, HOURS, 1]), ("outside its shape",)),
    "X: infinite": (change("dynamic", coords=np.zeros((3, 1), dtype=int), data=[np.inf]), ("1 value without",)),
    "X: missing": (change("dynamic", coords=np.zeros((3, 1), dtype=int), data=[np.nan]), ("1 value without",)),
    "X: other stays": (change("dynamic", shape=[N + 1, HOURS, DYNAMIC]), ("12 in 's.npz', 13 in 'X.npz'",)),
    "s: other stays": (change("static", shape=[N + 2, STATIC]), ("14 in 's.npz', 12 in 'X.npz'",)),
}


@pytest.mark.parametrize(("damage", "words"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_tasks_are_refused(tmp_path, damage, words):
    tree = Tree()
    damage(tree)
    refused(tree.write(tmp_path), *words)


def test_other_parts_than_three_are_refused(tmp_path):
    tree = Tree("mortality_48h", population=mimic_mortality().replace("val", SENTINEL))
    refused(tree.write(tmp_path), "2 rows whose 'partition' is not", task="mortality_48h")


def test_missing_folders_and_tasks_are_named(tmp_path):
    refused(tmp_path / "nowhere", "is not a folder", "none found")
    refused(Tree("Shock_4h").write(tmp_path), "is not a folder", "'Shock_4h'")


def refused(folder: Path, *words: str, task: str = "ARF_4h", **arguments) -> None:
    with pytest.raises(FileError) as caught:
        read_fiddle(folder, task, **arguments)
    message = str(caught.value)
    assert "\n" not in message
    assert ". " not in message
    assert caught.value.__cause__ is None
    assert SENTINEL not in message
    assert not any(str(FIRST_ID + i) in message for i in range(N))
    for word in words:
        assert word in message
