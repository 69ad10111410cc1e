"""Condensations made by hand: real encoder, random rows, invented numbers."""

import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest
import tomli_w

from aliquot.cohort import Cohort, Encoder, EncoderSettings, encode_parts
from aliquot.cohort.codes import NumberCode
from aliquot.cohort.embedded import TARGET, support2_frame
from aliquot.curves import Geometry
from aliquot.evaluate.copying import nearest_distances
from aliquot.evaluate.distributions import column_distributions, outside_range
from aliquot.evaluate.other_models import MODELS
from aliquot.evaluate.ranking_curves import ranking_curves
from aliquot.evaluate.results import Results
from aliquot.evaluate.subgroups import held_out_groups, subgroup_scores
from aliquot.release.card import card
from aliquot.release.condensation import Condensation
from aliquot.release.croissant import croissant
from aliquot.release.report.sections.learning import learning_of
from aliquot.release.report.sections.paths import paths_of

ROWS_PER_CLASS = 20


def _scores(auroc: float, auprc: float) -> dict:
    means = {"auroc": auroc, "auprc": auprc, "log_loss": 0.51, "brier": 0.17, "calibration_slope": 0.82}
    return {name: {"mean": mean, "std": 0.01 * mean, "n": 10} for name, mean in means.items()}


def _metrics(encoder: Encoder, cohort: Cohort) -> dict:
    counts = np.bincount(cohort.labels)
    predicted = np.linspace(0.05, 0.95, 10)
    return {
        "method": "btm",
        "rows_per_class": ROWS_PER_CLASS,
        "seed": 0,
        "preset": "default",
        "budget": "cpu",
        "start": "gaussian",
        "real_rows": False,
        "versions": {"aliquot": "0.1.0", "jax": "0.8.1", "python": "3.11.9"},
        "data": {
            "patients": int(counts.sum()),
            "features": len(encoder.feature_names),
            "columns": len(encoder.columns),
            "classes": [str(name) for name in cohort.classes],
            "prevalence": list(cohort.prevalence),
            "train": [int(count) * 7 // 10 for count in counts],
            "tuning": [int(count) * 15 // 100 for count in counts],
            "held_out": [int(count) * 15 // 100 for count in counts],
        },
        "held_out": {
            "aliquot": _scores(0.842, 0.706),
            "random": _scores(0.781, 0.613),
            "full": _scores(0.839, 0.689),
            "full_best_epoch": _scores(0.846, 0.708),
        },
        "calibration": {
            "scale": 1.25,
            "offset": -0.93 if cohort.n_classes == 2 else [0.0] + [-0.4] * (cohort.n_classes - 1),
            "before": _scores(0.842, 0.706),
            "after": _scores(0.842, 0.706),
            "reliability": {
                "before": [{"predicted": float(p), "observed": float(p**2)} for p in predicted],
                "after": [{"predicted": float(p), "observed": float(p**1.05)} for p in predicted],
            },
        },
        "transfer": {
            model: {
                "aliquot": {"auroc": 0.83, "auprc": 0.69},
                "random": {"auroc": 0.77, "auprc": 0.6},
                **({} if model == "k nearest neighbours" else {"expanded": {"auroc": 0.838, "auprc": 0.695}}),
                "full": {"auroc": 0.845, "auprc": 0.7},
            }
            for model in MODELS
        },
        "transfer_patients": 20_000,
        "transfer_records": 20_000,
        "tuning": {
            "best_iteration": 1650,
            "iterations": 2000,
            "skipped": 0,
            "full_best_epoch": 14,
            "expert_epochs": 14,
        },
        "seconds": {"experts": 3.2, "curves": 11.4, "matching": 95.8, "evaluation": 8.1},
        "storage_bytes": {"curves": 1_100_000, "trajectories_if_dense": 5_500_000},
    }


def _recipe(encoder: Encoder, cohort: Cohort, offset: object) -> dict:
    return {
        "network": {
            "kind": "mlp",
            "inputs": len(encoder.feature_names),
            "hidden": [16],
            "dropout": 0.25,
            "outputs": 1 if cohort.n_classes == 2 else cohort.n_classes,
        },
        "training": {
            "optimiser": "sgd",
            "learning_rate": 0.05,
            "momentum": 0.9,
            "batch_size": 256,
            "epochs": 30,
            "steps": 30,
        },
        "labels": {"target": cohort.target, "classes": list(cohort.classes), "kind": "hard"},
        "calibration": {"prevalence": list(cohort.prevalence), "logit_scale": 1.25, "logit_offset": offset},
    }


def _history(rng: np.random.Generator) -> dict[str, np.ndarray]:
    judged_at = np.arange(50, 2001, 50)
    return {
        "loss": 0.55 + 0.4 * np.exp(-np.arange(2000) / 400) + 0.05 * rng.standard_normal(2000),
        "judged_at": judged_at,
        "tuning": 0.7
        - 0.1 * ((judged_at - 1650) / 1600) ** 2
        - 0.02 * np.sin(judged_at / 100) ** 2 * (judged_at != 1650),
        "tuning_std": np.full(len(judged_at), 0.006),
    }


def _curves(rng: np.random.Generator) -> dict[str, np.ndarray]:
    times = np.linspace(0, 1, 21)
    noise = 0.01 * rng.standard_normal((5, 21))
    return {
        "times": times,
        "loss_sgd": 0.4 + 0.3 * np.exp(-8 * times) + noise,
        "loss_line": 0.7 - 0.3 * times**2 + noise,
        "loss_curve": 0.4 + 0.3 * (1 - times) ** 3 + noise,
        "plane_sgd": np.stack([np.stack([times, np.sin(np.pi * times)], axis=1)] * 5),
        "plane_line": np.stack([np.stack([times, 0 * times], axis=1)] * 5),
        "plane_curve": np.stack([np.stack([times, times * (1 - times)], axis=1)] * 5),
        "plane_share": np.full(5, 0.94),
        "epochs": 20,
        **dict.fromkeys(("bend", "curvature"), np.ones(5)),
        **dict.fromkeys(("distance", "prediction_gap"), np.ones((5, 21))),
    }


def _shown(cohort: Cohort, encoder: Encoder, x: np.ndarray, rng: np.random.Generator) -> dict:
    """What a run measures beyond scores, of networks that guess."""
    groups = held_out_groups(encode_parts(cohort, seed=0, settings=EncoderSettings(), rows_per_class=5))
    held_out = cohort.take(np.arange(len(next(iter(groups.values())))))
    shape = (3, held_out.n) if cohort.n_classes == 2 else (3, held_out.n, cohort.n_classes)
    logits = {name: rng.normal(size=shape) for name in ("random", "aliquot", "full_best_epoch")}
    encoded = encoder.transform(cohort.frame)
    rows = encoder.inverse(x)
    numbers = [code for code in encoder.columns if isinstance(code, NumberCode)]
    weights, tables = np.full(len(x), 1 / len(x)), (cohort.frame, rows)
    compared = {name: one for name, one in logits.items() if name != "random"}
    scored = subgroup_scores(groups, held_out.labels, compared)
    return {
        "ranking": {name: ranking_curves(held_out.labels, one).to_json() for name, one in logits.items()},
        "subgroups": {column: [group.to_json() for group in found] for column, found in scored.items()},
        "features": [one.to_json() for one in column_distributions(*tables, weights, encoder.columns)],
        "outside_range": outside_range({c.name: rows[c.name].to_numpy(float) for c in numbers}, numbers).to_json(),
        "copying": nearest_distances(x, encoded[300:], encoded[:300], key=jax.random.key(0)).to_json(),
    }


def condensed(frame: pd.DataFrame, target: str, subgroups: tuple[str, ...] = ("sex", "race")) -> Condensation:
    """What condensing the patients could have given."""
    rng = np.random.default_rng(0)
    cohort = Cohort.from_frame(frame, target=target, subgroups=subgroups)
    encoder = Encoder.fit(cohort.frame, cohort.schema)
    metrics = _metrics(encoder, cohort)
    codes = np.repeat(np.arange(cohort.n_classes), ROWS_PER_CLASS)
    x = rng.standard_normal((len(codes), len(encoder.feature_names))).astype(np.float32)
    history, curves = _history(rng), _curves(rng)
    settings = {"start": "gaussian", "network": {"hidden": [16], "dropout": 0.25}, "match": {"data_lr": 0.01}}
    metrics |= {
        **_shown(cohort, encoder, x, rng),
        "learning": learning_of(history).to_json(),
        "paths": paths_of(Geometry(**curves)).to_json(),
        "settings": settings,
    }
    return Condensation(
        x=x,
        targets=codes.astype(np.float32) if cohort.n_classes == 2 else np.eye(cohort.n_classes)[codes],
        target=target,
        classes=cohort.classes,
        encoder=encoder,
        recipe=_recipe(encoder, cohort, metrics["calibration"]["offset"]),
        results=Results.from_json(metrics),
        settings=settings,
        history=history,
        curves=curves,
        notes=("left out 'unit': the same value in every row",),
    )


@pytest.fixture(scope="session")
def patients() -> pd.DataFrame:
    return support2_frame().head(2000)


@pytest.fixture(scope="session")
def two_classes(patients) -> Condensation:
    return condensed(patients, TARGET)


@pytest.fixture(scope="session")
def three_classes(patients) -> Condensation:
    outcome = np.where(patients[TARGET] == 1, "died", np.resize(["home", "ward"], len(patients)))
    return condensed(patients.drop(columns=TARGET).assign(outcome=outcome), "outcome")


@pytest.fixture(scope="session")
def soft(two_classes) -> Condensation:
    """Two classes with learned labels; one of them is so likely that the other takes no line."""
    recipe = two_classes.recipe | {"labels": two_classes.recipe["labels"] | {"kind": "soft", "weight": "weight"}}
    targets = 0.1 + 0.8 * two_classes.targets
    targets[0] = 0.9999
    return dataclasses.replace(two_classes, targets=targets.astype(np.float32), recipe=recipe)


@pytest.fixture(scope="session", params=["two_classes", "three_classes", "soft"])
def result(request) -> Condensation:
    """Two classes, three classes, and two classes with learned labels."""
    if request.param != "soft":
        return request.getfixturevalue(request.param)
    return request.getfixturevalue("soft")


@pytest.fixture(scope="session")
def hostile(patients) -> Condensation:
    """Names, levels and notes that would be mark-up if they were not escaped."""
    race = patients["race"].cat.rename_categories({"white": "</script><b>white</b>", "black": "$<img src=x>&amp;"})
    frame = patients.assign(race=race).rename(
        columns={TARGET: "<b>x</b>", "age_years": "<img src=x>|`age`$", "race": "race<img src=y onerror=alert(1)>"}
    )
    made = condensed(frame, "<b>x</b>", ("race<img src=y onerror=alert(1)>", "<img src=x>|`age`$"))
    return dataclasses.replace(made, notes=("left out '</script><b>note</b>'",))


@pytest.fixture(scope="session")
def change() -> Callable[..., Condensation]:
    """The condensation with some metrics changed, given as dotted names, and other fields replaced."""

    def changed(result: Condensation, metrics: dict[str, object], **fields) -> Condensation:
        values = result.metrics
        for name, value in metrics.items():
            *path, last = name.split(".")
            part = values
            for step in path:
                part = part[step]
            part[last] = value
        return dataclasses.replace(result, results=Results.from_json(values), **fields)

    return changed


@pytest.fixture
def folder(tmp_path) -> Callable[[Condensation], Path]:
    """Writes the files that a stranger needs to train, and their description, into a folder."""

    def write(result: Condensation) -> Path:
        result.table.to_parquet(tmp_path / "rows.parquet", index=False)
        (tmp_path / "encoder.json").write_text(result.encoder.to_json(), "utf-8")
        (tmp_path / "recipe.toml").write_text(tomli_w.dumps(result.recipe), "utf-8")
        (tmp_path / "card.md").write_text(card(result), "utf-8")
        sums = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(tmp_path.iterdir())}
        (tmp_path / "croissant.json").write_text(croissant(result, sums), "utf-8")
        return tmp_path

    return write
