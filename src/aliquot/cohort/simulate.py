"""Simulated cohorts in the shape of the paper's five: for tests, and for people without access to the records.

No patient's data went in: sizes and prevalence are the paper's (UHB's size and eICU's prevalence are inferred), units
and typical values are common knowledge, and how clearly the outcome shows was set by hand until the paper's network,
trained on all patients for as long as in the paper, scored about as there (``benchmarks/simulated.py`` checks it).
Relations between columns are simple and are not medical knowledge.

Every patient has a Gaussian vector with a few common factors, the first of them severity. Those with the outcome are
moved along one pattern: by ``strength``, in standard deviations of the best linear score, and a share ``florid`` of
them by ``FLORID`` more. The few that are easily seen raise AUPRC more than AUROC. Then each entry becomes a column.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtri

from aliquot.cohort.datasets import Dataset
from aliquot.cohort.options import Option
from aliquot.cohort.readers.curial import DEVICE, FEATURES
from aliquot.cohort.readers.mimic3 import CHANNELS, HOURS, SCALES, encode_grid, fill_grid
from aliquot.cohort.records import Records
from aliquot.errors import SettingsError, known_names

PREFIX = "simulated:"  # of their names among the known datasets
FLORID = 3.0  # standard deviations that a florid patient is moved further
SICKER = 0.3  # severity, as it decides what is measured, of a patient moved by 1
WORSENING = 0.5  # of a patient moved by 1 over 48 hours, along the pattern
FEWEST = 15  # patients with the outcome, of whom ten are left to train on


@dataclass(frozen=True)
class Shape:
    """Size of a simulated cohort, and how clearly the outcome shows in it."""

    title: str
    n: int
    positives: int
    target: str
    strength: float  # how far those with the outcome are moved along the pattern
    florid: float  # share of them that is moved by FLORID more


COHORTS = {
    "ouh": Shape("Oxford (CURIAL)", 161_955, 2_753, "simulated_covid19", 1.82, 0.27),
    "puh": Shape("Portsmouth (CURIAL)", 38_717, 2_005, "simulated_covid19", 1.86, 0.31),
    "uhb": Shape("Birmingham (CURIAL)", 98_750, 790, "simulated_covid19", 2.07, 0.13),
    "eicu": Shape("eICU", 49_305, 4_437, "simulated_death", 1.92, 0.0),
    "mimic3": Shape("MIMIC-III", 21_139, 2_797, "simulated_died_in_hospital", 1.36, 0.0),
}


def simulate(name: str, *, seed: int = 0, fraction: float = 1.0) -> Records:
    """A simulated cohort with the size, prevalence, columns and types of one of the paper's.

    ==========  =========  ==========  ==============================================================
    name        n          outcome     features
    ==========  =========  ==========  ==============================================================
    ouh         161,955    1.7 %       27 blood tests and vital signs, with gaps
    puh         38,717     5.2 %       the same
    uhb         98,750     0.8 %       the same
    eicu        49,305     9.0 %       402 columns of 0 and 1: intervals, levels, whether measured
    mimic3      21,139     13.2 %      48 hours × 60 columns as `read_mimic3` returns them
    ==========  =========  ==========  ==============================================================

    n of uhb is not known: it is chosen to give 0.8 % with 553 positive training patients. 9.0 % of eicu is inferred,
    the upper end of 0.8 to 9 % said of the unbalanced datasets. Gaps of the first three are more frequent in severe
    patients, and so are measurements of eicu and mimic3. ``fraction`` gives a smaller cohort of the same prevalence.

    Guarantees: the same name, seed and fraction give the same records; the number of patients with the outcome is
    exact; the target and the notes say that it is simulated.

    >>> records = simulate("puh", fraction=0.05)
    >>> records.frame.shape, int(records.labels.sum()), records.target
    ((1936, 27), 100, 'simulated_covid19')
    """
    if name not in COHORTS:
        raise SettingsError(f"asked for the simulated cohort {name!r}; {known_names(name, COHORTS)}")
    shape = COHORTS[name]
    least = math.ceil(1e4 * FEWEST / shape.positives) / 1e4
    if not least <= fraction <= 1:
        raise SettingsError(f"asked for a fraction of {fraction} of {name!r}; choose it from {least} to 1")
    rng = np.random.default_rng((seed, *name.encode()))
    n = round(shape.n * fraction)
    labels = np.zeros(n, np.int8)
    labels[rng.permutation(n)[: round(shape.positives * fraction)]] = 1
    moved = labels * (shape.strength + FLORID * (rng.random(n) < shape.florid))
    make: Callable[..., dict] = {"eicu": _flags, "mimic3": _stays}.get(name, _presentations)
    parts = make(rng, moved, name)
    ids = np.array([f"simulated-{name}-{number:06d}" for number in range(1, n + 1)])
    return Records(labels=labels, ids=ids, target=shape.target, notes=_notes(shape, fraction), **parts)


def _notes(shape: Shape, fraction: float) -> tuple[str, ...]:
    said = f"simulated patients in the shape of {shape.title}: no real person is among them, and no finding is real"
    part = f"simulated at a fraction of {fraction:g} of the {shape.n:,} patients"
    return (said,) if fraction == 1 else (said, part)


def _correlated(
    rng: np.random.Generator, n: int, loadings: np.ndarray, pattern: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries (n, columns) of variance 1, the severity (n,) behind them, and the pattern (columns,) as a direction.

    Along it, the best linear score of a patient moved by 1 is higher by 1 standard deviation.
    """
    own = np.sqrt(1 - (loadings**2).sum(axis=1))
    covariance = loadings @ loadings.T + np.diag(own**2)
    factors = rng.standard_normal((n, loadings.shape[1]))
    entries = factors @ loadings.T + rng.standard_normal((n, len(loadings))) * own
    return entries, factors[:, 0], pattern / math.sqrt(pattern @ np.linalg.solve(covariance, pattern))


