"""``aliquot.condense``: from a DataFrame to synthetic rows in one call."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from aliquot.cohort import Cohort, Schema
from aliquot.errors import TargetError
from aliquot.hooks import Progress, Silence
from aliquot.networks import Build
from aliquot.release.condensation import Condensation
from aliquot.runs.pipeline import Request, run
from aliquot.runs.settings import load_settings, with_choices


def condense(
    frame: pd.DataFrame | Cohort,
    target: str | None = None,
    *,
    rows_per_class: int = 50,
    method: str = "btm",
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
    progress: Progress = Silence(),
) -> Condensation:
    """Synthetic rows on which models train as well as on the patients in ``frame``.

    Parameters
    ----------
    frame, target
        A table with one patient (or stay) per row, and the name of its outcome column (two or more classes); or a
        cohort: ``Cohort.from_arrays(X, y)`` for arrays, of three dimensions for series; ``Cohort.from_events(...)`` for
        measurements one a line; ``Cohort.from_records(...)`` for what a reader of a known dataset returns.
    rows_per_class
        Synthetic rows to learn for each class.
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
        not, by whose levels the results are also told apart.

    Returns
    -------
    Condensation
        ``rows``, ``labels``, ``readable``, ``metrics``, ``history``, ``encode(new_patients)``, ``save(folder)``.

    Examples
    --------
    >>> import aliquot
    >>> from aliquot.cohort.embedded import support2_frame
    >>> result = aliquot.condense(support2_frame(), "died_within_30_days", rows_per_class=5, budget="smoke")
    >>> result.rows.shape, sorted(result.labels.tolist()) == [0] * 5 + [1] * 5
    ((10, 70), True)
    """
    if isinstance(schema, str | Path):
        schema = Schema.from_toml(Path(schema))
    if isinstance(frame, Cohort):
        cohort = frame
    elif target is None:
        raise TargetError("asked to condense a table, but not told its outcome; pass target='COLUMN'")
    else:
        cohort = Cohort.from_frame(
            frame,
            target=target,
            patient_id=patient_id,
            split=split,
            positive=positive,
            schema=schema,
            drop=drop,
            subgroups=subgroups,
        )
    changes = with_choices(settings, start=start, network=network)
    asked = {"method": method, "rows_per_class": rows_per_class}
    request = Request(
        settings=load_settings(preset, budget, series=cohort.series is not None, changes=changes, **asked),
        method=method,
        rows_per_class=rows_per_class,
        seed=seed,
        preset=preset,
        budget=budget,
    )
    return run(cohort, request, progress=progress, own=network if callable(network) else None)
