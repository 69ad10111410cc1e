import dataclasses
import json
import runpy

import markdown_it
import numpy as np
import pandas as pd
import pytest

from aliquot.cohort import Column, Encoder, Schema
from aliquot.methods import REAL_STARTS
from aliquot.registry import STARTS
from aliquot.release.card import card
from aliquot.release.report import report
from aliquot.release.report.facts import origin
from aliquot.release.report.snippets import ENCODE_PROGRAM, TRAIN_PROGRAM

FORBIDDEN = ("anonym", "de-identif", "deidentif", "safe to", "private", "gdpr", "hipaa", "compliant")


def as_html(text: str) -> str:
    return markdown_it.MarkdownIt("commonmark").enable("table").render(text.split("---\n", 2)[2])


@pytest.fixture
def run_in(folder, monkeypatch):
    """Runs a program, as the card prints it, in the folder of the release."""

    def run(result, program):
        where = folder(result)
        assert f"```python\n{program}```" in (where / "card.md").read_text("utf-8")
        (where / "program.py").write_text(program, "utf-8")
        monkeypatch.chdir(where)
        return runpy.run_path("program.py")

    return run


def test_training_program_runs_as_printed(result, run_in, capsys):
    names = run_in(result, TRAIN_PROGRAM)
    assert names["p"].shape == (len(result.rows), len(result.classes))
    assert names["model"].n_iter_ == result.recipe["training"]["epochs"]
    assert capsys.readouterr().out


def test_training_program_corrects_the_log_odds(two_classes, run_in):
    names, recipe = run_in(two_classes, TRAIN_PROGRAM), two_classes.recipe["calibration"]
    after, before = (np.log(p[:, 1] / p[:, 0]) for p in (names["p"], names["model"].predict_proba(two_classes.x)))
    assert np.allclose(after, recipe["logit_scale"] * before + recipe["logit_offset"], atol=1e-3)


