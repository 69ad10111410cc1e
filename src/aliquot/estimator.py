"""``Condenser``: condensation as an imbalanced-learn sampler, for pipelines and grid searches."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from imblearn.base import BaseSampler
from imblearn.utils import check_target_type
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from scipy.sparse import csr_array, issparse
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from aliquot.cohort import Encoder, EncoderSettings, Part, Parts, Schema, Series, SeriesEncoder
from aliquot.cohort.checks import check_names, is_constant
from aliquot.cohort.features import features_of
from aliquot.cohort.wording import quoted
from aliquot.errors import SchemaError, TargetError
from aliquot.evaluate import row_classes
from aliquot.methods import Method
from aliquot.networks import Build
from aliquot.presets import BUDGETS, PRESETS
from aliquot.presets.settings import with_choices
from aliquot.run.request import Request, RequestOptions
from aliquot.run.stage import Run, run_stages
from aliquot.run.stages.condense import CONDENSE
from aliquot.run.stages.prepare import PREPARE


class Condenser(BaseSampler):
    """Learn synthetic rows on which models train as well as on all of ``X``.

    Numeric arrays in, numeric arrays out, in the units of ``X``. A DataFrame with texts, categories, truth values or
    gaps comes back as one with the same columns and types; levels of few rows come back as ``(rare)``. ``X`` of three
    dimensions is series (rows, steps, channels), NaN where nothing was measured, and so are the rows. A part of ``X``
    is set aside to choose among snapshots; nothing is held out, since the pipeline or search around the sampler does
    that.

    Parameters
    ----------
    method : a name in ``aliquot.methods.METHODS``, or a method of your own; None: the preset's
    rows_per_class : synthetic rows per class
    preset, budget, settings, network : as in :func:`aliquot.condense`
    tuning_share : share of ``X`` on which expert length and snapshot are chosen
    random_state : seed

    Attributes
    ----------
    history_ : figures of the search per iteration and per look at the tuning part
    tuning_score_ : AUPRC on the tuning part of networks trained on the returned rows
    encoder_ : the encoding of a mixed DataFrame or of series; None where numbers were only standardised

    Examples
    --------
    >>> from collections import Counter
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(400, 5, weights=[0.8], random_state=0)
    >>> rows, labels = Condenser(rows_per_class=4, budget="smoke", random_state=0).fit_resample(X, y)
    >>> rows.shape, sorted(Counter(labels.tolist()).values())
    ((8, 5), [4, 4])
    """

    _sampling_type = "bypass"
    _parameter_constraints: ClassVar[dict] = {
        "method": [str, Method, None],
        "rows_per_class": [Interval(Integral, 1, None, closed="left")],
        "preset": [StrOptions(set(PRESETS))],
        "budget": [StrOptions(set(BUDGETS))],
        "settings": [Mapping, None],
        "network": [str, callable, None],
        "tuning_share": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        method: str | Method | None = None,
        rows_per_class: int = 50,
        preset: str = "default",
        budget: str = "cpu",
        settings: Mapping[str, Any] | None = None,
        network: str | Build | None = None,
        tuning_share: float = 0.2,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(sampling_strategy="auto")
        self.method = method
        self.rows_per_class = rows_per_class
        self.preset = preset
        self.budget = budget
        self.settings = settings
        self.network = network
        self.tuning_share = tuning_share
        self.random_state = random_state

    def _check_X_y(self, X, y, accept_sparse=None):
        if _is_mixed(X):
            y, one_hot = check_target_type(y, indicate_one_vs_all=True)
            X, y = validate_data(self, X=X, y=column_or_1d(y), skip_check_array=True)
            check_consistent_length(X, y)
            return X, y, one_hot
        if np.ndim(X) != 3:
            return super()._check_X_y(X, y, accept_sparse)
        y, one_hot = check_target_type(y, indicate_one_vs_all=True)
        X, y = validate_data(
            self, X=X, y=y, allow_nd=True, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )
        return X, y, one_hot

    def _fit_resample(self, X, y, **params):
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise TargetError("asked to condense rows of one class only; pass y with at least two classes")
        options = RequestOptions(
            method=self.method,
            rows_per_class=self.rows_per_class,
            seed=seed,
            preset=self.preset,
            budget=self.budget,
            changes=(with_choices(self.settings, network=self.network),),
            network=self.network if callable(self.network) else None,
        )
        request = _with_hard_labels(options.request(series=np.ndim(X) == 3))
        train, tuning = self._roles(labels, seed)
        encode = _encoded_frame if _is_mixed(X) else _encoded_series if X.ndim == 3 else _standardised
        x, in_units, self.encoder_ = encode(X, train, request.settings.encoder)
        records = self.encoder_ if _is_mixed(X) else None  # rows become what cells can hold
        parts = Parts.without_held_out(Part(x[train], labels[train]), Part(x[tuning], labels[tuning]), records)
        run = run_stages(Run(request=request, parts=parts), (PREPARE, CONDENSE))

        found = run.condensed
        self.history_ = dict(found.history)
        self.tuning_score_ = run.context.judge.rows(found.x, found.targets).mean
        return in_units(found.x), classes[row_classes(found.targets)]

    def _roles(self, labels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to learn from and rows to choose on; the same rows where a class is too small to be split."""
        everyone = np.arange(len(labels))
        wanted = round(self.tuning_share * len(labels))
        if np.bincount(labels).min() < 2 or wanted < len(np.unique(labels)):
            return everyone, everyone
        train, tuning = train_test_split(everyone, test_size=wanted, stratify=labels, random_state=seed)
        return np.asarray(train), np.asarray(tuning)