# CURIAL: a column is a number with its median and spread: "log" of a skewed one, "gap" what is missing to 100 %.
# Then decimals, range, loadings on (severity, kidney, anaemia, liver, pressure), and what COVID-19 does to it.
_COLUMNS = {
    "ALBUMIN": ("plain", 38, 5, 0, (10, 60), (-0.5, -0.2, -0.3, -0.2, 0), -0.3),
    "ALK.PHOSPHATASE": ("log", 85, 0.4, 0, (10, 3000), (0.1, 0.1, 0, 0.7, 0), 0),
    "ALT": ("log", 21, 0.6, 0, (3, 5000), (0.1, 0, 0, 0.7, 0), 0.25),
    "BASOPHILS": ("log", 0.04, 0.6, 2, (0, 2), (0.1, 0, 0, 0, 0), -0.5),
    "BILIRUBIN": ("log", 9, 0.55, 0, (1, 600), (0.1, 0, -0.1, 0.6, 0), 0),
    "CREATININE": ("log", 80, 0.4, 0, (15, 2000), (0.1, 0.8, 0.1, 0, 0), 0),
    "CRP": ("log", 15, 1.4, 1, (0.2, 600), (0.75, 0, 0.1, 0.1, 0), 0.5),
    "EOSINOPHILS": ("log", 0.12, 0.9, 2, (0, 10), (-0.3, 0, 0, 0, 0), -0.9),
    "HAEMATOCRIT": ("plain", 0.40, 0.055, 3, (0.1, 0.7), (-0.1, -0.1, -0.92, 0, 0), 0),
    "HAEMOGLOBIN": ("plain", 131, 19, 0, (30, 230), (-0.1, -0.1, -0.92, 0, 0), 0),
    "LYMPHOCYTES": ("log", 1.5, 0.55, 2, (0.05, 50), (-0.35, 0, -0.1, 0, 0), -0.6),
    "MEAN CELL VOL.": ("plain", 90, 6, 1, (50, 130), (0, 0.1, -0.2, 0.2, 0), 0),
    "MONOCYTES": ("log", 0.65, 0.45, 2, (0.02, 10), (0.25, 0, 0, 0, 0), -0.3),
    "NEUTROPHILS": ("log", 5.6, 0.5, 2, (0.05, 80), (0.55, 0, 0, 0, 0), -0.4),
    "PLATELETS": ("log", 245, 0.35, 0, (5, 1500), (0.1, 0, 0.2, -0.1, 0), -0.4),
    "POTASSIUM": ("plain", 4.2, 0.5, 1, (2, 8), (0, 0.4, 0, 0, 0), 0),
    "SODIUM": ("plain", 138, 4, 0, (105, 170), (-0.3, 0, 0, 0, 0), -0.1),
    "UREA": ("log", 6, 0.5, 1, (0.8, 70), (0.15, 0.75, 0.1, 0, 0), 0),
    "Respiratory Rate": ("log", 18, 0.18, 0, (6, 60), (0.5, 0, 0, 0, 0), 0.5),
    "Heart Rate": ("plain", 85, 18, 0, (30, 220), (0.5, 0, 0.1, 0, -0.1), 0.1),
    "Systolic Blood Pressure": ("plain", 137, 23, 0, (50, 260), (-0.2, 0, 0, 0, 0.8), 0),
    "Temperature Tympanic": ("plain", 36.7, 0.6, 1, (32, 42), (0.4, 0, 0, 0, 0), 0.6),
    "Oxygen Saturation": ("gap", 3, 0.6, 0, (50, 100), (0.45, 0, 0, 0, 0), 0.6),
    "Delivery device used": ("level", 0, 1, 0, (0, 3), (0.5, 0, 0, 0, 0), 0.5),
    "Diastolic Blood Pressure": ("plain", 77, 13, 0, (25, 150), (-0.2, 0, 0, 0, 0.8), 0),
}
_DEVICE_SHARES = (0.85, 0.96, 0.99)  # with at most level 0, 1, 2
_PANELS = {  # measured together; share missing at mean severity
    ("CREATININE", "POTASSIUM", "SODIUM", "UREA", "eGFR"): 0.05,
    ("ALBUMIN", "ALK.PHOSPHATASE", "ALT", "BILIRUBIN"): 0.12,
    ("CRP",): 0.15,
    (
        *("BASOPHILS", "EOSINOPHILS", "HAEMATOCRIT", "HAEMOGLOBIN", "LYMPHOCYTES", "MEAN CELL VOL.", "MONOCYTES"),
        *("NEUTROPHILS", "PLATELETS", "WHITE CELLS"),
    ): 0.04,
    ("Respiratory Rate", "Heart Rate", "Oxygen Saturation"): 0.06,
    ("Systolic Blood Pressure", "Diastolic Blood Pressure"): 0.07,
    ("Temperature Tympanic",): 0.1,
}


