"""Which cells each study asks for, and that studies share them."""

from collections import Counter
from functools import cache

import pytest

from aliquot.errors import FileError, SettingsError
from aliquot.paper import ALL_STUDIES, STUDIES
from aliquot.paper.cohorts import PAPER_COHORTS, SIMULATION, cohort_source
from aliquot.paper.reproduce import Reproduction, chosen_lines
from aliquot.paper.study import BUDGET_SCALES, METHOD_ORDER, OUR_BTM, OUR_RECIPE, OURS, Plan
from aliquot.presets import BUDGETS, PRESETS


@cache
def lines(name, budget="paper", seeds=1):
    return STUDIES[name].lines(Plan(budget, tuple(range(seeds))))


def rows(name, budget="paper"):
    return [line for line in lines(name, budget) if line.rows is not None]


@pytest.mark.parametrize(
    ("name", "cohorts"), [("table-curial", ("ouh", "puh", "uhb")), ("table-icu", ("eicu", "mimic3"))]
)
def test_the_tables_are_cohorts_times_methods_times_sizes(name, cohorts):
    asked = [line for line in rows(name) if line.method not in OURS]
    assert {(line.cohort, line.method, line.rows) for line in asked} == {
        (cohort, method, size)
        for cohort in cohorts
        for method in ("random", "m3d", "mtt", "tesla", "ftd", "datm", "btm")
        for size in (50, 100, 200, 500)
    }
    assert len(asked) == len(cohorts) * 7 * 4
    assert all(line.cell.request.preset == f"paper-{line.cohort}" for line in asked)
    ours = {(line.cohort, line.method, line.cell.request.method) for line in rows(name) if line.method in OURS}
    assert ours == {(cohort, name, OURS[name]) for cohort in cohorts for name in OURS} - {("mimic3", OUR_RECIPE, "bfm")}
    assert {line.cell.request.preset for line in rows(name) if line.method in OURS} == {"default"}
    assert Counter(line.cohort for line in lines(name) if line.method == "full") == dict.fromkeys(cohorts, 1)


def test_seeds_multiply_every_cell():
    one, three = (Counter(line.cell.request.seed for line in lines("table-curial", seeds=n)) for n in (1, 3))
    assert three == dict.fromkeys(range(3), one[0])


def test_the_paper_is_literal_at_its_own_budget():
    for line in rows("table-curial") + rows("table-icu"):
        settings = line.cell.request.settings
        if line.method in ("btm", "mtt", "tesla", "ftd", "datm"):
            every = 20 if line.method == "ftd" else 10  # FTD shows two candidates, the rows and their average
            assert (settings.match.iterations, settings.match.judge_every) == (40_000, every)
            assert settings.match.student_steps == (30 if line.method == "btm" else 80)
        if line.method not in OURS:
            assert settings.expert.count == 50
        assert settings.evaluation.final_networks == 10


def test_other_networks_are_those_of_the_paper():
    found = {line.cohort: set(line.cell.networks) for line in lines("cross-architecture")}
    assert found == {
        "eicu": {"mlp-1", "mlp-2", "mlp-3", "mlp-4"},
        "mimic3": {"tcn-1", "tcn-2", "lstm-1", "lstm-2"},
    }
    assert {line.rows for line in lines("cross-architecture")} == {500}


def test_starts_and_student_steps():
    starts = {(line.cell.request.settings.start, line.rows) for line in rows("initialisation")}
    assert starts == {(start, size) for start in ("real", "gaussian") for size in (50, 100, 200, 500)}
    swept = {(line.method, line.cell.request.settings.match.student_steps) for line in rows("inner-loop")}
    assert swept == {(method, steps) for method in ("btm", "mtt", "tesla") for steps in (10, 20, 30, 40, 60, 80)}
    assert {line.rows for line in rows("inner-loop")} == {200}


@pytest.mark.parametrize("name", ["storage", "theorem"])
def test_experts_and_curves_of_every_cohort(name):
    asked = lines(name)
    assert {line.cohort for line in asked} == set(PAPER_COHORTS)
    assert {line.cell.kind for line in asked} == {"geometry"}
    assert {line.method for line in asked} == ({"btm"} if name == "storage" else {"btm", OUR_BTM})


def cells(name, budget):
    return {(line.cohort, line.cell.kind, line.cell.networks, line.cell.request): line for line in lines(name, budget)}


