"""Ways to spoil what was whole: bytes, values of a document, a table; always by a generator of random numbers."""

import copy
import hashlib
import io
import json
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w
from safetensors.numpy import load_file, save_file

from aliquot.cohort.encoder import checksum_of
from aliquot.identity import checksum_text, to_metadata
from aliquot.run.store import _checksum

Rng = np.random.Generator


def nested(depth: int) -> list:
    """Lists in lists."""
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


HOSTILE: tuple[Any, ...] = (
    *(float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324, -0.0, 0, -1, 1, 2, 7, 0.5),
    *(2**31, 2**63, -(2**63), 10**30, True, False, None, "", "0", "nan", "(rare)", "=1+1", "../../x", "\x00", "[/b]"),
    *("x" * 5000, "é\u202e", [], {}, [None], [[]], {"": None}, [1, "a"], "hard", "object", "int64", "V100", "f8,f8"),
    *("numeric", "categorical", "own", "lstm-1", "mlp", "<10", "2020-01-01", nested(20), nested(200)),
)


def one_of(rng: Rng, choices: Any) -> Any:
    """A choice, of whatever kinds they are."""
    return choices[int(rng.integers(len(choices)))]


def spoiled_bytes(content: bytes, rng: Rng) -> bytes:
    """A file that was cut, or in which bytes were flipped, lost, repeated or replaced."""
    place = int(rng.integers(max(len(content), 1)))
    other = int(rng.integers(max(len(content), 1)))
    first, last = sorted((place, other))
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: content[:place],
        lambda: content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :],
        lambda: content[:first] + content[last:],
        lambda: content[:last] + content[first:],
        lambda: content[:place] + rng.bytes(int(rng.integers(1, 50))) + content[place:],
        lambda: rng.bytes(int(rng.integers(200))),
        lambda: b"",
        lambda: content + content,
        lambda: b"[" * 200_000,
        lambda: b"a = " + b"[" * 200_000,
        lambda: b".".join([b"a"] * 20_000) + b" = 1",
    )
    return one_of(rng, ways)()


def spoiled_values(document: Any, rng: Rng) -> Any:
    """A document in which one to three values were replaced, removed, repeated, exchanged or added."""
    document = copy.deepcopy(document)
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(document))
        if places:
            _spoil(*one_of(rng, places), rng)
    return document


def _places(value: Any) -> Any:
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def _spoil(holder: Any, key: Any, rng: Rng) -> None:
    way = int(rng.integers(7))
    value = holder[key]
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(value, list) and value:
        value.append(copy.deepcopy(one_of(rng, value)))
    elif way == 2 and isinstance(value, list) and value:
        value.pop()
    elif way == 3 and isinstance(value, int | float) and not isinstance(value, bool):
        holder[key] = one_of(rng, (-value, value + 1, value * 1000, value / 3, -1, 0, str(value)))
    elif way == 4 and isinstance(holder, dict):
        holder[one_of(rng, ("kind", "name", "x", "", "steps", "weight", "further"))] = one_of(rng, HOSTILE)
    elif way == 5 and isinstance(holder, dict):
        holder[key] = copy.deepcopy(one_of(rng, list(holder.values())))
    else:
        holder[key] = copy.deepcopy(one_of(rng, HOSTILE))


def spoil_json(path: Path, rng: Rng, sign: Callable[[Any], Any] = lambda document: document) -> None:
    """Spoil the values of a JSON file; ``sign`` puts its checksum right."""
    document = spoiled_values(json.loads(path.read_text("utf-8")), rng)
    with suppress(KeyError, TypeError, AttributeError):  # where there is nothing left to sign
        document = sign(document)
    path.write_text(json.dumps(document), "utf-8")


def spoil_toml(path: Path, rng: Rng) -> None:
    """Spoil the values of a TOML file."""
    path.write_text(tomli_w.dumps(_without_none(spoiled_values(tomllib.loads(path.read_text("utf-8")), rng))), "utf-8")


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(part) for key, part in value.items() if part is not None}
    return [_without_none(part) for part in value if part is not None] if isinstance(value, list) else value


def spoil_table(path: Path, rng: Rng) -> None:
    """Spoil cells, columns, types or what a Parquet file says of itself."""
    frame = pd.read_parquet(path)
    column = one_of(rng, list(frame.columns))
    line, metadata, name = int(rng.integers(len(frame))), None, column
    way = int(rng.integers(9))
    if way == 0:
        frame = frame.drop(columns=column)
    elif way == 1:
        name = one_of(rng, ("", "x", "weight", str(frame.columns[0])))  # perhaps that of another
    elif way == 2:
        frame = frame.iloc[: int(rng.integers(2))]
    elif way == 3:
        frame = frame.assign(**{column: one_of(rng, ("x", 1, 2.5, None, True, [[1]] * len(frame), b"x"))})
    elif way == 4:
        cells = frame[column].astype(object)
        cells.iloc[line] = one_of(rng, (None, cells.iloc[0]))
        frame = frame.assign(**{column: cells})
    elif way == 5:
        frame = frame.assign(**{column: frame[column].astype(str)})
    elif way == 6:
        frame = frame.assign(extra=1.0)
    elif way == 7:
        schema = {"index_columns": ["x"], "columns": [{"name": "x", "pandas_type": "y", "numpy_type": "V99"}]}
        metadata = {"pandas": one_of(rng, (json.dumps(schema), "{", "[" * 9999)), "ARROW:schema": "AAAA"}
    else:
        numbers = frame.select_dtypes("float32").columns
        frame.loc[line, one_of(rng, list(numbers))] = one_of(rng, (np.nan, np.inf, -np.inf, 3e38, -1.0))
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(metadata)
    table = table.rename_columns([name if other == column else other for other in table.column_names])
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    path.write_bytes(buffer.getvalue())


def spoil_store(path: Path, rng: Rng) -> None:
    """Spoil names, types or sizes of a checkpoint, and put its checksum right."""
    arrays, made_with = load_file(path), to_metadata()
    name = one_of(rng, sorted(arrays))
    way = int(rng.integers(4))
    if way == 0:
        del arrays[name]
    elif way == 1:
        arrays[name] = arrays[name].ravel()[:1].astype(one_of(rng, ("int8", "int16", "uint64", "float16", "bool")))
    elif way == 2:
        arrays["other"] = np.full((1, 0), np.nan)
    else:
        made_with = one_of(rng, ("{", "[]", '{"jax": 1}', "null", json.dumps(nested(300)), '{"jax": "0"}'))
    save_file(arrays, path, {"sha256": _checksum(arrays, made_with), "versions": made_with})


def sign_encoder(document: Any) -> Any:
    """An encoder with the checksum of what it holds."""
    content = {name: document[name] for name in document if name not in ("format", "version", "sha256")}
    return {**document, "sha256": checksum_of(content)}


def sign_plan(document: Any) -> Any:
    """A plan with its checksum; it must never be one that can be gone on with."""
    document["plan"]["name"] = "run-0000"
    return {**document, "sha256": checksum_text(json.dumps(document["plan"], sort_keys=True))}


def sign_cell(document: Any) -> Any:
    """A result of a cell with its checksum."""
    return {**document, "sha256": checksum_text(json.dumps(document["result"]))}


def sign_release(folder: Path) -> None:
    """Put the checksums of a release's files right."""
    path = folder / "croissant.json"
    document = json.loads(path.read_text("utf-8"))
    for entry in document["distribution"]:
        file = folder / entry["name"]
        entry["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    path.write_text(json.dumps(document), "utf-8")
