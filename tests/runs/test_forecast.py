"""How long a run will still take."""

import numpy as np
import pytest

import aliquot.runs.forecast as forecast_module
from aliquot.cohort import Part, Parts
from aliquot.runs.forecast import Forecast, Work, work_of
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
    forecast = Forecast({"experts": Work(300.0), "full data": Work(trained=700.0)})
    left = []
    for name, total, seconds in (("experts", 3, 30), ("full data", 7, 70)):
        forecast.stage(name, total)
        for _ in range(total):
            clock.now += seconds / total
            left.append(forecast.advance(1))
    assert left == pytest.approx([90, 80, 70, 60, 50, 40, 30, 20, 10, 0])


def test_what_was_remembered_does_not_count_as_fast(clock):
    forecast = Forecast({"experts": Work(500.0), "matching": Work(200.0, 300.0)})
    forecast.stage("experts", 5)
    assert forecast.advance(4) is None
    clock.now += 10
    assert forecast.advance(1) == pytest.approx(50)


def test_compiling_does_not_count_as_slow(clock):
    forecast = Forecast({"experts": Work(500.0), "matching": Work(200.0, 300.0)})
    forecast.stage("experts", 5)
    clock.now += 30
    assert forecast.advance(1) == pytest.approx(9 * 30)
    clock.now += 10
    assert forecast.advance(1) == pytest.approx(8 * 10)


def test_each_network_has_its_pace(clock):
    forecast = Forecast({"experts": Work(100.0), "starting rows": Work(trained=20.0), "full data": Work(trained=100.0)})
    forecast.stage("experts", 10)
    for _ in range(10):
        clock.now += 1
        left = forecast.advance(1)
    assert left == pytest.approx(12)  # the other network at the pace of this one
    forecast.stage("starting rows", 2)
    clock.now += 30
    assert forecast.advance(1) == pytest.approx(11)  # compiled too: not yet a pace
    clock.now += 5
    assert forecast.advance(1) == pytest.approx(50)


def test_a_stage_that_goes_on_has_its_own_pace(clock):
    forecast = Forecast({"experts": Work(100.0), "matching": Work(50.0, 50.0), "full data": Work(trained=100.0)})
    forecast.stage("experts", 10)
    for _ in range(10):
        clock.now += 1
        forecast.advance(1)
    forecast.stage("matching", 100)
    clock.now += 8  # compiled too: not yet a pace
    assert forecast.advance(25) == pytest.approx(7.5 + 10)
    clock.now += 5
    assert forecast.advance(25) == pytest.approx(10 + 10)


def test_a_stage_that_ends_early_is_done(clock):
    forecast = Forecast({"curves": Work(1000.0), "full data": Work(trained=100.0)})
    forecast.stage("curves", 10)
    clock.now += 1
    forecast.advance(1)
    forecast.stage("full data", 10)
    clock.now += 1
    assert forecast.advance(1) == pytest.approx(90 / 10)  # nothing of the curves is left


def test_experts_that_tuning_cut_short_do_not_count_as_fast(clock):
    forecast = Forecast({"expert length": Work(50.0), "experts": Work(150.0, bounded=True), "curves": Work(100.0)})
    forecast.stage("expert length", 5)
    for _ in range(5):
        clock.now += 10
        forecast.advance(1)
    forecast.stage("experts", 15)
    for _ in range(3):
        clock.now += 10  # five experts, each a fifth as long as a pilot
        left = forecast.advance(5)
    assert left == pytest.approx(100)
    tuned, fixed = (
        work_of(load_settings(overrides=(f"expert.length={how}",)), "btm", parts(), 100) for how in ("tuning", "fixed")
    )
    assert (tuned["experts"].bounded, fixed["experts"].bounded) == (True, False)


def test_curves_tell_a_pace_only_where_no_look_may_end_them():
    looked, whole = (
        work_of(load_settings(overrides=(f"curve.check_every={every}",)), "btm", parts(), 100) for every in (250, 0)
    )
    assert (looked["curves"].bounded, whole["curves"].bounded) == (True, False)


def test_other_models_have_seconds_whatever_the_pace_of_networks(clock):
    forecast = Forecast({"full data": Work(trained=100.0), "other models": Work(seconds=48.0)})
    forecast.stage("full data", 10)
    clock.now += 1
    assert forecast.advance(1) == pytest.approx(9 + 48)
    forecast.stage("other models", 4)
    clock.now += 1
    forecast.advance(1)
    clock.now += 1
    assert forecast.advance(1) == pytest.approx(24)  # the fast ones say nothing of the forest that follows


def test_other_models_take_longer_on_more_patients_and_more_features():
    few, many = (work_of(load_settings(), "btm", parts(train=n), 100)["other models"].seconds for n in (1_000, 100_000))
    assert 1 < few < 10 < many  # seconds

    wide = [Part(np.zeros((100, 48, 60), np.float32), np.zeros(100, np.int32))] * 3
    series = work_of(load_settings(series=True), "btm", Parts(*wide, None), 100)  # pyright: ignore[reportArgumentType]
    assert series["other models"].seconds > work_of(load_settings(), "btm", parts(100), 100)["other models"].seconds


def test_without_known_work_nothing_is_said(clock):
    forecast = Forecast({})
    forecast.stage("matching", 10)
    clock.now += 5
    assert forecast.advance(5) is None


def test_work_grows_with_what_is_asked():
    settings = load_settings()
    work = work_of(settings, "btm", parts(), 100)
    ways = ("expert length", "experts", "curves", "starting rows", "matching")
    assert tuple(work) == (*ways, "full data", "held-out evaluation", "other models")
    more = work_of(load_settings(overrides=("match.iterations=4000",)), "btm", parts(), 100)
    assert more["matching"].passes == pytest.approx([2 * part for part in work["matching"].passes], rel=0.05)
    assert work_of(settings, "btm", parts(train=1400), 100)["experts"].matched == 2 * work["experts"].matched


def test_small_experts_are_less_work_and_full_data_is_not():
    work, small = (work_of(load_settings(), "btm", parts(), 100, share) for share in (1.0, 0.1))
    for stage in ("expert length", "experts", "curves"):
        whole, part = work[stage].matched, small[stage].matched
        assert 0.1 * whole < part < 0.2 * whole or whole == 0
    assert small["matching"].matched < work["matching"].matched
    assert small["matching"].trained == work["matching"].trained
    assert small["full data"] == work["full data"]


def test_methods_without_trajectories_are_not_forecast():
    assert work_of(load_settings(method="kmeans"), "kmeans", parts(), 100) == {}
