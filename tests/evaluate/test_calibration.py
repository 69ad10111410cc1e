"""Scale and offset that turn the logits of networks into log-odds among patients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax

from aliquot.evaluate import Correction, corrected, fit_correction
from aliquot.evaluate.calibration import calibration_of

SIZES = st.sampled_from([0.0, 1e-3, 1.0, 1e3, 1e30])


@settings(max_examples=20, deadline=None)
@given(scale=st.floats(0.3, 3), offset=st.floats(-2, 2))
def test_a_known_correction_is_found(scale, offset):
    rng = np.random.default_rng(0)
    true = rng.normal(-0.5, 1.5, 20_000)
    labels = (rng.random(true.size) < expit(true)).astype(int)
    found = fit_correction(labels, np.stack([(true - offset) / scale] * 2))
    assert found.scale == pytest.approx(scale, rel=0.08)
    assert found.offset == pytest.approx(offset, abs=0.15)


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_a_known_correction_of_three_classes_is_found(scale):
    rng, offset = np.random.default_rng(0), np.array([0.0, -1.0, 0.5])
    true = rng.normal(0, 1.5, (20_000, 3))
    labels = (softmax(true, axis=1).cumsum(axis=1) < rng.random((len(true), 1))).sum(axis=1)
    found = fit_correction(labels, ((true - offset) / scale)[None])
    assert found.scale == pytest.approx(scale, rel=0.08)
    np.testing.assert_allclose(found.offset, offset, atol=0.1)
    assert found.offset[0] == 0


@settings(max_examples=40, deadline=None)
@given(shift=st.floats(-4, 4), share=st.floats(0.05, 0.95))
def test_the_mean_becomes_the_share_and_the_ranking_stays(shift, share):
    rng = np.random.default_rng(0)
    z, labels = rng.normal(shift, 2, 300), (rng.random(300) < share).astype(int)
    p = corrected(z, fit_correction(labels, z[None]))[:, 1]
    assert p.mean() == pytest.approx(labels.mean(), abs=1e-3)
    assert (p.argsort() == z.argsort()).all()


@settings(max_examples=60, deadline=None)
@given(
    labels=st.lists(st.integers(0, 2), min_size=1, max_size=8),
    classes=st.sampled_from([2, 3]),
    size=SIZES,
    shift=SIZES,
    signal=st.sampled_from([-1, 0, 1]),
)
def test_degenerate_logits_and_classes_have_a_correction(labels, classes, size, shift, signal):
    """Separable or constant logits, networks that diverged, classes of nobody."""
    labels = np.minimum(labels, classes - 1)
    z = np.eye(3)[labels][:, :classes] if classes == 3 else labels - 0.5
    found = fit_correction(labels, shift + size * signal * z[None])
    assert np.isfinite(found.offset).all()
    assert 0 < found.scale < np.inf


def test_few_patients_do_not_decide_the_scale():
    labels, z = np.array([0, 0, 1, 1]), np.array([-2.0, -1.0, 1.0, 2.0])
    assert 1 < fit_correction(labels, z[None]).scale < 2
    many = fit_correction(np.tile(labels, 200), np.tile(z, 200)[None])
    assert many.scale > 5


def test_networks_are_no_patients():
    """Ten networks that agree say what one says."""
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=50), np.arange(50) % 2
    one, ten = fit_correction(labels, z[None]), fit_correction(labels, np.stack([z] * 10))
    assert one.scale == pytest.approx(ten.scale, rel=1e-4)
    assert one.offset == pytest.approx(ten.offset, abs=1e-4)


def test_an_earlier_release_has_scale_1():
    assert Correction.of_recipe({"logit_offset": -0.5}) == Correction(1.0, -0.5)
    assert Correction.of_recipe({"logit_scale": 2.0, "logit_offset": [0.0, 1.0, 2.0]}).offset == (0.0, 1.0, 2.0)


def test_the_calibration_says_what_was_corrected():
    rng = np.random.default_rng(0)
    z = np.stack([rng.normal(size=300)] * 2)
    labels = (rng.random(300) < expit(3 * z[0] - 1)).astype(int)
    found = calibration_of(labels, z, Correction(3.0, -1.0))
    assert (found.scale, found.offset) == (3.0, -1.0)
    assert list(found.to_json())[:2] == ["scale", "offset"]
    assert found.after.log_loss.mean < found.before.log_loss.mean
    assert found.after.auroc == found.before.auroc
