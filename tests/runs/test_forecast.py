"""How long a run will still take."""

import numpy as np
import pytest

import aliquot.runs.forecast as forecast_module
from aliquot.cohort import Part, Parts
from aliquot.runs.forecast import Forecast, work_of
from aliquot.runs.settings import load_settings


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(forecast_module, "time", clock)
    return clock


def parts(train=700, tuning=150, held_out=150):
    made = [Part(np.zeros((n, 2), np.float32), np.arange(n) % 2) for n in (train, tuning, held_out)]
    return Parts(*made, None)  # pyright: ignore[reportArgumentType]


def test_at_a_steady_pace_the_forecast_is_exact(clock):
    forecast = Forecast({"experts": 300.0, "matching": 700.0})
    left = []
    for name, total, seconds in (("experts", 3, 30), ("matching", 7, 70)):
        forecast.stage(name, total)
        for _ in range(total):
            clock.now += seconds / total
            left.append(forecast.advance(1))
    assert left == pytest.approx([90, 80, 70, 60, 50, 40, 30, 20, 10, 0])


def test_what_was_remembered_does_not_count_as_fast(clock):
    forecast = Forecast({"experts": 500.0, "matching": 500.0})
    forecast.stage("experts", 5)
    assert forecast.advance(4) is None
    clock.now += 10
    assert forecast.advance(1) == pytest.approx(50)


def test_compiling_does_not_count_as_slow(clock):
    forecast = Forecast({"experts": 500.0, "matching": 500.0})
    forecast.stage("experts", 5)
    clock.now += 30
    assert forecast.advance(1) == pytest.approx(9 * 30)
    clock.now += 10
    assert forecast.advance(1) == pytest.approx(8 * 10)


def test_a_stage_that_ends_early_is_done(clock):
    forecast = Forecast({"curves": 1000.0, "matching": 100.0})
    forecast.stage("curves", 10)
    clock.now += 1
    forecast.advance(1)
    forecast.stage("matching", 10)
    clock.now += 1
    assert forecast.advance(1) == pytest.approx(90 / 10)  # nothing of the curves is left


def test_without_known_work_nothing_is_said(clock):
    forecast = Forecast({})
    forecast.stage("matching", 10)
    clock.now += 5
    assert forecast.advance(5) is None


def test_work_grows_with_what_is_asked():
    settings = load_settings()
    work = work_of(settings, "btm", parts(), 100)
    stages = ("expert length", "experts", "curves", "starting rows", "matching", "full data", "held-out evaluation")
    assert tuple(work) == stages
    more = work_of(load_settings(overrides=("match.iterations=4000",)), "btm", parts(), 100)
    assert more["matching"] == pytest.approx(2 * work["matching"], rel=0.05)
    assert work_of(settings, "btm", parts(train=1400), 100)["experts"] == 2 * work["experts"]


def test_small_experts_are_less_work_and_full_data_is_not():
    work, small = (work_of(load_settings(), "btm", parts(), 100, share) for share in (1.0, 0.1))
    for stage in ("expert length", "experts", "curves"):
        assert 0.1 * work[stage] < small[stage] < 0.2 * work[stage] or work[stage] == 0
    assert small["matching"] < work["matching"]
    assert small["full data"] == work["full data"]


def test_methods_without_trajectories_are_not_forecast():
    assert work_of(load_settings(method="kmeans"), "kmeans", parts(), 100) == {}
