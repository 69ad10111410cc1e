"""Small things that many tests share."""

import os
import shutil
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")  # scikit-learn's threads fight with those of the other worker
# Tests compile many small programs and run each once: compile them quickly rather than well.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
# A command that a test starts compiles what an earlier one did: those of one worker share a cache.
os.environ.update(JAX_COMPILATION_CACHE_DIR=tempfile.mkdtemp(prefix="aliquot-compiled-"))
os.environ.update(JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0")

import jax
import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier

from aliquot.evaluate.other_models import MODELS
from aliquot.evaluate.protocol import EvaluationSettings, TuningJudge
from aliquot.networks import mlp
from aliquot.networks.training import forget_programs

# What these score is tested nowhere, and every run in these tests trains four of each.
MODELS["random forest"] = lambda seed, n: RandomForestClassifier(20, min_samples_leaf=2, random_state=seed)
MODELS["multilayer perceptron"] = lambda seed, n: MLPClassifier((16,), max_iter=300, random_state=seed)
MODELS["gradient boosting"] = lambda seed, n: HistGradientBoostingClassifier(max_iter=10, random_state=seed)


@pytest.fixture(autouse=True, scope="session")
def compiled():
    """The cache of compiled programs lasts as long as the tests."""
    yield
    shutil.rmtree(os.environ["JAX_COMPILATION_CACHE_DIR"], ignore_errors=True)


@pytest.fixture(autouse=True, scope="module")
def few_programs():
    """Thousands of tests in one process compile more programs than a process may hold."""
    yield
    forget_programs()


@pytest.fixture
def x64():
    """Double precision for comparisons with finite differences."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="session")
def blobs():
    """Two overlapping classes in five dimensions: 400 training rows, 200 tuning rows."""
    rng = np.random.default_rng(0)
    labels = (rng.random(600) < 0.3).astype(np.int32)
    x = rng.normal(size=(600, 5)).astype(np.float32)
    x[:, :2] += 1.2 * labels[:, None]
    return (x[:400], labels[:400]), (x[400:], labels[400:])


@pytest.fixture(scope="session")
def small_network():
    return mlp(5, n_classes=2, hidden=(8,), dropout=0.25)


@pytest.fixture(scope="session")
def small_judge(blobs, small_network):
    settings = EvaluationSettings(search_epochs=20, search_networks=2)
    return TuningJudge(small_network, settings, *blobs[1], jax.random.key(9))
