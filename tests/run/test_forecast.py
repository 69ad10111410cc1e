"""How long a run will still take."""

from types import SimpleNamespace

import numpy as np
import pytest

import aliquot.run.forecast as forecast_module
from aliquot.cohort import Part, Parts
from aliquot.methods import Cost
from aliquot.run.forecast import Forecast
from aliquot.run.pipeline import PIPELINE
from aliquot.run.request import RequestOptions
from aliquot.run.stage import Run


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
    return Parts(*made, None, np.zeros(0, np.int8), (0.5, 0.5))  # pyright: ignore[reportArgumentType]


def costs(of=None, *, share=1.0, series=False, **asked):
    """The costs of all stages of a run for 100 rows; None where they are not known."""
    request = RequestOptions(rows_per_class=50, **asked).request(series=series)
    run = Run(request=request, parts=of or parts(), networks=SimpleNamespace(share=share))
    found = [stage.cost(run) for stage in PIPELINE]
    return None if None in found else {name: cost for one in found for name, cost in one.items()}


def test_at_a_steady_pace_the_forecast_is_exact(clock):
    forecast = Forecast({"experts": Cost(300.0), "full data": Cost(trained=700.0)})
    left = []
    for name, total, seconds in (("experts", 3, 30), ("full data", 7, 70)):
        forecast.stage(name, total)
        for _ in range(total):
            clock.now += seconds / total
            left.append(forecast.advance(1))
    assert left == pytest.approx([90, 80, 70, 60, 50, 40, 30, 20, 10, 0])


def test_what_was_remembered_does_not_count_as_fast(clock):
    forecast = Forecast({"experts": Cost(500.0), "matching": Cost(200.0, 300.0)})
    forecast.stage("experts", 5)
    assert forecast.advance(4) is None
    clock.now += 10
    assert forecast.advance(1) == pytest.approx(50)


def test_compiling_does_not_count_as_slow(clock):
    forecast = Forecast({"experts": Cost(500.0), "matching": Cost(200.0, 300.0)})
    forecast.stage("experts", 5)
    clock.now += 30
    assert forecast.advance(1) == pytest.approx(9 * 30)
    clock.now += 10
    assert forecast.advance(1) == pytest.approx(8 * 10)


def test_each_network_has_its_pace(clock):
    forecast = Forecast({"experts": Cost(100.0), "starting rows": Cost(trained=20.0), "full data": Cost(trained=100.0)})
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
    forecast = Forecast({"experts": Cost(100.0), "matching": Cost(50.0, 50.0), "full data": Cost(trained=100.0)})
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
    forecast = Forecast({"curves": Cost(1000.0), "full data": Cost(trained=100.0)})
    forecast.stage("curves", 10)
    clock.now += 1
    forecast.advance(1)
    forecast.stage("full data", 10)
    clock.now += 1
    assert forecast.advance(1) == pytest.approx(90 / 10)  # nothing of the curves is left


def test_experts_that_tuning_cut_short_do_not_count_as_fast(clock):
    forecast = Forecast({"expert length": Cost(50.0), "experts": Cost(150.0, bounded=True), "curves": Cost(100.0)})
    forecast.stage("expert length", 5)
    for _ in range(5):
        clock.now += 10
        forecast.advance(1)
    forecast.stage("experts", 15)
    for _ in range(3):
        clock.now += 10  # five experts, each a fifth as long as a pilot
        left = forecast.advance(5)
    assert left == pytest.approx(100)
    tuned, fixed = (costs(changes=(f"expert.length={how}",)) for how in ("tuning", "fixed"))
    assert (tuned["experts"].bounded, fixed["experts"].bounded) == (True, False)


def test_curves_tell_a_pace_only_where_no_check_may_end_them():
    checked, whole = (costs(changes=(f"curve.check_every={every}",)) for every in (250, 0))
    assert (checked["curves"].bounded, whole["curves"].bounded) == (True, False)


def test_other_models_have_seconds_whatever_the_pace_of_networks(clock):
    forecast = Forecast({"full data": Cost(trained=100.0), "other models": Cost(seconds=48.0)})
    forecast.stage("full data", 10)
    clock.now += 1
    assert forecast.advance(1) == pytest.approx(9 + 48)
    forecast.stage("other models", 4)
    clock.now += 1
    forecast.advance(1)
    clock.now += 1
    assert forecast.advance(1) == pytest.approx(24)  # the fast ones say nothing of the forest that follows


def test_other_models_take_longer_on_more_patients_and_more_features():
    few, many = (costs(parts(train=n))["other models"].seconds for n in (1_000, 100_000))
    assert 1 < few < many  # seconds
    assert costs(parts(train=200_000))["other models"].seconds == many  # who see no more than 20,000
    assert costs(changes=("evaluation.expanded_records=300",))["other models"].seconds < costs()["other models"].seconds

    wide = [Part(np.zeros((100, 48, 60), np.float32), np.zeros(100, np.int32))] * 3
    series = costs(Parts(*wide, None, np.zeros(0, np.int8), (0.5, 0.5)), series=True)  # pyright: ignore[reportArgumentType]
    few = costs(parts(100), changes=("evaluation.expanded_records=2000",))  # as series have
    assert series["other models"].seconds > few["other models"].seconds


def test_without_known_work_nothing_is_said(clock):
    forecast = Forecast({})
    forecast.stage("matching", 10)
    clock.now += 5
    assert forecast.advance(5) is None


def test_costs_grow_with_what_is_asked():
    found = costs(method="btm")
    stages = ("expert length", "experts", "curves", "starting rows", "matching")
    measured = ("networks on the rows", "records around the rows", "other models")
    assert tuple(found) == (*stages, "full data", "held-out evaluation", *measured)
    more = costs(method="btm", changes=("match.iterations=4000",))
    assert more["matching"].passes == pytest.approx([2 * part for part in found["matching"].passes], rel=0.05)
    assert costs(parts(train=1400), method="btm")["experts"].matched == 2 * found["experts"].matched
    plain = costs(method="btm", changes=("slots.average=0.0",))
    assert found["matching"].trained == 2 * plain["matching"].trained  # two candidates at each evaluation


def test_students_that_begin_fresh_walk_forwards_only_up_to_their_window():
    def passes(*changes):
        return costs(method="bfm", changes=changes)["matching"].matched

    fresh, path = passes("slots.begin=fresh"), passes("slots.begin=path")
    assert path < passes() < fresh
    assert passes() == pytest.approx((fresh + path) / 2)
    assert passes("match.window=0") > 2 * fresh
    assert passes("match.questions=100") < passes()


def test_small_experts_cost_less_and_full_data_does_not():
    whole, small = costs(method="btm"), costs(share=0.1, method="btm")
    for stage in ("expert length", "experts", "curves"):
        assert 0.1 * whole[stage].matched < small[stage].matched < 0.2 * whole[stage].matched
    assert small["matching"].matched < whole["matching"].matched
    assert small["matching"].trained == whole["matching"].trained
    assert small["full data"] == whole["full data"]


def test_a_method_that_does_not_tell_its_cost_is_not_foretold():
    assert costs(method="kmeans") is None
    assert {"starting rows", "matching"} <= set(costs(method="m3d"))
