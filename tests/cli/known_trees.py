"""Small trees of every known dataset, for the tests of the command: whole ones, and smallest ones to be spoiled."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from aliquot.cohort.readers.mimic3 import CHANNELS, SCALES
from aliquot.cohort.readers.physionet2012 import MEASUREMENTS, VENTILATION

READERS = Path(__file__).parents[1] / "cohort" / "readers"
STAYS = range(770101, 770161)
DIED = [int(stay % 3 == 0) for stay in STAYS]
TINY = [
    *("--budget", "smoke", "--method", "kmeans", "--rows-per-class", "2", "--quiet"),
    *("--set", "evaluation.search_epochs=1", "--set", "evaluation.search_networks=1"),
    *("--set", "evaluation.final_epochs=1", "--set", "evaluation.final_networks=1"),
    *("--set", "evaluation.full_epochs=1"),
]


def asked(cohort: str, folder: Path, read: tuple[str, ...], out: Path) -> list[str]:
    """The words of the command."""
    options = [word for option in read for word in ("--read", option.format(folder=folder))]
    return ["condense", "--cohort", cohort, "--path", str(folder), *options, "--out", str(out), *TINY]


@cache
def builders(reader: str) -> ModuleType:
    """The tests of a reader, which build small trees of its layout and know what is wrong with changed ones."""
    spec = spec_from_file_location(f"builders_of_{reader}", READERS / f"test_{reader}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def physionet2012(folder: Path, *, packed: bool) -> Path:
    """Sixty stays, everything measured twice, ventilation in every other stay."""
    of = builders("physionet2012")

    def lines(stay: int) -> Iterator[str]:
        for place, name in enumerate(MEASUREMENTS):
            if name == VENTILATION:
                yield from [f"{stay % 48:02}:30,{name},1"] * (stay % 2)
            else:
                hour = (stay + place) % 24
                yield from (f"{hour:02}:30,{name},{stay % 7 + place}", f"{hour + 24}:30,{name},{stay % 5 + place}")

    def admission(stay: int) -> dict[str, int]:
        return {"age": 40 + stay % 50, "gender": stay % 2, "height": 150 + stay % 40, "icu": stay // 2 % 2 + 3}

    stays = {f"{stay}.txt": of.stay(stay, *lines(stay), **admission(stay)) for stay in STAYS}
    outcomes = "".join(f"{stay},{died}\n" for stay, died in zip(STAYS, DIED, strict=True))
    return of.Tree(stays=stays, outcomes=f"RecordID,In-hospital_death\n{outcomes}").write(folder, packed=packed)


def mimic3(folder: Path) -> Path:
    """Eighty train stays, two of each patient, half of whom died, and two test stays; every level occurs in each."""
    of = builders("mimic3")
    tree = of.big_tree()
    names = tree.files["train/listfile.csv"].split()[1:]
    tree.files["train/listfile.csv"] = of.lists(
        [name.partition(",")[0] for name in names], [int(place % 4 == 0) for place in range(len(names))]
    )

    def cells(stay: int, hour: int) -> dict[str, object]:
        levels = {channel: [*scale][hour % len(scale)] for channel, scale in SCALES.items()}
        return {channel: levels.get(channel, stay % 9 + hour + 1) for channel in CHANNELS}

    for stay, name in enumerate(sorted(name for name in tree.files if name.startswith("train/1"))):
        tree.files[name] = of.stay(*((hour, cells(stay, hour)) for hour in range(1, 14)))
    return tree.write(folder)


def fiddle(folder: Path, task: str = "ARF_4h") -> Path:
    """Sixty stays; those of the task of death are are two for each patient, in parts of their own."""
    of = builders("fiddle")
    head, lines = "ID,ARF_ONSET_HOUR,ARF_LABEL", [f"{stay},,{died}" for stay, died in zip(STAYS, DIED, strict=True)]
    if task == "mortality_48h":
        head, parts = "ID,stay,partition,mortality_LABEL", ["train"] * 22 + ["val"] * 4 + ["test"] * 4
        lines = [
            f"{stay},{800 + i // 2}_episode{i % 2}_timeseries.csv,{parts[i // 2]},{died}"
            for i, (stay, died) in enumerate(zip(STAYS, DIED, strict=True))
        ]
    static, dynamic = (of.stored(of.flags(len(STAYS), *size)) for size in ((5,), (4, 7)))
    return of.Tree(task, static, dynamic, population="\n".join([head, *lines])).write(folder)


def curial(folder: Path) -> Path:
    """Three hospital groups of sixty presentations, six positive and three not tested in each."""
    folder.mkdir()
    for site in ("OUH", "PUH", "UHB"):
        builders("curial").written(folder / f"{site}.csv")
    return folder


def yaib(folder: Path) -> Path:
    """Sixty stays of five hours, and one without an outcome; nobody has CRP."""
    stays, hours = np.array([*STAYS, 770199]), 5
    hour = np.tile(np.arange(hours), len(stays))
    dyn = {"stay_id": np.repeat(stays, hours), "time": hour, "hr": 80.0 + np.repeat(stays % 7, hours) + hour}
    dyn |= {
        "urine": np.where(hour % 2, np.nan, 100.0 - hour - np.repeat(stays % 5, hours)),
        "crp": np.full(hour.size, np.nan),
    }
    sta = {"stay_id": stays, "age": 50.0 + stays % 30, "sex": np.resize(["Male", "Female"], len(stays))}
    return builders("yaib").Task(dyn, sta, {"stay_id": [*STAYS], "label": DIED}).write(folder)


def meds(folder: Path) -> Path:
    """Sixty subjects in two shards, with a split; six of them have no event in the last hours."""
    of = builders("meds")
    people = [
        of.person(
            stay,
            (of.at(-3.5 if i % 10 else -9), "HR", 70.0 + i % 7),
            (of.at(-2.5 if i % 10 else -9), "LAB//K", 4.0 + i % 3),
            (of.at(-1 if i % 10 else -9), "VENT", None),
            sex="MF"[i % 2],
        )
        for i, stay in enumerate(STAYS)
    ]
    shards = {"train/0": [*chain.from_iterable(people[:40])], "other/1": [*chain.from_iterable(people[40:])]}
    parts = ["train"] * 42 + ["tuning"] * 9 + ["held_out"] * 9
    labels = [(stay, of.NOW, bool(died)) for stay, died in zip(STAYS, DIED, strict=True)]
    return of.Dataset(shards, labels, [*zip(STAYS, parts, strict=True)]).write(folder)


WHOLE: dict[str, Callable[[Path], Path]] = {
    "physionet2012": partial(physionet2012, packed=True),
    "physionet2012-table": partial(physionet2012, packed=True),
    "mimic3": mimic3,
    "fiddle": fiddle,
    "eicu": partial(fiddle, task="mortality_48h"),
    "curial": curial,
    "yaib": yaib,
    "meds": meds,
}
LABELS = "labels={folder}/died.parquet"


@dataclass(frozen=True)
class Small:
    """The smallest tree of an entry, to be spoiled: the reader whose tests build it, their builder, and options."""

    reader: str
    builder: str
    read: tuple[str, ...] = ()
    how: dict[str, Any] = field(default_factory=dict)
    optional: tuple[str, ...] = ()  # files that need not be there

    def write(self, folder: Path, change: Callable[[Any], Any] = lambda tree: tree) -> Path:
        """A folder with the tree after a change, which returns tables and works in place on others."""
        folder.mkdir()
        tree = getattr(builders(self.reader), self.builder)()
        changed = change(tree)
        if isinstance(tree, pd.DataFrame):
            builders(self.reader).written(folder / "OUH.csv", changed)
        else:
            tree.write(folder, **self.how)
        return folder


SMALL = {
    "physionet2012": Small("physionet2012", "Tree", how={"packed": True}),
    "physionet2012-table": Small("physionet2012", "Tree"),
    "mimic3": Small("mimic3", "Tree", optional=("test/listfile.csv",)),
    "fiddle": Small("fiddle", "Tree", ("task=ARF_4h",)),
    "eicu": Small("fiddle", "Tree", ("task=ARF_4h",)),
    "curial": Small("curial", "presentations", ("empty_label=negative", "arrived_from=2019-01-01")),
    "yaib": Small("yaib", "Task"),
    "meds": Small(
        "meds",
        "Dataset",
        (LABELS, "hours=4", "minimum_share=0"),
        optional=("metadata/subject_splits.parquet",),
    ),
}