def _presentations(rng: np.random.Generator, moved: np.ndarray, site: str) -> dict:
    """The 27 columns of a CURIAL site."""
    loadings = np.array([entry[5] for entry in _COLUMNS.values()])
    pattern = np.array([entry[6] for entry in _COLUMNS.values()])
    entries, severity, direction = _correlated(rng, len(moved), loadings, pattern)
    severity = severity + SICKER * moved
    entries += moved[:, None] * direction
    entries += 0.15 * np.random.default_rng([*site.encode()]).standard_normal(len(_COLUMNS))  # hospitals differ
    cells = {name: _cells(entries[:, place], *_COLUMNS[name][:5]) for place, name in enumerate(_COLUMNS)}
    white = sum(cells[name] for name in ("BASOPHILS", "EOSINOPHILS", "LYMPHOCYTES", "MONOCYTES", "NEUTROPHILS"))
    cells["WHITE CELLS"] = np.round(white, 2)
    cells["eGFR"] = np.clip(np.round(90 * (80 / cells["CREATININE"]) ** 1.15), 3, 90)  # reported as >90 above
    for names, share in _PANELS.items():
        gap = rng.random(len(moved)) < expit(logit(share) + 0.5 * severity)
        cells |= {name: np.where(gap, np.nan, cells[name]) for name in names}
    frame = pd.DataFrame({name: cells[name.partition(" ")[2]] for name in FEATURES["lab"]})
    return {"frame": frame.astype({DEVICE: "Int8"})}


def _cells(
    entry: np.ndarray, form: str, middle: float, spread: float, decimals: int, within: tuple[float, float]
) -> np.ndarray:
    if form == "level":
        return np.searchsorted(ndtri(_DEVICE_SHARES), entry).astype(float)
    values = middle + spread * entry if form == "plain" else middle * np.exp(spread * entry)
    return np.clip(np.round(100 - values if form == "gap" else values, decimals), *within)


