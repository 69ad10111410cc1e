"""``aliquot.condense``: from a DataFrame to synthetic rows in one call."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from aliquot.cohort import Cohort, Columns, Schema
from aliquot.context import Context, InMemoryStore, NoProgress, Progress
from aliquot.methods import Method
from aliquot.networks import Build
from aliquot.presets.settings import with_choices
from aliquot.release.condensation import Condensation
from aliquot.run.pipeline import PIPELINE
from aliquot.run.request import RequestOptions
from aliquot.run.stage import Run, run_stages


def condense(
    frame: pd.DataFrame | Cohort,
    target: str | None = None,
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
    """Synthetic rows on which models train as well as on the patients in ``frame``.

    Parameters
    ----------
    frame, target
        A table with one patient (or stay) per row, and the name of its outcome column (two or more classes); or a
        cohort: ``Cohort.from_arrays(X, y)`` for arrays, of three dimensions for series; ``Cohort.from_events(...)`` for
        measurements, one per line; ``Cohort.from_records(...)`` for what a reader of a known dataset returns.
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
    columns = Columns(
        target=target,
        patient_id=patient_id,
        split=split,
        positive=positive,
        schema=schema,
        drop=drop,
        subgroups=subgroups,
    )
    cohort = frame if isinstance(frame, Cohort) else Cohort.from_frame(frame, columns)
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
