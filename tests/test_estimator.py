"""Condenser as scikit-learn and imbalanced-learn want their estimators."""

import numpy as np
import pytest
from imblearn.pipeline import Pipeline
from imblearn.utils.estimator_checks import estimator_checks_generator as imblearn_checks
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import estimator_checks_generator as sklearn_checks

from aliquot import Condenser
from aliquot.errors import AliquotError

TINY = {
    "network": {"hidden": [4]},
    "expert": {"count": 2, "epochs": 2, "pilots": 1},
    "match": {"iterations": 4, "judge_every": 2, "student_steps": 2},
    "evaluation": {"search_networks": 1, "search_epochs": 2},
}


@pytest.fixture
def tiny():
    return Condenser(method="btm+linear", rows_per_class=3, budget="smoke", settings=TINY, random_state=0)


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 6, n_informative=4, weights=[0.7], random_state=0)


FROM_NOISE = TINY | {"start": "noise"}  # some checks have classes of fewer than ten
SMALLEST = Condenser(method="btm+linear", rows_per_class=1, budget="smoke", settings=FROM_NOISE, random_state=0)
CHECKS = [*sklearn_checks(SMALLEST), *imblearn_checks(SMALLEST)]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_estimator_checks(estimator, check):
    """All of scikit-learn's and imbalanced-learn's checks that apply to a sampler."""
    check(estimator)


def test_pipeline_and_grid_search(tiny, data):
    pipeline = Pipeline([("condense", tiny), ("model", LogisticRegression())])
    search = GridSearchCV(pipeline, {"condense__rows_per_class": [2, 5]}, cv=2, scoring="roc_auc").fit(*data)
    assert search.best_params_["condense__rows_per_class"] in (2, 5)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_same_seed_same_rows_other_seed_other_rows(tiny, data):
    rows = clone(tiny).fit_resample(*data)[0]
    assert (rows == clone(tiny).fit_resample(*data)[0]).all()
    assert (rows != tiny.set_params(random_state=1).fit_resample(*data)[0]).any()


def test_more_classes_and_names(tiny):
    x, y = make_classification(240, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    rows, labels = tiny.fit_resample(x, np.array(["a", "b", "c"])[y])
    assert rows.shape == (9, 5)
    assert labels.tolist() == ["a"] * 3 + ["b"] * 3 + ["c"] * 3


def test_more_rows_than_patients_is_an_error(tiny, data):
    with pytest.raises(AliquotError, match="ask for fewer rows"):
        tiny.set_params(rows_per_class=500).fit_resample(*data)


def test_unknown_setting_lists_the_known_ones(data):
    with pytest.raises(AliquotError, match="student_steps"):
        Condenser(settings={"match": {"student_step": 3}}).fit_resample(*data)


def test_series_in_series_out(tiny):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    x = rng.normal(loc=50, scale=5, size=(120, 4, 2)) + y[:, None, None]
    x[:, :, 1][rng.random((120, 4)) < 0.3] = np.nan
    gentle = {**TINY, "match": {**TINY["match"], "data_lr": 1.0}}  # of 30 stays, tuning cannot tell good steps from bad
    rows, labels = tiny.set_params(network="lstm-1", settings=gentle).fit_resample(x, y)
    assert rows.shape == (6, 4, 2)
    assert sorted(labels.tolist()) == [0] * 3 + [1] * 3
    assert 30 < np.nanmean(rows) < 70  # in the units of x
    assert np.isfinite(rows[:, :, 0]).all()  # a channel without gaps has none in the rows


def test_series_of_infinite_numbers_are_refused(tiny):
    x = np.ones((40, 4, 2))
    x[0, 0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        tiny.fit_resample(x, np.arange(40) % 2)


def test_only_the_rows_to_learn_from_decide_the_scale(data, monkeypatch):
    """A value of the tuning part, however wild, changes nothing that the experts see."""
    from aliquot import estimator

    X, y = data
    seen = []
    standardised = estimator._standardised

    def watch(X, train, settings):
        x, back = standardised(X, train, settings)
        seen.append((x, train))
        return x, back

    monkeypatch.setattr(estimator, "_standardised", watch)
    Condenser(method="random", rows_per_class=2, budget="smoke", settings=TINY, random_state=0).fit_resample(X, y)
    x, train = seen[0]
    assert len(train) < len(X)
    np.testing.assert_allclose(x[train].mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(x[train].std(axis=0), 1, atol=1e-5)
    assert np.abs(x.mean(axis=0)).max() > 1e-3
