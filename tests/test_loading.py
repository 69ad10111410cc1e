"""What is read from disk: limits before anything is read, plain values that are finite and small, types with bounds."""

import io
import json
import struct
import zipfile
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from aliquot.errors import TamperedError
from aliquot.loading import (
    DEEPEST,
    MOST_TOML,
    NotAsWrittenError,
    arrays_in,
    content_of,
    expecting,
    json_in,
    json_of,
    plain,
    require,
    toml_of,
    typed,
)

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=10,
)


@given(PLAIN)
def test_plain_values_come_back(values):
    back = json_of(json.dumps(values))
    assert back == values
    assert repr(back) == repr(values)  # -0.0 and 1 or 1.0 too


REFUSED_JSON = {
    "not a number": "[NaN]",
    "infinity": "[-Infinity]",
    "too large": "1e999",
    "beyond 64 bits": str(2**63),
    "digits": "1" * 10_000,
    "too deep": "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1),
    "far too deep": "[" * 100_000 + "]" * 100_000,
    "cut": '{"a": 1',
    "nothing": "",
    "half a letter": '"\\ud800"',
}


@pytest.mark.parametrize("text", REFUSED_JSON.values(), ids=REFUSED_JSON.keys())
def test_json_that_nobody_wrote_is_refused(text):
    with pytest.raises(NotAsWrittenError):
        json_of(text)
    with pytest.raises(NotAsWrittenError):
        json_of(text.encode())


def test_bytes_that_are_no_text_are_refused():
    for read in (json_of, toml_of):
        with pytest.raises(NotAsWrittenError):
            read(b'a = "\xff"')


@pytest.mark.parametrize("value", ["nan", "-inf", "99999999999999999999", "2020-01-01", "[1, [nan]]"])
def test_values_that_are_not_plain_are_refused_where_nobody_can_be_asked(value):
    values = toml_of(f"a = {value}".encode())
    with pytest.raises(NotAsWrittenError):
        plain(values)


REFUSED_TOML = {
    "too deep": b"a = " + b"[" * 5000 + b"]" * 5000,
    "a long key": b".".join([b"a"] * 100_000) + b" = 1",
    "keys within keys": b"\n".join(b".".join([b"a"] * 150) + b".%d = 1" % n for n in range(3)),
    "too long": b"#" * (MOST_TOML + 1),
}


@pytest.mark.parametrize("content", REFUSED_TOML.values(), ids=REFUSED_TOML.keys())
def test_toml_that_nobody_wrote_is_refused(content):
    with pytest.raises(NotAsWrittenError):
        toml_of(content)


def test_the_line_of_a_mistake_in_toml_is_known():
    with pytest.raises(NotAsWrittenError) as found:
        toml_of(b"a = 1\nb = secret\n")
    assert found.value.where == "line 2"
    assert "secret" not in str(found.value)


@dataclass(frozen=True)
class Scale:
    scale: Annotated[float, Meta(gt=0)]
    names: tuple[str, ...] = ()


def test_types_are_strict_and_bounded():
    assert typed({"scale": 2, "names": ["a"]}, Scale) == Scale(2.0, ("a",))
    for values in ({"scale": 0}, {"scale": True}, {"scale": "2"}, {"scale": None}, {}, [], {"scale": 1, "names": "ab"}):
        with pytest.raises(NotAsWrittenError):
            typed(values, Scale)
    with pytest.raises(NotAsWrittenError):
        typed({"scale": float("nan")}, Scale)


def test_whoever_asked_says_what_was_read():
    with pytest.raises(TamperedError, match="take it again"), expecting(TamperedError("take it again")):
        require(False)
    with pytest.raises(KeyError), expecting(TamperedError("take it again")):
        raise KeyError("a mistake of ours stays one")


def test_a_file_is_as_large_as_it_may_be(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(b"[1]")
    assert content_of(path, 3) == b"[1]"
    assert json_in(path, list[int]) == [1]
    for wrong, most in ((path, 2), (tmp_path, 100), (tmp_path / "absent", 100)):
        with pytest.raises(NotAsWrittenError):
            content_of(wrong, most)
    with pytest.raises(FileNotFoundError):
        json_in(tmp_path / "absent", list[int])


def archive(**members: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, member in members.items():
            file.writestr(f"{name}.npy", member)
    return content.getvalue()


def array(descr: str, shape: tuple[int, ...], data: bytes) -> bytes:
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def test_arrays_come_back(tmp_path):
    path, arrays = tmp_path / "x.npz", {"a": np.arange(6.0).reshape(2, 3), "b": np.array(["x", "yz"]), "c": np.zeros(0)}
    for save in (np.savez, np.savez_compressed):
        save(path, **arrays)
        back = arrays_in(path)
        assert back.keys() == arrays.keys()
        assert all(np.array_equal(back[name], arrays[name]) for name in arrays)


REFUSED_ARRAYS = {
    "more than there is": archive(a=array("<f8", (10**13,), bytes(8))),
    "less than there is": archive(a=array("<f8", (1,), bytes(16))),
    "long words": archive(a=array("<U100000000", (1,), b"")),
    "objects": archive(a=array("|O", (1,), bytes(8))),
    "less than nothing": archive(a=array("<f8", (-1, -1), bytes(8))),
    "no array": archive(a=b"text"),
    "no archive": b"text",
    "cut": archive(a=array("<f8", (2,), bytes(16)))[:-30],
}


@pytest.mark.parametrize("content", REFUSED_ARRAYS.values(), ids=REFUSED_ARRAYS.keys())
def test_arrays_of_another_size_than_promised_are_refused(tmp_path, content):
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    with pytest.raises(NotAsWrittenError):
        arrays_in(path)
