"""The paper's five cohorts, and where they come from: simulated, or real files in one folder."""

from dataclasses import dataclass
from pathlib import Path

from aliquot.errors import FileError
from aliquot.run.source import Source

SIMULATION = "simulated"  # instead of a folder


@dataclass(frozen=True)
class PaperCohort:
    """What tables call a cohort, and how its real files are read."""

    title: str
    folder: str  # within the user's
    reader: str  # a name of the registry
    read_options: tuple[tuple[str, str], ...] = ()
    series: bool = False


_EMPTY_IS_NEGATIVE = (("empty_label", "negative"),)
PAPER_COHORTS = {
    "ouh": PaperCohort("OUH", "curial/OUH", "curial", _EMPTY_IS_NEGATIVE),
    "puh": PaperCohort("PUH", "curial/PUH", "curial", _EMPTY_IS_NEGATIVE),
    "uhb": PaperCohort("UHB", "curial/UHB", "curial", _EMPTY_IS_NEGATIVE),
    "eicu": PaperCohort("eICU", "eicu", "eicu"),
    "mimic3": PaperCohort("MIMIC-III", "mimic3", "mimic3", (("balance", "under"),), series=True),
}


def cohort_titles(cohorts: str) -> dict[str, str]:
    """What tables call the cohorts: simulated ones say so.

    >>> cohort_titles("simulated")["ouh"], cohort_titles("DIR")["ouh"]
    ('OUH, simulated', 'OUH')
    """
    simulated = f", {SIMULATION}" if cohorts == SIMULATION else ""
    return {name: cohort.title + simulated for name, cohort in PAPER_COHORTS.items()}


def cohort_source(name: str, cohorts: str, fraction: float = 1.0) -> Source:
    """The source of a cohort; of a simulated one, a fraction of the patients.

    A folder that is not there is an error that says what belongs in it.

    >>> cohort_source("ouh", "simulated", 0.1).read_options
    (('fraction', '0.1'),)
    """
    if cohorts == SIMULATION:
        reader = f"simulated:{name}"
        options = () if fraction == 1 else (("fraction", f"{fraction:g}"),)
        return Source(file=reader, cohort=reader, read_options=options)
    real = PAPER_COHORTS[name]
    folder = Path(cohorts).resolve() / real.folder
    if not folder.is_dir():
        raise FileError(
            f"asked for {real.title} from the folder {cohorts}, but there is no {real.folder} in it; put the files "
            f"there, use --cohorts {SIMULATION}, or leave it out with --only"
        )
    return Source(file=str(folder), cohort=real.reader, read_options=real.read_options)
