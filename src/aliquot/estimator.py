"""``Condenser``: condensation as an imbalanced-learn sampler, for pipelines and grid searches."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import jax
import numpy as np
from imblearn.base import BaseSampler
from scipy.sparse import csr_array, issparse
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from aliquot.errors import TargetError
from aliquot.evaluate import TuningJudge, row_classes
from aliquot.methods import Task, method_named
from aliquot.networks import named_network
from aliquot.runs.settings import BUDGETS, PRESETS, load_settings


class Condenser(BaseSampler):
    """Learn synthetic rows on which models train as well as on all of ``X``.

    Numeric arrays in, numeric arrays out, in the units of ``X``; tables with categories and gaps go through
    :func:`aliquot.condense`. A part of ``X`` is set aside to choose among snapshots; nothing is held out, since the
    pipeline or search around the sampler does that.

    Parameters
    ----------
    method : a name in ``aliquot.methods.METHODS``
    rows_per_class : synthetic rows per class
    preset, budget, settings : as in :func:`aliquot.condense`
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
        tuning_share: float = 0.2,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(sampling_strategy="auto")
        self.method = method
        self.rows_per_class = rows_per_class
        self.preset = preset
        self.budget = budget
        self.settings = settings
        self.tuning_share = tuning_share
        self.random_state = random_state

    def _fit_resample(self, X, y, **params):
        method = method_named(self.method)
        settings = load_settings(
            self.preset,
            self.budget,
            method=self.method,
            rows_per_class=self.rows_per_class,
            changes=dict(self.settings or {}),
        )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        condense_key, judge_key = jax.random.split(jax.random.key(seed))
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise TargetError("asked to condense rows of one class only; pass y with at least two classes")

        sparse_format = X.format if issparse(X) else None
        X = X.toarray() if sparse_format else X
        centre, scale = X.mean(axis=0), X.std(axis=0)
        scale[scale == 0] = 1
        x = ((X - centre) / scale).astype(np.float32)
        train, tuning = self._parts(labels, seed)
        how = settings.network
        network = named_network(how.kind, x.shape[1:], len(classes), how.hidden, how.dropout)
        judge = TuningJudge(network, settings.evaluation, x[tuning], labels[tuning], judge_key)
        task = Task(network, x[train], labels[train], self.rows_per_class, judge)
        condensed = method.condense(task, settings, key=condense_key)

        self.history_ = dict(condensed.history)
        self.tuning_score_ = judge.rows(condensed.x, condensed.targets).mean
        rows = (condensed.x * scale + centre).astype(X.dtype)
        rows = csr_array(rows).asformat(sparse_format) if sparse_format else rows
        return rows, classes[row_classes(condensed.targets)]

    def _parts(self, labels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to learn from and rows to choose on; the same rows where a class is too small to be split."""
        everyone = np.arange(len(labels))
        wanted = round(self.tuning_share * len(labels))
        if np.bincount(labels).min() < 2 or wanted < len(np.unique(labels)):
            return everyone, everyone
        train, tuning = train_test_split(everyone, test_size=wanted, stratify=labels, random_state=seed)
        return np.asarray(train), np.asarray(tuning)
