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


def group(code, column):  # what a code without a feature of its own counts as: its prefix, its chapter
    text = code.strip().upper()
    whole, _, rest = text.rstrip("-").partition(".")
    short = column["padded"] and whole.isdigit() and not text.endswith("-")
    key = (whole.zfill(3) if short else whole) + rest.replace(".", "")
    found = [(len(prefix), name) for prefix, name in column["parents"] if key.startswith(prefix)]
    found = found or [(0, name) for name, low, high in column["chapters"] if low <= key[:3] <= high]
    return max(found)[1] if found else "(rare)"


def number_of(cells, words, column, patients):
    if column["kind"] == "ordinal":
        return words.str.strip().map({level: float(place) for place, level in enumerate(column["levels"])})
    if column.get("days_from") and not pd.api.types.is_numeric_dtype(cells):
        first = column.get("day_first", False)
        end, start = (pd.to_datetime(one, dayfirst=first) for one in (cells, patients[column["days_from"]]))
        return ((end - start) / pd.Timedelta(days=1)).round(3)
    if not pd.api.types.is_numeric_dtype(cells):  # numbers as text, perhaps <0.2 or 36,5
        cells = words.mask(cells.isna()).str.replace(r"^\\s*[<>≤≥]=?\\s*", "", regex=True).str.replace(",", ".")
    return pd.to_numeric(cells).astype(float)


def encode_columns(patients, columns):
    features = {}
    for column in columns:
        name, cells = column["name"], patients[column["name"]]
        words = cells.astype(object).map(spell)
        cells = cells.mask(words.isin([spell(mark) for mark in column.get("gap_values", [])]))
        empty = cells.isna()
        if column["kind"] in ("categorical", "code"):
            names = [*column["levels"], *(one[1] for one in column.get("parents", []))]
            names += [one[0] for one in column.get("chapters", [])]
            level = words.where(words.isin(names), "(rare)")
            if column["kind"] == "code":
                level = level.where(level != "(rare)", words.map(lambda word: group(word, column)))
            level = level.mask(empty, "(missing)" if column["missing"] else "(rare)")
            for known in [*names, "(rare)"] + ["(missing)"] * column["missing"]:
                features[f"{name}={known}"] = level == known
            continue
        if column["kind"] == "boolean":
            yes = words.str.strip().str.lower().isin(["yes", "y", "true", "t", "1"])
            features[name] = yes.mask(empty, column["mode"])
        else:
            number = number_of(cells, words, column, patients)
            number = number.clip(column["low"], column["high"]).fillna(column["median"])
            number = np.sign(number) * np.log1p(number.abs()) if column["log"] else number
            score = (number - column["centre"]) / column["scale"]
            features[name] = score.clip(-column["clip"], column["clip"]) if column["clip"] else score
        if column["missing"]:
            features[f"{name}=(missing)"] = empty
        for flag, signs in {"below": ("<", "≤"), "above": (">", "≥")}.items():
            if flag in column:
                features[f"{name}=({flag})"] = words.str.strip().str.startswith(signs) & ~empty
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
