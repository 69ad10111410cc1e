from dataclasses import asdict, replace

import pytest

from aliquot.errors import AliquotError, FileError, SettingsError
from aliquot.matching import Slots
from aliquot.methods import METHODS
from aliquot.presets import BUDGETS, PRESETS
from aliquot.presets.settings import (
    Settings,
    default_method,
    load_settings,
    settings_from,
    with_choices,
)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("method", [*METHODS, "mtt+bezier"])
def test_every_preset_and_budget_loads_and_survives_a_round_trip(preset, budget, method):
    settings = load_settings(preset, budget, method=method)
    assert settings_from(asdict(settings)) == settings


@pytest.mark.parametrize(
    ("rows", "window"),
    [(10, (0, 20, 40)), (50, (0, 20, 40)), (100, (10, 20, 60)), (200, (20, 40, 100)), (500, (20, 40, 100))],
)
def test_the_papers_windows_of_datm(rows, window):
    segment = load_settings("paper", method="datm", rows_per_class=rows).match.segment
    assert (segment.first, segment.until, segment.last, segment.epochs) == (*window, 5)


@pytest.mark.parametrize(
    ("rows", "window"), [(50, (0, 10, 25)), (100, (5, 15, 40)), (200, (20, 40, 50)), (500, (30, 40, 60))]
)
def test_the_papers_windows_of_datm_on_mimic(rows, window):
    settings = load_settings("paper-mimic3", method="datm", rows_per_class=rows)
    segment = settings.match.segment
    assert (segment.first, segment.until, segment.last) == window
    assert settings.slots.experts == "sgd"


def test_the_papers_datasets():
    puh, eicu, mimic = (load_settings(f"paper-{name}", "paper", method="m3d") for name in ("puh", "eicu", "mimic3"))
    assert (puh.expert.learning_rate, puh.distribution.width) == (0.01, 62)
    assert (eicu.network.hidden, eicu.distribution.width) == ((256,), 256)
    assert (mimic.network.kind, mimic.distribution.width) == ("tcn", 128)
    assert (mimic.expert.epochs, mimic.expert.momentum, mimic.evaluation.learning_rate) == (60, 0, 0.02)
    assert (mimic.evaluation.search_epochs, mimic.evaluation.final_epochs) == (60, 80)


def test_our_recipe_knows_no_dataset():
    assert [name for name in PRESETS if name.startswith("default")] == ["default"]


def test_a_preset_names_the_method_that_it_runs():
    assert [default_method(name) for name in ("default", "paper", "paper-mimic3", "official")] == ["bfm", *["btm"] * 3]
    assert default_method(series=True) == "bfm"
    assert load_settings() == load_settings(method="bfm")
    assert load_settings(series=True) == load_settings(method="bfm", series=True)


def test_rivals_have_the_papers_eighty_steps_and_their_own_slots():
    for name in ("mtt", "tesla", "ftd", "datm"):
        settings = load_settings("paper", "paper", method=name)
        assert settings.match.student_steps == 80
        assert settings.slots.path == "sgd"
    ftd, tesla = (load_settings("paper", method=name) for name in ("ftd", "tesla"))
    assert (ftd.slots.experts, ftd.slots.gradient, ftd.expert.schedule, ftd.expert.gsam.rho) == (
        "gsam",
        "full",
        "linear",
        1.0,
    )
    assert (tesla.slots.gradient, tesla.slots.labels) == ("first_order", "teacher")
    official = load_settings("official", "paper", method="datm", rows_per_class=10)
    assert (official.slots.labels, official.start, official.match.segment.last) == ("learned", "recognised", 20)


def test_a_method_may_be_put_on_another_path_and_single_slots_changed():
    assert load_settings(method="datm+bezier").slots == replace(load_settings(method="datm").slots, path="bezier")
    assert load_settings(method="mtt", changes=("slots.gradient=first_order",)).slots.gradient == "first_order"


def test_the_path_belongs_to_the_method():
    with pytest.raises(SettingsError, match=r"btm\+linear"):
        load_settings(method="btm", changes="slots.path=linear")
    assert load_settings(method="btm+linear").slots.path == "linear"