# eICU: median, spread of the logarithm, and how it goes with dying.
_LABS = {
    **{"albumin": (2.9, 0.22, -0.6), "alkaline phos.": (80, 0.5, 0.2), "ALT (SGPT)": (28, 0.9, 0.3)},
    **{"AST (SGOT)": (32, 0.9, 0.5), "anion gap": (11, 0.35, 0.5), "BUN": (21, 0.65, 0.6)},
    **{"bicarbonate": (24, 0.2, -0.4), "total bilirubin": (0.7, 0.8, 0.4), "calcium": (8.4, 0.09, -0.2)},
    **{"chloride": (105, 0.06, 0), "creatinine": (1.1, 0.6, 0.4), "glucose": (132, 0.35, 0.2)},
    **{"bedside glucose": (138, 0.33, 0.1), "Hct": (32, 0.18, -0.2), "Hgb": (10.6, 0.2, -0.2)},
    **{"lactate": (1.7, 0.6, 0.9), "magnesium": (2.0, 0.17, 0.1), "MCH": (29.8, 0.08, 0), "MCHC": (33, 0.04, -0.1)},
    **{
        "MCV": (90, 0.07, 0.1),
        "MPV": (9.2, 0.13, 0.1),
        "phosphate": (3.4, 0.35, 0.3),
        "platelets x 1000": (190, 0.5, -0.4),
    },
    **{"potassium": (4.0, 0.13, 0.1), "PT": (14.5, 0.3, 0.4), "PT - INR": (1.25, 0.35, 0.4), "PTT": (33, 0.35, 0.3)},
    **{"RBC": (3.6, 0.2, -0.2), "RDW": (15, 0.14, 0.5), "sodium": (139, 0.04, 0), "total protein": (5.9, 0.16, -0.3)},
    **{"WBC x 1000": (10.5, 0.5, 0.4), "-basos": (0.3, 0.7, 0), "-eos": (1.0, 1.0, -0.3), "-lymphs": (12, 0.7, -0.4)},
    **{"-monos": (7, 0.45, -0.1), "-polys": (77, 0.16, 0.3), "pH": (7.37, 0.012, -0.5), "paCO2": (40, 0.25, 0)},
    **{"paO2": (100, 0.45, -0.2), "FiO2": (45, 0.45, 0.6), "troponin - I": (0.1, 1.6, 0.3)},
}
_VITALS = {
    **{"Heart Rate": (86, 0.19, 0.5), "Respiratory Rate": (19, 0.25, 0.6), "O2 Saturation": (95.5, 0.015, -0.5)},
    **{"Temperature": (36.9, 0.015, -0.2), "BP Systolic": (120, 0.16, -0.5), "BP Diastolic": (63, 0.18, -0.4)},
    **{"BP Mean": (80, 0.16, -0.5), "CVP": (10, 0.5, 0.3)},
}
_LEVELS = {  # shares of the levels, from the one that goes most with dying
    "Scores|GCS Eyes": (("1", 0.12), ("2", 0.08), ("3", 0.2), ("4", 0.6)),
    "Scores|GCS Motor": (("1", 0.08), ("2", 0.02), ("3", 0.03), ("4", 0.07), ("5", 0.1), ("6", 0.7)),
    "Scores|GCS Verbal": (("1", 0.3), ("2", 0.05), ("3", 0.05), ("4", 0.15), ("5", 0.45)),
    "gender": (("Male", 0.54), ("Female", 0.46)),
    "unittype": (("MICU", 0.1), ("Med-Surg ICU", 0.55), ("Neuro ICU", 0.1), ("Cardiac ICU", 0.15), ("CSICU", 0.1)),
}
_LEVEL_PATTERN = (0.8, 0.9, 0.7, 0.0, 0.1)
_TREATMENTS = {"mechanical ventilation": (0.3, 0.8), "vasopressors": (0.15, 0.8), "dialysis": (0.05, 0.4)}
_AGE = (65, 0.25, 0.5)
_SUMMARIES = {"min": -0.8, "mean": 0.0, "max": 0.8}  # how far from the mean in spreads
_BINS = 5


