import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save

from aliquot.context import InMemoryStore
from aliquot.errors import TamperedError
from aliquot.identity import checksum, checksum_text
from aliquot.run.store import FolderStore

ARRAYS = st.dictionaries(
    st.text("abc.", min_size=1, max_size=4),
    hnp.arrays(st.sampled_from([np.float32, np.float64, np.int32, np.bool_]), hnp.array_shapes(min_dims=0, max_dims=3)),
    min_size=1,
    max_size=3,
)


@settings(max_examples=30, deadline=None)
@given(arrays=ARRAYS)
def test_what_is_kept_comes_back_exactly(tmp_path_factory, arrays):
    store = FolderStore(tmp_path_factory.mktemp("store"))
    store.put("x", arrays)
    back = store.get("x")
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        assert back[name].shape == array.shape
        assert back[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("store", [InMemoryStore(), None])
def test_both_stores_agree(store, tmp_path):
    store = store or FolderStore(tmp_path / "s")
    assert store.get("a") is None
    store.put("a-1", {"x": np.ones(10, np.float32)})
    store.put("a-2", {"x": np.zeros(10, np.float32)})
    assert store.get("a-1")["x"].sum() == 10
    assert store.size("a-1", "a-2") >= 80
    assert store.size() == 0


def test_any_changed_byte_is_noticed(tmp_path):
    store = FolderStore(tmp_path)
    store.put("x", {"a": np.arange(8.0)})
    path = tmp_path / "x.safetensors"
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            intact = store.get("x")["a"].tolist() == list(range(8))
        except TamperedError:
            intact = None
        assert intact in (None, True)  # a byte of padding may change without effect; a number may not
    path.write_bytes(whole[:-1])
    with pytest.raises(TamperedError):
        store.get("x")


def test_what_a_file_lacks_is_noticed_when_it_is_asked_for(tmp_path):
    store = FolderStore(tmp_path)
    store.put("x", {"a": np.arange(8.0)})
    with pytest.raises(TamperedError, match="'x'"):
        store.get("x")["b"]


@pytest.mark.parametrize("made_with", ["{", "[]", '{"jax": 1}', "[" * 10_000])
def test_versions_that_are_none_are_noticed(tmp_path, made_with):
    arrays = {"a": np.arange(8.0)}
    metadata = {"sha256": checksum_text(f"{checksum(arrays)} {made_with}"), "versions": made_with}
    (tmp_path / "x.safetensors").write_bytes(save(arrays, metadata))
    with pytest.raises(TamperedError):
        FolderStore(tmp_path).get("x")


def test_a_type_that_we_never_keep_is_noticed(tmp_path):
    (tmp_path / "x.safetensors").write_bytes(save({"a": np.arange(8, dtype=np.uint16)}))
    with pytest.raises(TamperedError):
        FolderStore(tmp_path).get("x")


def test_the_store_is_for_its_owner_only(tmp_path):
    assert FolderStore(tmp_path / "s").folder.stat().st_mode & 0o777 == 0o700
