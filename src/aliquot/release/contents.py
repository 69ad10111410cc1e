"""What is in the files of a release, read as what it is; anything else is a NotAsWrittenError."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aliquot.evaluate.labels import begins_row
from aliquot.evaluate.results import Results
from aliquot.loading import NotAsWrittenError, json_of, require
from aliquot.release.report.sections import all_sections

MOST_ROWS = 2**30  # bytes of rows.parquet
MOST_CELLS = 2**27  # of it, half a gigabyte
ROUNDED = 1e-3  # by which probabilities may not sum to one


def read_results(content: bytes, recipe: dict[str, Any], shape: tuple[int, ...]) -> Results:
    """The results in ``metrics.json``, if they are of such rows and every section of the report can read its own."""
    results = Results.from_json(_document(json_of(content)))
    for section in all_sections():
        section.read(results)
    data, classes = results.data, [str(name) for name in recipe["labels"]["classes"]]
    require([*data.classes] == classes and data.features == shape[-1])
    require(data.steps == (shape[0] if len(shape) > 1 else None))
    require(all(len(part) == len(classes) for part in (data.prevalence, data.train, data.tuning, data.held_out)))
    require(isinstance((results.settings or {}).get("slots", {}), dict) and results.rows_per_class > 0)
    return results


def _document(values: Any) -> dict[str, Any]:
    require(isinstance(values, dict))
    return values


def read_rows(content: bytes, features: Sequence[str], labels: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Features and class probabilities of the rows, each once; the probability of a hard label is 1."""
    target, classes, weight = labels["target"], labels["classes"], labels.get("weight")
    soft = labels["kind"] == "soft"
    shares = [f"{target}={name}" for name in classes] if soft else []
    table = _read_table(content, [*features, *shares], target, weight if soft else None)
    require(len(table) * len(classes) <= MOST_CELLS)
    x, p = (_numbers(table, names) for names in (features, shares))
    own = _own_class(table[target], classes)
    require((own.sum(axis=1) == 1).all())
    if not soft:
        return x, own
    require((p >= 0).all() and (np.abs(p.sum(axis=1) - 1) <= ROUNDED).all())
    if weight is None:  # as of 0.1: one line for each row
        return x, p
    first = begins_row(np.hstack([x, p]), own.argmax(axis=1))
    return x[first], p[first]


def _read_table(content: bytes, numbers: Sequence[str], target: str, weight: str | None) -> pa.Table:
    """The table with exactly these columns; sizes and types are looked at before a page is unpacked.

    What the file says of itself beyond these, to pandas and to Arrow, is not followed.
    """
    try:
        with pq.ParquetFile(io.BytesIO(content)) as file:
            names, found = [*numbers, target, *([] if weight is None else [weight])], file.schema_arrow
            require(sorted(names) == sorted(found.names) and len(set(names)) == len(names))
            require(0 < file.metadata.num_rows * len(names) <= MOST_CELLS)
            require(all(found.field(name).type == pa.float32() for name in names if name != target))
            require(_names_classes(found.field(target).type))
            return file.read(use_threads=False).replace_schema_metadata(None)
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError):
        raise NotAsWrittenError("not Parquet") from None


def _names_classes(kind: pa.DataType) -> bool:
    types = pa.types
    inner = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    return any(test(inner) for test in tests)


def _numbers(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    columns = [table[name].to_numpy() for name in names]
    values = np.stack(columns, axis=1) if columns else np.empty((len(table), 0), np.float32)
    require(np.isfinite(values).all())
    return values


def _own_class(cells: pa.ChunkedArray, classes: Sequence[Any]) -> np.ndarray:
    """Which class each line names (lines, C), as 0 and 1."""
    names = cells.to_pandas()
    return np.stack([(names == name).to_numpy(np.float32) for name in classes], axis=1)