def _flags(rng: np.random.Generator, moved: np.ndarray, name: str) -> dict:
    """402 columns of 0 and 1 in the manner of FIDDLE: fifths of numbers, levels, whether measured."""
    numbers = {f"labs|{lab}_value": about for lab, about in _LABS.items()} | {"age_value": _AGE}
    for vital, (middle, spread, pattern) in _VITALS.items():
        for summary, away in _SUMMARIES.items():
            about = (middle * math.exp(away * spread), spread, pattern)
            numbers[f"Vital Signs|{vital}_{summary}"] = about
    treatments = {f"Treatment|{treatment}_mask": about for treatment, about in _TREATMENTS.items()}
    pattern = [about[-1] for about in (numbers | treatments).values()] + [*_LEVEL_PATTERN]
    fixed = np.random.default_rng([*name.encode()])  # which columns go together is the same for every seed
    vitals = np.array([[f"|{vital}_" in number for vital in _VITALS] for number in numbers])
    vitals = np.pad(vitals, ((0, len(pattern) - len(numbers)), (0, 0)))
    others = fixed.uniform(-0.25, 0.25, (len(pattern), 5))
    loadings = np.column_stack([0.4 * np.array(pattern), 0.7 * vitals, others])
    entries, severity, direction = _correlated(rng, len(moved), loadings, np.array(pattern))
    severity = severity + SICKER * moved
    entries += moved[:, None] * direction
    columns = {}
    for place, (number, (middle, spread, _)) in enumerate(numbers.items()):
        seen = True
        if number.startswith("labs|"):
            seen = rng.random(len(moved)) < expit(1.5 + 0.4 * severity)
            columns[number.replace("_value", "_mask")] = seen
        columns |= {flag: where & seen for flag, where in _fifths(number, entries[:, place], middle, spread).items()}
    for place, (treatment, (share, _)) in enumerate(treatments.items(), len(numbers)):
        columns[treatment] = entries[:, place] > ndtri(1 - share)
    for place, (variable, shares) in enumerate(_LEVELS.items(), len(numbers) + len(treatments)):
        bounds = ndtri(np.cumsum([share for _, share in shares])[:-1])
        codes = np.searchsorted(bounds, -entries[:, place])
        columns |= {f"{variable}_value:{level}": codes == code for code, (level, _) in enumerate(shares)}
    return {"frame": pd.DataFrame({flag: where.astype(np.float32) for flag, where in columns.items()})}


def _fifths(name: str, entry: np.ndarray, middle: float, spread: float) -> dict[str, np.ndarray]:
    """One flag for each fifth of the patients without the outcome, named by its interval."""
    bounds = ndtri(np.arange(1, _BINS) / _BINS)
    codes = np.searchsorted(bounds, entry)
    ends = ["-inf", *(f"{middle * math.exp(spread * bound):.4g}" for bound in bounds), "inf"]
    return {f"{name}_({ends[code]}, {ends[code + 1]}]": codes == code for code in range(_BINS)}


# MIMIC-III: mean, spread between patients, within one, share of hours measured, loadings on (severity, pressure,
# consciousness), what dying does to it, and its range. Of scales the entry is turned into levels.
_CHANNELS = {
    "Capillary refill rate": (0, 1, 0.5, 0.02, (0.4, -0.2, 0), 0.4, (0, 1)),
    "Diastolic blood pressure": (60, 9, 8, 0.85, (-0.2, 0.8, 0), -0.3, (15, 150)),
    "Fraction inspired oxygen": (0.45, 0.1, 0.05, 0.15, (0.5, 0, -0.2), 0.5, (0.21, 1)),
    "Glascow coma scale eye opening": (0, 1, 0.5, 0.25, (-0.3, 0, 0.8), -0.6, (0, 4)),
    "Glascow coma scale motor response": (0, 1, 0.5, 0.25, (-0.3, 0, 0.8), -0.6, (1, 6)),
    "Glascow coma scale total": (0, 1, 0.5, 0.2, (-0.3, 0, 0.85), -0.6, (3, 15)),
    "Glascow coma scale verbal response": (0, 1, 0.5, 0.25, (-0.3, 0, 0.8), -0.6, (1, 5)),
    "Glucose": (135, 30, 30, 0.25, (0.3, 0, 0), 0.2, (30, 800)),
    "Heart Rate": (86, 13, 8, 0.9, (0.5, -0.2, 0), 0.5, (25, 220)),
    "Height": (170, 10, 0, 0.01, (0, 0, 0), 0, (130, 210)),
    "Mean blood pressure": (78, 9, 8, 0.85, (-0.3, 0.85, 0), -0.5, (25, 180)),
    "Oxygen saturation": (97, 1.5, 1.5, 0.9, (-0.5, 0, 0.1), -0.4, (50, 100)),
    "Respiratory rate": (19, 3.5, 3.5, 0.9, (0.5, 0, 0), 0.6, (4, 60)),
    "Systolic blood pressure": (120, 15, 12, 0.85, (-0.2, 0.8, 0), -0.4, (40, 260)),
    "Temperature": (36.9, 0.5, 0.4, 0.3, (0.1, 0, 0), -0.2, (30, 42)),
    "Weight": (81, 20, 0, 0.03, (0, 0.1, 0), -0.1, (35, 250)),
    "pH": (7.38, 0.05, 0.03, 0.12, (-0.5, 0.1, 0), -0.5, (6.8, 7.8)),
}
_SCALE_SHARES = {  # of the codes, ascending
    "Capillary refill rate": (0.85, 0.15),
    "Glascow coma scale eye opening": (0.02, 0.14, 0.06, 0.18, 0.6),
    "Glascow coma scale motor response": (0.08, 0.01, 0.02, 0.07, 0.1, 0.72),
    "Glascow coma scale total": (0.08, 0.01, 0.01, 0.03, 0.04, 0.03, 0.03, 0.08, 0.1, 0.02, 0.04, 0.13, 0.4),
    "Glascow coma scale verbal response": (0.36, 0.02, 0.03, 0.14, 0.45),
}
_KEPT = 0.85  # of an hour's deviation in the next hour