def test_training_program_takes_as_many_steps_as_the_recipe(soft, run_in):
    """Lines are more than rows; the batches of an epoch are not."""
    training = soft.recipe["training"] | {"batch_size": 15, "steps": 90}
    model = run_in(dataclasses.replace(soft, recipe=soft.recipe | {"training": training}), TRAIN_PROGRAM)["model"]
    assert model.t_ == 30 * len(soft.rows)
    assert -(-len(soft.rows) // model.batch_size) == 3


def test_training_program_trains_on_releases_of_0_1(two_classes, run_in):
    recipe = json.loads(json.dumps(two_classes.recipe))
    del recipe["training"]["steps"], recipe["calibration"]["logit_scale"]
    names = run_in(dataclasses.replace(two_classes, recipe=recipe), TRAIN_PROGRAM)
    assert np.isfinite(names["p"]).all()


@pytest.mark.parametrize(
    ("scale", "offset", "words"),
    [
        (1.2, 0.5, ("differ more between patients", "raises every predicted probability of class 1")),
        (0.8, -0.5, ("differ less between patients", "lowers every predicted probability of class 1")),
    ],
)
def test_what_is_said_of_the_correction_agrees_with_its_numbers(scale, offset, words, two_classes):
    calibration = two_classes.recipe["calibration"] | {"logit_scale": scale, "logit_offset": offset}
    result = dataclasses.replace(two_classes, recipe=two_classes.recipe | {"calibration": calibration})
    for text in (card(result), report(result)):
        text = " ".join(text.split())
        assert all(part in text for part in words)
        assert f"{scale:.3f}" in text


def test_encoding_program_equals_the_encoder(result, run_in, patients):
    features = run_in(result, ENCODE_PROGRAM)["encode"](patients)
    assert tuple(features.columns) == result.encoder.feature_names
    assert np.array_equal(features.to_numpy(), result.encoder.transform(patients))


def test_encoding_program_equals_the_encoder_for_every_kind(tmp_path, monkeypatch):
    rng, n = np.random.default_rng(0), 200
    day = pd.Timestamp("2024-01-31")
    frame = pd.DataFrame(
        {
            "crp": np.where(rng.random(n) < 0.2, "<0,2", pd.Series(rng.gamma(2, 2, n).round(1)).astype(str)),
            "egfr": rng.choice(["> 90", "45", "60.5", ">=120", None], n),
            "temperature": np.where(rng.random(n) < 0.1, 99.9, rng.normal(37, 1, n).round(1)),
            "pain": rng.choice(["mild", "moderate", "severe"], n),
            "dx": rng.choice(["250", "250.02", "V45", "E888", "8", "401.9"], n, p=[0.5] + [0.1] * 5),
            "drug": rng.choice(["B01AC06", "B01AC04", "B01AB05", "C07AB07"], n, p=[0.88, 0.04, 0.04, 0.04]),
            "admitted": day.strftime("%d/%m/%Y"),
            "left": [(day + pd.Timedelta(days=int(stay))).strftime("%d/%m/%Y") for stay in rng.integers(0, 60, n)],
        }
    )
    schema = Schema(
        (
            *(Column(name=name, kind="numeric") for name in ("crp", "egfr")),
            Column(name="temperature", kind="numeric", gap_values=(99.9,)),
            Column(name="pain", kind="ordinal", levels=("mild", "moderate", "severe")),
            *(Column(name=name, kind="code") for name in ("dx", "drug")),
            Column(name="left", kind="date", days_from="admitted"),
        )
    )
    encoder = Encoder.fit(frame, schema)
    assert {"crp=(below)", "egfr=(above)", "egfr=(missing)", "dx=401.-", "dx=41-"} & {*encoder.feature_names}
    (tmp_path / "encoder.json").write_text(encoder.to_json(), "utf-8")
    (tmp_path / "program.py").write_text(ENCODE_PROGRAM, "utf-8")
    monkeypatch.chdir(tmp_path)
    features = runpy.run_path("program.py")["encode"](frame)
    assert tuple(features.columns) == encoder.feature_names
    assert np.array_equal(features.to_numpy(), encoder.transform(frame))


def test_front_matter(result):
    lines = card(result).split("---\n", 2)[1].splitlines()
    assert f'pretty_name: "Synthetic training set for {result.target}"' in lines
    for line in ("- tabular-classification", "- n<1K", "license: other"):
        assert line in lines


def test_every_number_has_spread_and_baseline(result):
    text = card(result)
    for words in ("0.706 ± 0.007 (10)", "0.613 ± 0.006 (10)", "0.708 ± 0.007 (10)", "99.7 %"):
        assert words in text


def test_claims_nothing_that_was_not_measured(result):
    text = card(result)
    assert "No formal privacy guarantee." in text
    assert "No audit was run." in text
    assert not [word for word in FORBIDDEN if word in text.lower()]


def test_real_rows_are_said_loudly(two_classes, change):
    started = card(change(two_classes, {"real_rows": True, "start": "real"}))
    selected = card(change(two_classes, {"method": "random", "real_rows": True, "tuning": {}}, history={}, curves=None))
    assert "> **THESE ROWS STARTED FROM REAL PATIENTS" in started
    assert "> **THESE ROWS ARE REAL PATIENTS" in selected
    assert "REAL PATIENTS" not in card(two_classes)


def test_small_counts_are_not_printed(two_classes, change):
    text = card(change(two_classes, {"data.train": [1004, 7], "data.held_out": [215, 3]}))
    assert "at least 1,004 training patients" in text
    assert "has only \\<10 training patients" in text
    assert "| 1 | 20 | \\<10 | 84 | \\<10 |" in text
    assert "1,011" not in text
    assert "218" not in text


def test_names_are_escaped(hostile):
    html = as_html(card(hostile))
    assert "&lt;b&gt;x&lt;/b&gt;" in html
    for mark in ("<b>", "<img", "</script>"):
        assert mark not in html


def test_deterministic(result):
    assert card(result) == card(result)


def test_lenient_about_what_a_run_lacks(two_classes, change):
    bare = change(two_classes, {"tuning": {}, "transfer": {}, "seconds": {}}, history={}, curves=None)
    assert "No other kind of model was tried." in card(bare)


def test_the_card_says_how_rows_began_for_every_start_and_whether_they_moved(two_classes, change):
    said = {}
    for start in set(STARTS) - set(REAL_STARTS):
        result = change(two_classes, {"start": start})
        said[start] = origin(result)
        assert said[start] in " ".join(card(result).split())
    assert len(set(said.values())) == len(said)
    assert "normal distribution" not in said["spread"]
    still = change(two_classes, {"tuning.best_iteration": 0})
    assert origin(still).endswith("the rows are as they began.")


def test_has_the_sections_that_people_expect(result):
    headings = [line.removeprefix("## ") for line in card(result).splitlines() if line.startswith("## ")]
    expected = [
        "Uses",
        "Out of scope",
        "How the rows were made",
        "Structure",
        "What could leak",
        "Known failures",
        "Licence of the source",
        "Citation",
    ]
    assert [heading for heading in headings if heading in expected] == expected


def test_states_the_licence_of_the_source_where_it_is_known(two_classes, change):
    assert "Aliquot does not know it" in card(two_classes)
    known = change(two_classes, {"data.licence": "Ward register; agreement 7"})
    assert "as Aliquot was told: Ward register; agreement 7." in card(known)
    assert "does not know it" not in card(known)


def test_says_that_rows_csv_holds_no_patients_and_is_guarded(two_classes, change):
    text = " ".join(card(two_classes).split())
    assert "`rows.csv` are not patients" in text
    assert "may be implausible or impossible" in text
    assert "apostrophe" in text
    selected = change(two_classes, {"method": "random", "real_rows": True, "tuning": {}}, history={}, curves=None)
    assert "are not patients" not in card(selected)


def test_kinds_of_model_that_gain_nothing_are_a_known_failure(two_classes, change):
    assert "did no better" not in card(two_classes)
    weak = change(two_classes, {"transfer.gradient boosting.aliquot.auprc": 0.5})
    assert "gradient boosting did no better than on random real rows" in card(weak)


def test_tables_stand_alone(result):
    """A table right below a sentence would be part of it."""
    lines = card(result).splitlines()
    assert all(lines[number - 1] == "" for number, line in enumerate(lines) if is_head(lines, number, line))


def is_head(lines, number, line):
    return line.startswith("| ") and number + 1 < len(lines) and lines[number + 1].startswith("|---")
