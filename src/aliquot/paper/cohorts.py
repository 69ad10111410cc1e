"""Where the paper's five cohorts come from: simulated, or real files in one folder."""

from pathlib import Path

from aliquot.cohort.known import SIMULATED
from aliquot.errors import FileError
from aliquot.paper.scale import Scale
from aliquot.runs.source import Source

SIMULATION = "simulated"  # instead of a folder
TITLES = {"ouh": "OUH", "puh": "PUH", "uhb": "UHB", "eicu": "eICU", "mimic3": "MIMIC-III"}
REAL = {  # folder within the user's, known dataset, options of its reader
    "ouh": ("curial/OUH", "curial", (("empty_label", "negative"),)),
    "puh": ("curial/PUH", "curial", (("empty_label", "negative"),)),
    "uhb": ("curial/UHB", "curial", (("empty_label", "negative"),)),
    "eicu": ("eicu", "eicu", ()),
    "mimic3": ("mimic3", "mimic3", (("balance", "under"),)),
}


def titles_of(cohorts: str) -> dict[str, str]:
    """What tables call the cohorts: simulated ones say so.

    >>> titles_of("simulated")["ouh"], titles_of("DIR")["ouh"]
    ('OUH, simulated', 'OUH')
    """
    return {name: f"{title}, {SIMULATION}" if cohorts == SIMULATION else title for name, title in TITLES.items()}


def source_of(name: str, cohorts: str, scale: Scale) -> Source:
    """The source of a cohort; a folder that is not there is an error that says what belongs in it.

    >>> source_of("ouh", "simulated", Scale(fractions={"ouh": 0.1})).read_options
    (('fraction', '0.1'),)
    """
    if cohorts == SIMULATION:
        part = scale.fractions.get(name, 1.0)
        simulated = f"{SIMULATED}{name}"
        options = () if part == 1 else (("fraction", f"{part:g}"),)
        return Source(file=simulated, cohort=simulated, read_options=options)
    within, known, options = REAL[name]
    folder = Path(cohorts).resolve() / within
    if not folder.is_dir():
        raise FileError(
            f"asked for {TITLES[name]} from the folder {cohorts}, but there is no {within} in it; put the files there, "
            f"use --cohorts {SIMULATION}, or leave it out with --only"
        )
    return Source(file=str(folder), cohort=known, read_options=options)
