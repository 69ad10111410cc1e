"""Programs that card and report print for readers without Aliquot; the tests run them as printed."""

TRAIN_PROGRAM = """\
import tomllib, warnings, numpy as np, pandas as pd
from sklearn.neural_network import MLPClassifier

with open("recipe.toml", "rb") as file:
    recipe = tomllib.load(file)
rows, how, labels = pd.read_parquet("rows.parquet"), recipe["training"], recipe["labels"]
x = rows.iloc[:, : recipe["network"]["inputs"]].to_numpy()  # the features come first
y = rows[labels["target"]].map(labels["classes"].index)
weight = rows[labels["weight"]].to_numpy() if "weight" in labels else np.ones(len(rows))
batches = how.get("steps", how["epochs"]) // how["epochs"]  # in an epoch
model = MLPClassifier(
    recipe["network"].get("hidden", [64]), solver="sgd", nesterovs_momentum=False, random_state=0,
    learning_rate_init=how["learning_rate"], momentum=how["momentum"], max_iter=how["epochs"],
    batch_size=-(-len(x) // batches), alpha=how.get("weight_decay", 0) * weight.sum() / batches,
    n_iter_no_change=how["epochs"] + 1)
with warnings.catch_warnings(action="ignore"):  # that training could go on
    model.fit(x, y, sample_weight=weight)
scale, offset = recipe["calibration"].get("logit_scale", 1), recipe["calibration"]["logit_offset"]
z = np.log(model.predict_proba(x).clip(1e-12)) * scale  # x: encoded patients
p = np.exp(z + (offset if isinstance(offset, list) else [0, offset]))
p /= p.sum(axis=1, keepdims=True)  # one column per class of recipe.toml
print(p[:5].round(3))
"""

_COLUMNS = """\
import json
from pathlib import Path

import numpy as np
import pandas as pd

encoder = json.loads(Path("encoder.json").read_text("utf-8"))


def spell(cell):
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def encode_columns(patients, columns):
    features = {}
    for column in columns:
        name, cells = column["name"], patients[column["name"]]
        empty, words = cells.isna(), cells.astype(object).map(spell)
        if column["kind"] == "categorical":
            level = words.where(words.isin(column["levels"]) & ~empty, "(rare)")
            level = level.mask(empty, "(missing)") if column["missing"] else level
            for known in [*column["levels"], "(rare)"] + ["(missing)"] * column["missing"]:
                features[f"{name}={known}"] = level == known
            continue
        if column["kind"] == "boolean":
            yes = words.str.strip().str.lower().isin(["yes", "y", "true", "t", "1"])
            features[name] = yes.mask(empty, column["mode"])
        else:
            number = pd.to_numeric(cells).astype(float).clip(column["low"], column["high"])
            number = number.fillna(column["median"])
            number = np.sign(number) * np.log1p(number.abs()) if column["log"] else number
            score = (number - column["centre"]) / column["scale"]
            features[name] = score.clip(-column["clip"], column["clip"]) if column["clip"] else score
        if column["missing"]:
            features[f"{name}=(missing)"] = empty
    return pd.DataFrame(features, index=patients.index).astype("float32")
"""

ENCODE_PROGRAM = f"""\
{_COLUMNS}

def encode(patients):
    return encode_columns(patients, encoder["columns"])[encoder["features"]]
"""

ENCODE_SERIES_PROGRAM = f"""\
{_COLUMNS}

def encode(values, static):  # (stays, steps, channels in the order of encoder.json), NaN where not measured;
    # and a table of what does not change, with the columns that "static" lists there
    measured, filled = np.isfinite(values), values.copy()
    for step in range(1, values.shape[1]):
        filled[:, step] = np.where(measured[:, step], values[:, step], filled[:, step - 1])
    parts = []
    for number, channel in enumerate(encoder["channels"]):
        cells = pd.DataFrame({{channel["name"]: filled[:, :, number].ravel()}})
        parts.append(encode_columns(cells, [channel]).to_numpy().reshape(*values.shape[:2], -1))
    parts.append(measured[:, :, np.flatnonzero(encoder["gaps"])])
    fixed = encode_columns(static, encoder["static"]).to_numpy()
    parts.append(np.repeat(fixed[:, None], values.shape[1], axis=1))
    return np.concatenate(parts, axis=2).astype("float32")  # (stays, steps, features); flatten for rows.parquet
"""
