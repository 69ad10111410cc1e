"""Sparse arrays in the coordinate layout of the package ``sparse``, read with NumPy alone and never densified."""

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from aliquot.cohort.values import LARGEST
from aliquot.cohort.wording import counted, quoted
from aliquot.errors import FileError
from aliquot.loading import arrays_in, expecting

LARGEST_AXIS = 10**8  # of stays, hours or features


def read_sparse(path: Path, ndim: int, *, remedy: str) -> tuple[csr_array, int, int]:
    """The array as (n, hours * D), with hours (1 where it has no time) and D."""
    coords, data, shape = _read_coordinates(path, ndim, remedy)
    outside = sum(int(((axis < 0) | (axis >= size)).sum()) for axis, size in zip(coords, shape, strict=True))
    unusable = int((~(np.abs(data) <= LARGEST)).sum())
    if outside or unusable:
        raise FileError(
            f"{str(path)!r} has {counted(outside, 'coordinate')} outside its shape and {counted(unusable, 'value')} "
            f"without a finite number; {remedy}"
        )
    hours, width = (1, shape[-1]) if ndim == 2 else shape[1:]
    columns = coords[-1].astype(np.int64)
    if ndim == 3:
        columns += coords[1].astype(np.int64) * width
    values = csr_array((data.astype(np.float32), (coords[0], columns)), shape=(shape[0], hours * width))
    if values.nnz < data.size:  # the conversion adds up what is given twice
        raise FileError(f"{str(path)!r} gives {counted(data.size - values.nnz, 'coordinate')} twice; {remedy}")
    values.eliminate_zeros()
    return values, hours, width


def _read_coordinates(path: Path, ndim: int, remedy: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    with expecting(FileError(f"{str(path)!r} cannot be read as a NumPy archive to its end; {remedy}")):
        stored = arrays_in(path)
    absent = [key for key in ("coords", "data", "shape") if key not in stored]
    if absent:
        form = " and is in the compressed form (gcxs)" if {"indptr", "compressed_axes"} & set(stored) else ""
        raise FileError(
            f"{str(path)!r} has no key {quoted(absent)}{form}; save it in the coordinate form, as sparse.save_npz does "
            "with a sparse.COO array"
        )
    coords, data, shape = (stored[key] for key in ("coords", "data", "shape"))
    fitting = coords.ndim == 2 and coords.shape == (ndim, data.size) and data.ndim == 1 and shape.shape == (ndim,)
    if not fitting or {coords.dtype.kind, shape.dtype.kind} - set("iu") or data.dtype.kind not in "biuf":
        raise FileError(
            f"{str(path)!r} should hold whole numbers as coords ({ndim}, k) and shape ({ndim},), numbers as data (k,), "
            f"but has {coords.dtype} {coords.shape}, {shape.dtype} {shape.shape}, {data.dtype} {data.shape}; {remedy}"
        )
    if shape[:-1].min() < 1 or shape[-1] < 0 or np.any(stored.get("fill_value", 0)):
        raise FileError(f"{str(path)!r} has no stays, no hours, or cells that are not 0 by default; {remedy}")
    if shape.max() > LARGEST_AXIS:
        raise FileError(f"{str(path)!r} has an axis of more than {LARGEST_AXIS:,}, which no cohort needs; {remedy}")
    return coords, data, [int(size) for size in shape]
