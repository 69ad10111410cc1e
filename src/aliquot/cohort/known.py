"""Datasets that Aliquot knows how to read: what to download, where it goes, under which licence.

Readers are imported when they are used. Options of a reader are given by name; ``aliquot cohorts`` lists them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from aliquot.cohort.options import typed
from aliquot.cohort.records import Records
from aliquot.errors import FileError, SettingsError, known_names


@dataclass(frozen=True)
class KnownCohort:
    """A dataset with a reader."""

    title: str
    files: str  # what lies in the folder
    licence: str  # and where it comes from
    reader: str  # module:function
    options: Mapping[str, str] = field(default_factory=dict)  # what the reader can be told
    needed: tuple[str, ...] = ()  # options without which it cannot read


KNOWN = {
    "physionet2012": KnownCohort(
        "PhysioNet/CinC 2012: 48 hours of ICU stays by the hour, death in hospital",
        "set-a.tar.gz and Outcomes-a.txt (and b, c), or unpacked folders set-a/",
        "PhysioNet project challenge-2012 1.0.0; open, ODC-BY 1.0",
        "physionet2012:physionet2012_series",
    ),
    "physionet2012-table": KnownCohort(
        "the same stays as a table: first, last, lowest, highest and mean of each measurement",
        "as physionet2012",
        "PhysioNet project challenge-2012 1.0.0; open, ODC-BY 1.0",
        "physionet2012:physionet2012_records",
    ),
    "mimic3": KnownCohort(
        "MIMIC-III benchmark of in-hospital mortality: 48 hours × 60 columns",
        "the folder in-hospital-mortality/ that YerevaNN/mimic3-benchmarks writes (train/, test/, list files)",
        "MIMIC-III 1.4 on PhysioNet; credentialed access",
        "mimic3:read_mimic3",
        {
            "columns": "merged (60, default), raw (76) or codes (34), masks included",
            "masks": "true or false",
            "fill": "previous or none",
            "balance": "of the training part: none, under or over",
            "seed": "of balancing and of the tuning part",
        },
    ),
    "fiddle": KnownCohort(
        "FIDDLE features of eICU or MIMIC-III: ARF, shock or death",
        "FIDDLE_eicu/ or FIDDLE_mimic3/ with features/ and population/",
        "PhysioNet project mimic-eicu-fiddle-feature 1.0.0; credentialed access",
        "fiddle:read_fiddle",
        {
            "task": "ARF_4h, ARF_12h, Shock_4h, Shock_12h or mortality_48h",
            "features": "regular expression on their names",
            "minimum_share": "of stays in which a feature is set",
            "summary": "mean (default), any, last, or series",
        },
        ("task",),
    ),
    "eicu": KnownCohort(
        "FIDDLE features of eICU as a table of 402 binary columns, as near to the paper's as can be said",
        "FIDDLE_eicu/ with features/ and population/",
        "PhysioNet project mimic-eicu-fiddle-feature 1.0.0; credentialed access",
        "fiddle:paper_table",
        {"task": "mortality_48h by default"},
    ),
    "curial": KnownCohort(
        "CURIAL: blood tests and vital signs on arrival, COVID-19",
        "one harmonised CSV per hospital group, as OUH.csv, PUH.csv, UHB.csv",
        "NHS records under their custodians' agreements; not public",
        "curial:read_curial",
        {
            "empty_label": "negative or drop: what an empty result means",
            "features": "lab (27, default), rapid (17) or gas (41)",
            "site_roles": "which site is which part, as OUH:train,PUH:tuning,UHB:held_out",
            "arrived_from": "a date, as 2019-12-01",
            "arrived_until": "a date",
            "negatives_until": "a date",
        },
        ("empty_label",),
    ),
    "yaib": KnownCohort(
        "YAIB cohorts with one outcome per stay",
        "dyn.parquet, sta.parquet and outc.parquet",
        "that of the source (MIMIC, eICU, HiRID, AUMCdb); credentialed access",
        "yaib:read_yaib",
        {"hours": "of each stay, from its beginning"},
    ),
    "meds": KnownCohort(
        "any dataset in the Medical Event Data Standard 0.4, with labels",
        "data/**/*.parquet and metadata/",
        "that of the source",
        "meds:read_meds",
        {
            "labels": "path of the label files",
            "hours": "before the moment of prediction",
            "step_hours": "length of a step",
            "seed": "of the tuning part, where the source has none",
            "minimum_share": "of the windows in which a code occurs",
        },
        ("labels", "hours"),
    ),
}


SIMULATED = "simulated:"  # before the name of one of the paper's datasets: a made-up cohort of its shape


def read_known(name: str, path: Path, options: Mapping[str, Any] | None = None) -> Records:
    """The records of a known dataset in a folder; a wrong name or option is an error that lists what is known.

    ``simulated:ouh`` and its like need no folder; their options are ``fraction`` and ``seed``.
    """
    if name.startswith(SIMULATED):
        return _simulated(name.removeprefix(SIMULATED), dict(options or {}))
    if name not in KNOWN:
        raise SettingsError(f"asked for the cohort {name!r}; {known_names(name, KNOWN)}, {SIMULATED}NAME")
    known, given = KNOWN[name], dict(options or {})
    unknown = [option for option in given if option not in known.options]
    if unknown:
        can = known_names(unknown[0], known.options, "its options are")
        raise SettingsError(f"asked to read {name!r} with the option {unknown[0]!r}; {can}")
    absent = [option for option in known.needed if option not in given]
    if absent:
        raise SettingsError(f"to read {name!r} add --read {absent[0]}=VALUE; {absent[0]}: {known.options[absent[0]]}")
    asked = typed(given)
    if not path.is_dir():
        raise FileError(
            f"asked to read {name!r} from {str(path)!r}, but that is no folder; it should hold {known.files}"
        )
    return _reader(known)(path, **asked)


def licence_of(name: str) -> str:
    """Where a known dataset comes from, and its licence.

    >>> licence_of("mimic3"), licence_of("simulated:ouh")
    ('MIMIC-III 1.4 on PhysioNet; credentialed access', 'simulated by Aliquot; no licence is needed')
    """
    return "simulated by Aliquot; no licence is needed" if name.startswith(SIMULATED) else KNOWN[name].licence


def _simulated(name: str, options: dict[str, Any]) -> Records:
    from aliquot.cohort.simulate import simulate

    unknown = [option for option in options if option not in ("fraction", "seed")]
    if unknown:
        can = known_names(unknown[0], ("fraction", "seed"), "the options are")
        raise SettingsError(f"asked to simulate with the option {unknown[0]!r}; {can}")
    return simulate(name, **typed(options))


def _reader(known: KnownCohort) -> Callable[..., Records]:
    module, function = known.reader.split(":")
    read = getattr(import_module(f"aliquot.cohort.readers.{module}"), function)
    return partial(_told_apart, read)


def _told_apart(read: Callable[..., Records], path: Path, **options: Any) -> Records:
    """Positional where the reader wants it: a task or label file comes right after the folder."""
    first = [options.pop(name) for name in ("task", "labels") if name in options]
    return read(path, *first, **options)