@pytest.mark.parametrize("budget", BUDGETS)
def test_studies_share_cells(budget):
    table = cells("table-icu", budget)
    transferred = cells("cross-architecture", budget)
    assert transferred.keys() <= table.keys()
    starts = {same: line for same, line in cells("initialisation", budget).items() if line.rows is not None}
    real = {same for same, line in starts.items() if line.cell.label == "real start"}
    assert real <= table.keys()
    assert not (starts.keys() - real) & table.keys()
    size = BUDGET_SCALES[budget].steps_size
    own = {same for same, line in table.items() if line.cohort == "eicu" and line.rows == size}
    papers = [same for same in cells("inner-loop", budget) if same in own]
    assert sorted(table[same].method for same in papers) == ["btm", "mtt", "tesla"]
    followed = cells("figure-1", budget)
    assert sum(same in table for same in followed) == 2  # BTM with the paper's settings and with ours
    assert cells("storage", budget).keys() <= cells("theorem", budget).keys()
    theorem = cells("theorem", budget)
    assert sum(same in theorem for same in followed) == 2


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", STUDIES)
def test_every_line_names_a_preset_and_a_method(name, budget):
    asked = lines(name, budget)
    assert asked
    for line in asked:
        assert line.cell.request.preset in PRESETS
        assert line.cell.request.budget == budget
        assert line.cell.request.chosen
        assert line.method in (*METHOD_ORDER, *OURS, "full")


def test_a_smoke_test_is_small():
    sizes = {line.rows for name in STUDIES for line in rows(name, "smoke")}
    assert max(sizes) <= 10
    assert BUDGET_SCALES["smoke"].fractions.keys() == set(PAPER_COHORTS)
    assert {one.cell.request.settings.evaluation.final_networks for one in rows("table-curial", "smoke")} == {2}


@pytest.mark.parametrize("name", PAPER_COHORTS)
def test_a_smoke_test_has_patients_of_each_class_in_every_part(name):
    """70 % train: more than the rows that are asked for; 15 % tuning and held_out: at least two."""
    scale = BUDGET_SCALES["smoke"]
    cohort = cohort_source(name, SIMULATION, scale.fractions[name]).read()
    rarest = cohort.n * min(cohort.prevalence)
    assert 0.7 * rarest > max(scale.sizes_of(name))
    assert 0.15 * rarest > 2


def test_only_chooses_by_cohort_method_and_rows():
    def left(*only, name="table-curial"):
        found = Reproduction(name=name, budget="paper", only=only).lines()
        return {(line.cohort, line.method, line.rows) for part in found.values() for line in part}

    assert {rows for _, _, rows in left("50")} == {50, None}
    assert {method for _, method, _ in left("btm", "mtt")} == {"btm", "mtt", "full"}
    assert left("ouh", "btm", "100") == {("ouh", "btm", 100), ("ouh", "full", None)}
    assert left("ours", "ouh", "puh", "500") == {
        *((site, "ours", 500) for site in ("ouh", "puh")),
        *((site, "full", None) for site in ("ouh", "puh")),
    }
    assert {cohort for cohort, _, _ in left("uhb", name="theorem")} == {"uhb"}


def test_studies_without_such_lines_are_left_out_of_all():
    assert set(Reproduction(name=ALL_STUDIES, budget="paper", only=("puh",)).lines()) == {
        "table-curial",
        "storage",
        "theorem",
    }
    assert "inner-loop" not in Reproduction(name=ALL_STUDIES, budget="paper", only=("100",)).lines()
    assert list(Reproduction(name=ALL_STUDIES, budget="paper").lines()) == list(STUDIES)


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ({"name": "table-curia"}, "did you mean 'table-curial'"),
        ({"name": "theorem", "budget": "cpus"}, "did you mean 'cpu'"),
        ({"name": "table-curial", "only": ("eicu",)}, "--only eicu; known here: cohort ouh, puh, uhb"),
        ({"name": "table-curial", "only": ("60",)}, "rows 50, 100, 200, 500"),
        ({"name": ALL_STUDIES, "only": ("ouh", "mtt", "60", "btn")}, "--only 60"),
    ],
)
def test_mistakes_name_what_is_known(asked, hint):
    with pytest.raises(SettingsError) as mistake:
        Reproduction(**asked).lines()
    assert hint in str(mistake.value)


def test_nothing_is_left_only_where_each_word_is_known():
    with pytest.raises(SettingsError, match="no study has lines of all"):
        chosen_lines({"theorem": lines("theorem"), "table-curial": lines("table-curial")}, ("mimic3", "mtt"))


def test_real_files_are_looked_for_where_they_are_said_to_be(tmp_path):
    with pytest.raises(FileError, match="no curial/OUH in it"):
        cohort_source("ouh", str(tmp_path))
    (tmp_path / "mimic3").mkdir()
    source = cohort_source("mimic3", str(tmp_path))
    assert (source.cohort, source.read_options) == ("mimic3", (("balance", "under"),))
    assert source.file == str(tmp_path / "mimic3")