class Encoded(NamedTuple):
    """``X`` as networks take it, the way back to the units of ``X``, and the encoder if there is one."""

    x: np.ndarray
    in_units: Callable[[np.ndarray], Any]
    encoder: Encoder | SeriesEncoder | None = None


def _is_mixed(X: Any) -> bool:
    """Whether ``X`` is a frame that holds more than numbers."""
    if not isinstance(X, pd.DataFrame) or any(isinstance(dtype, pd.SparseDtype) for dtype in X.dtypes):
        return False
    numeric = (is_numeric_dtype(dtype) and not is_bool_dtype(dtype) for dtype in X.dtypes)
    return not all(numeric) or bool(X.isna().to_numpy().any())


def _with_hard_labels(request: Request) -> Request:
    """The request for rows that carry a class and nothing else: a sampler returns no probabilities."""
    slots = request.settings.slots
    if slots.labels != "learned":
        return request
    return replace(request, settings=replace(request.settings, slots=replace(slots, labels="hard")))


def _standardised(X, train: np.ndarray, settings: EncoderSettings) -> Encoded:
    """Columns in which the rows to learn from have mean 0 and deviation 1, and the way back to the units of ``X``."""
    sparse_format = X.format if issparse(X) else None
    X = X.toarray() if sparse_format else X
    centre, scale = X[train].mean(axis=0), X[train].std(axis=0)
    scale[scale == 0] = 1

    def in_units(x: np.ndarray):
        rows = (x * scale + centre).astype(X.dtype)
        return csr_array(rows).asformat(sparse_format) if sparse_format else rows

    return Encoded(((X - centre) / scale).astype(np.float32), in_units)


def _encoded_frame(X: pd.DataFrame, train: np.ndarray, settings: EncoderSettings) -> Encoded:
    """Columns as :func:`aliquot.condense` encodes them, and the way back; what never varies comes back as it is."""
    frame = X.set_axis([str(name) for name in X.columns], axis=1).reset_index(drop=True)
    check_names(list(frame.columns))
    table, schema, _ = features_of(frame, None, set(), alone=True)
    constant = {name: frame[name].dropna().iloc[0] for name in frame.columns if is_constant(frame[name])}
    others = [name for name in frame.columns if name not in schema and name not in constant]
    if others:
        raise SchemaError(f"asked to condense {quoted(others)}, which cannot be features; drop these columns of X")
    encoder = Encoder.fit(table.iloc[train], schema, settings)

    def in_units(x: np.ndarray) -> pd.DataFrame:
        return encoder.inverse(x).assign(**constant)[list(frame.columns)].set_axis(X.columns, axis=1)

    return Encoded(encoder.transform(table), in_units, encoder)


def _encoded_series(X: np.ndarray, train: np.ndarray, settings: EncoderSettings) -> Encoded:
    """Series as networks take them, gaps filled and marked, and the way back to the units of ``X``."""
    series = Series(X, tuple(f"x{place}" for place in range(X.shape[2])))
    nothing = pd.DataFrame(index=range(len(X)))
    encoder = SeriesEncoder.fit(series.take(train), nothing.iloc[train], Schema(()), settings)
    x = encoder.transform(series, nothing)
    return Encoded(x, lambda x: encoder.inverse(x)[0].values.astype(X.dtype), encoder)