def _stays(rng: np.random.Generator, moved: np.ndarray, name: str) -> dict:
    """48 hours × 60 columns: a level and a drift of each patient, a walk around them, then what was measured."""
    about = [_CHANNELS[channel] for channel in CHANNELS]
    mean, between, within, measured = (np.array([entry[place] for entry in about]) for place in range(4))
    loadings, pattern = np.array([entry[4] for entry in about]), np.array([entry[5] for entry in about])
    n, size = len(moved), len(CHANNELS)
    level, severity, direction = _correlated(rng, n, loadings, pattern)
    level += moved[:, None] * direction
    drift = 0.5 * (_correlated(rng, n, loadings, pattern)[0] + WORSENING * moved[:, None] * direction)
    habit = 0.6 * rng.standard_normal((n, size))  # else the many hours would tell severity exactly
    chance = expit(logit(measured) + 0.3 * (severity + SICKER * moved)[:, None] + habit)
    walk = rng.standard_normal((n, size))
    grid = np.full((n, HOURS, size), np.nan, np.float32)
    for hour in range(HOURS):
        now = level + drift * (2 * hour / (HOURS - 1) - 1)
        values = _measurable(mean + between * now + within * walk)
        grid[:, hour] = np.where(rng.random((n, size)) < chance, values, np.nan)
        walk = _KEPT * walk + math.sqrt(1 - _KEPT**2) * rng.standard_normal((n, size))
    observed = ~np.isnan(grid)
    fill_grid(grid)
    series, channels = encode_grid(grid, "merged", observed)
    groups = np.array([f"simulated-{number}" for number in range(1, n + 1)])
    return {"frame": pd.DataFrame(index=pd.RangeIndex(n)), "series": series, "channels": channels, "groups": groups}


def _measurable(values: np.ndarray) -> np.ndarray:
    """Numbers (n, channels) within their range; of scales, the place of a spelling."""
    for place, channel in enumerate(CHANNELS):
        *_, within = _CHANNELS[channel]
        if channel in SCALES:
            bounds = ndtri(np.cumsum(_SCALE_SHARES[channel])[:-1])
            codes = sorted(set(SCALES[channel].values()))
            places = np.array([[*SCALES[channel].values()].index(code) for code in codes])
            values[:, place] = places[np.searchsorted(bounds, values[:, place])]
        else:
            values[:, place] = np.clip(values[:, place], *within)
    return values


def _dataset(name: str) -> Dataset:
    return Dataset(
        name=f"{PREFIX}{name}",
        title=COHORTS[name].title,
        licence="simulated by Aliquot; no licence is needed",
        read=partial(simulate, name),
        options={"fraction": Option("of the patients, by default 1", float), "seed": Option("of the patients", int)},
    )


SIMULATED_OUH, SIMULATED_PUH, SIMULATED_UHB, SIMULATED_EICU, SIMULATED_MIMIC3 = (
    _dataset(name) for name in ("ouh", "puh", "uhb", "eicu", "mimic3")
)