def test_paper_preset_is_the_papers_numbers():
    got = load_settings("paper", "paper")
    assert got == Settings(
        match=got.match, evaluation=got.evaluation
    )  # the defaults of the settings are the paper's; the rest is spelled out below
    assert got.slots == Slots(path="bezier", experts="sgd", gradient="first_order", labels="hard", gate=0, average=0)
    assert (got.start, got.expert.count, got.expert.epochs, got.expert.length) == ("real", 50, 100, "fixed")
    assert (got.expert.learning_rate, got.expert.momentum, got.expert.batch_size) == (0.02, 0.9, 256)
    assert (got.curve.steps, got.curve.learning_rate, got.curve.times, got.curve.momentum) == (300, 0.01, 2, 0)
    match = got.match
    assert (match.iterations, match.student_steps, match.student_lr, match.student_momentum) == (40_000, 30, 0.01, 0)
    assert (match.data_lr, match.data_momentum, match.lr_lr, match.lr_momentum) == (100, 0.9, 1e-4, 0.5)
    assert match.segment.length == 0.2
    evaluation = got.evaluation
    assert (evaluation.search_epochs, evaluation.final_epochs, evaluation.final_networks) == (50, 100, 10)


def test_later_changes_win(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("[match]\niterations = 7\nstudent_steps = 8\n")
    got = load_settings(changes=(file, "match.student_steps=9", "network.hidden=[8, 4]", {"start": "noise"}))
    assert (got.match.iterations, got.match.student_steps, got.network.hidden, got.start) == (7, 9, (8, 4), "noise")


@pytest.mark.parametrize(
    ("override", "hint"),
    [
        ("match.student_step=3", "student_steps"),
        ("matching.steps=3", "match"),
        ("match.student_steps=0", "at least 1"),
        ("match.student_steps=2.5", "int"),
        ("match.data_lr=-1", "at least 0"),
        ("match.data_lr=inf", "finite"),
        ("match.data_lr=1e99", "at most 1e"),
        ("match.student_steps=99999999999", "at most"),
        ("match.student_steps=" + "[" * 5000, "int"),
        (".".join(["a"] * 30_000) + "=1", "unknown setting 'a'"),
        ("match.data_lr=fast", "float"),
        ("match.learn_student_lr=1", "bool"),
        ("match=3", "section"),
        ("match.optimiser=lion", "sgd, adam"),
        ("start=gauss", "gaussian"),
        ("network.hidden=[0]", "at least 1"),
        ("nonsense", "section.name=value"),
    ],
)
def test_impossible_settings_are_errors_that_help(override, hint):
    with pytest.raises(SettingsError, match=hint) as error:
        load_settings(changes=(override,))
    assert "\n" not in str(error.value)


def test_settings_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError):
        load_settings(changes=tmp_path / "none.toml")
    for content in (b"this is = not = toml", b"a = " + b"[" * 100_000, b"a = '\xff'", b"#" * 2**23):
        (tmp_path / "bad.toml").write_bytes(content)
        with pytest.raises(FileError, match="not TOML"):
            load_settings(changes=tmp_path / "bad.toml")


def test_unknown_preset_or_budget():
    for words in (("defaults", "cpu"), ("default", "gpu")):
        with pytest.raises(AliquotError, match="known"):
            load_settings(*words)


def test_series_have_settings_of_their_own_but_the_paper_at_its_own_budget_has_none():
    table, series = load_settings(method="btm"), load_settings(method="btm", series=True)
    assert series.match.iterations < table.match.iterations
    assert series.expert.pilots == series.expert.count
    assert series.slots.labels == "learned"
    assert (series.match.segment.kind, table.match.segment.kind) == ("end", "fixed")
    assert series.match.student_lr == series.evaluation.learning_rate  # as the rows will be used
    assert table.slots.labels == "hard"
    assert load_settings("paper", "paper", series=True) == load_settings("paper", "paper")
    assert load_settings(series=True, budget="smoke").match.iterations < series.match.iterations
    assert load_settings(series=True, changes=("match.iterations=7",)).match.iterations == 7


def test_experts_of_a_tcn_may_be_small_and_all_else_is_as_it_was():
    def parameters(settings, shape):
        return [network.n_parameters for network in settings.network.build(shape, 2)]

    wide, narrow = parameters(load_settings(series=True), (48, 60))
    assert wide == 254_785
    assert narrow < wide / 6
    assert load_settings(series=True, method="m3d").network.matched == "same"  # these only look at features
    lstm = load_settings(series=True, changes=("network.kind=lstm-1",))
    for settings, shape in (
        (load_settings(), (27,)),
        (lstm, (48, 60)),
        (load_settings("paper-mimic3", series=True), (48, 60)),
    ):
        same = parameters(settings, shape)
        assert same[0] == same[1]


def test_a_start_and_a_network_by_name_are_changes():
    changes = with_choices({"network": {"hidden": [8]}}, start="kmeans", network="mlp-2")
    assert changes == {"network": {"hidden": [8], "kind": "mlp-2"}, "start": "kmeans"}
    assert with_choices(network=lambda shape, outputs, key: None) == {}
