"""Starting rows: from where the synthetic rows are learned."""

import numpy as np

from aliquot.errors import SettingsError, TooFewPatientsError

STARTS = ("gaussian", "real", "noise")


def starting_rows(
    x: np.ndarray,
    labels: np.ndarray,
    rows_per_class: int,
    n_classes: int,
    kind: str,
    *,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their class codes, ``rows_per_class`` for each class, class blocks in class order.

    ============  =================================================================================
    kind          a row of class c is
    ============  =================================================================================
    ``gaussian``  drawn per feature from a normal distribution with the mean and deviation of class c
    ``real``      a training patient of class c; no patient twice
    ``noise``     drawn from N(0, 1)
    ============  =================================================================================

    >>> rng = np.random.default_rng(0)
    >>> x, y = starting_rows(np.zeros((8, 3)), np.array([0, 1] * 4), 2, 2, "noise", rng=rng)
    >>> x.shape, y.tolist()
    ((4, 3), [0, 0, 1, 1])
    """
    if kind not in STARTS:
        raise SettingsError(f"asked for starting rows of kind {kind!r}; known: {', '.join(STARTS)}")
    blocks = [_start_of_class(x[labels == c], rows_per_class, kind, rng) for c in range(n_classes)]
    return np.concatenate(blocks).astype(x.dtype), np.repeat(np.arange(n_classes), rows_per_class)


def _start_of_class(patients: np.ndarray, rows: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    if len(patients) < rows:
        raise TooFewPatientsError(
            f"asked for {rows} synthetic rows per class, but one class has only {len(patients)} training patients; "
            "ask for fewer rows per class"
        )
    if kind == "real":
        return patients[rng.choice(len(patients), rows, replace=False)]
    noise = rng.standard_normal((rows, *patients.shape[1:]))
    if kind == "noise":
        return noise
    return patients.mean(axis=0) + patients.std(axis=0) * noise
