"""``Condenser``: condensation as an imbalanced-learn sampler, for pipelines and grid searches."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import jax
import numpy as np
import pandas as pd
from imblearn.base import BaseSampler
from imblearn.utils import check_target_type
from scipy.sparse import csr_array, issparse
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from aliquot.cohort import EncoderSettings, Schema, Series, SeriesEncoder
from aliquot.errors import TargetError
from aliquot.evaluate import TuningJudge, row_classes
from aliquot.methods import Task, method_named
from aliquot.networks import Build
from aliquot.runs.settings import BUDGETS, PRESETS, load_settings, with_choices


class Condenser(BaseSampler):
    """Learn synthetic rows on which models train as well as on all of ``X``.

    Numeric arrays in, numeric arrays out, in the units of ``X``; tables with categories and gaps go through
    :func:`aliquot.condense`. ``X`` of three dimensions is series (rows, steps, channels), NaN where nothing was
    measured, and so are the rows. A part of ``X`` is set aside to choose among snapshots; nothing is held out, since
    the pipeline or search around the sampler does that.

    Parameters
    ----------
    method : a name in ``aliquot.methods.METHODS``
    rows_per_class : synthetic rows per class
    preset, budget, settings, network : as in :func:`aliquot.condense`
    tuning_share : share of ``X`` on which expert length and snapshot are chosen
    random_state : seed

    Attributes
    ----------
    history_ : figures of the search per iteration and per look at the tuning part
    tuning_score_ : AUPRC on the tuning part of networks trained on the returned rows

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
        "method": [str],
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
        method: str = "btm",
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
        if np.ndim(X) != 3:
            return super()._check_X_y(X, y, accept_sparse)
        y, one_hot = check_target_type(y, indicate_one_vs_all=True)
        X, y = validate_data(
            self, X=X, y=y, allow_nd=True, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )
        return X, y, one_hot

    def _fit_resample(self, X, y, **params):
        method = method_named(self.method)
        settings = load_settings(
            self.preset,
            self.budget,
            method=self.method,
            rows_per_class=self.rows_per_class,
            series=X.ndim == 3,
            changes=with_choices(self.settings, network=self.network),
        )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        condense_key, judge_key = jax.random.split(jax.random.key(seed))
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise TargetError("asked to condense rows of one class only; pass y with at least two classes")

        train, tuning = self._parts(labels, seed)
        x, in_units = _encoded_series(X, train, settings.encoder) if X.ndim == 3 else _standardised(X)
        own = self.network if callable(self.network) else None
        network = settings.network.network(x.shape[1:], len(classes), own)
        judge = TuningJudge(network, settings.evaluation, x[tuning], labels[tuning], judge_key)
        matched = settings.network.matched_network(x.shape[1:], len(classes), own)
        task = Task(matched, x[train], labels[train], self.rows_per_class, judge)
        condensed = method.condense(task, settings, key=condense_key)

        self.history_ = dict(condensed.history)
        self.tuning_score_ = judge.rows(condensed.x, condensed.targets).mean
        return in_units(condensed.x), classes[row_classes(condensed.targets)]

    def _parts(self, labels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to learn from and rows to choose on; the same rows where a class is too small to be split."""
        everyone = np.arange(len(labels))
        wanted = round(self.tuning_share * len(labels))
        if np.bincount(labels).min() < 2 or wanted < len(np.unique(labels)):
            return everyone, everyone
        train, tuning = train_test_split(everyone, test_size=wanted, stratify=labels, random_state=seed)
        return np.asarray(train), np.asarray(tuning)


def _standardised(X) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """Columns with mean 0 and deviation 1, and the way back to the units and the type of ``X``."""
    sparse_format = X.format if issparse(X) else None
    X = X.toarray() if sparse_format else X
    centre, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1

    def in_units(x: np.ndarray):
        rows = (x * scale + centre).astype(X.dtype)
        return csr_array(rows).asformat(sparse_format) if sparse_format else rows

    return ((X - centre) / scale).astype(np.float32), in_units


def _encoded_series(
    X: np.ndarray, train: np.ndarray, settings: EncoderSettings
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Series as networks take them, gaps filled and told, and the way back to the units of ``X``."""
    series = Series(X, tuple(f"x{place}" for place in range(X.shape[2])))
    nothing = pd.DataFrame(index=range(len(X)))
    encoder = SeriesEncoder.fit(series.take(train), nothing.iloc[train], Schema(()), settings)
    return encoder.transform(series, nothing), lambda x: encoder.inverse(x)[0].values.astype(X.dtype)
