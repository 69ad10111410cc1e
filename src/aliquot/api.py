"""``aliquot.condense``: from a DataFrame to synthetic rows in one call."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aliquot.cohort import Cohort, Columns, Schema, read_patients
from aliquot.context import Context, InMemoryStore, NoProgress, Progress
from aliquot.errors import SchemaError, SettingsError, TargetError
from aliquot.methods import Method
from aliquot.networks import Build
from aliquot.presets.settings import with_choices
from aliquot.release.condensation import Condensation
from aliquot.run.pipeline import PIPELINE
from aliquot.run.request import RequestOptions
from aliquot.run.stage import Run, run_stages


def condense(
    patients: pd.DataFrame | Cohort | str | Path | np.ndarray,
    target: str | Sequence | np.ndarray | pd.Series | None = None,
    *,
    rows_per_class: int = 50,
    method: str | Method | None = None,
    preset: str = "default",
    budget: str = "cpu",
    start: str | None = None,
    network: str | Build | None = None,
    seed: int = 0,
    patient_id: str | None = None,
    split: str | None = None,
    positive: object = None,
    schema: Schema | str | Path | None = None,
    drop: Collection[str] = (),
    subgroups: Collection[str] = (),
    settings: Mapping[str, Any] | None = None,
    progress: Progress = NoProgress(),
) -> Condensation:
    """Synthetic rows on which models train as well as on the patients.

    Parameters
    ----------
    patients, target
        A table with one patient (or stay) per row, as a frame or the path of a file, and the name of its outcome column
        (two or more classes); or ``X`` and ``y``, frame or array, with three dimensions for series; or a cohort:
        ``Cohort.from_events(...)`` for measurements, one per line; ``Cohort.from_records(...)`` for what a reader of a
        known dataset returns.
    rows_per_class
        Synthetic rows to learn for each class.
    method
        How to condense: a name (``aliquot.methods.METHODS`` lists them), or a :class:`aliquot.methods.Method` of your
        own; None: the preset's, which is function matching for tables and BTM for series.
    preset, budget, settings
        ``"default"`` or ``"paper"``; ``"smoke"`` (seconds), ``"cpu"`` (minutes) or ``"paper"`` (hours); and single
        settings by section, such as ``{"match": {"iterations": 500}}``.
    start
        Where rows start: ``"gaussian"``, ``"kmeans"`` (means of groups of patients), ``"real"`` (from real patients) or
        ``"noise"``; None: as the preset says.
    network
        The network to train, by name (``"mlp"``, ``"mlp-1"`` … for tables, ``"tcn"``, ``"tcn-1"``, ``"lstm-1"`` … for
        series), or your own: a function ``build(shape, outputs, key)`` that returns an equinox module
        (:func:`aliquot.networks.own_network`); None: an MLP for tables and a TCN for series.
    patient_id, split, positive, schema, drop, subgroups
        Column of the patient, so that none is on two sides of a split; column with the user's own split; the class
        that is the event; corrections to the inferred kinds of columns; columns to leave out; columns, left out or
        not, by whose levels the results are also compared.

    Returns
    -------
    Condensation
        ``rows``, ``labels``, ``weights``, ``readable``, ``metrics``, ``history``, ``encode(new_patients)``,
        ``save(folder)``.

    Examples
    --------
    >>> import aliquot
    >>> from aliquot.cohort.embedded import support2_frame
    >>> result = aliquot.condense(support2_frame(), "died_within_30_days", rows_per_class=5, budget="smoke")
    >>> result.x.shape, result.rows.shape, round(float(result.weights.sum()))
    ((10, 70), (20, 70), 10)
    """
    named = target if isinstance(target, str) else None
    columns = Columns(
        target=named,
        patient_id=patient_id,
        split=split,
        positive=positive,
        schema=schema,
        drop=drop,
        subgroups=subgroups,
    )
    cohort = cohort_of(patients, columns, target if named is None else None)
    options = RequestOptions(
        method=method,
        rows_per_class=rows_per_class,
        seed=seed,
        preset=preset,
        budget=budget,
        changes=(with_choices(settings, start=start, network=network),),
        network=network if callable(network) else None,
    )
    request = options.request(series=cohort.series is not None)
    context = Context(store=InMemoryStore(), progress=progress)
    return run_stages(Run(cohort=cohort, request=request, context=context), PIPELINE).condensation


def cohort_of(patients: Any, columns: Columns, outcome: Any = None) -> Cohort:
    """The cohort in whatever holds patients: a frame, a file, an array or a cohort; ``outcome`` is y, if it is apart.

    >>> cohort_of(np.arange(40.0).reshape(20, 2), Columns(), [0, 1] * 10).frame.shape
    (20, 2)
    >>> cohort_of({"age": [61, 74]}, Columns(target="died"))
    Traceback (most recent call last):
    ...
    aliquot.errors.SchemaError: asked to condense a dict; pass a DataFrame or the path of a table and the name of...
    """
    if isinstance(patients, pd.DataFrame):
        return Cohort.from_frame(*_with_outcome(patients, columns, outcome))
    if isinstance(patients, str | Path):
        if outcome is not None:
            raise TargetError("asked to condense a file with an outcome beside it; name a column of it: target=…")
        return Cohort.from_stays(read_patients(patients), columns)
    if isinstance(patients, Cohort):
        if columns != Columns() or outcome is not None:
            raise SettingsError("asked for columns of a Cohort, which brings its own; leave out what names columns")
        return patients
    if not isinstance(patients, np.ndarray | list):
        raise SchemaError(
            f"asked to condense a {type(patients).__name__}; pass a DataFrame or the path of a table and the name of "
            "its outcome, arrays X and y, or a Cohort"
        )
    if outcome is None:
        raise TargetError("asked to condense an array without its outcome; pass y, with one label per row, after it")
    if columns != Columns():
        raise SettingsError("asked for columns of an array, which has no names; pass a DataFrame")
    return Cohort.from_arrays(np.asarray(patients), np.asarray(outcome))


def _with_outcome(frame: pd.DataFrame, columns: Columns, outcome: Any) -> tuple[pd.DataFrame, Columns]:
    """A frame with its outcome as a column, where it came apart as y."""
    if outcome is None:
        return frame, columns
    name = str(getattr(outcome, "name", None) or "y")
    if name in frame.columns or np.shape(outcome) != (len(frame),):
        raise TargetError(
            f"y has shape {np.shape(outcome)} and the name {name!r}; pass one label per row, named as no column is"
        )
    return frame.assign(**{name: np.asarray(outcome)}), replace(columns, target=name)
