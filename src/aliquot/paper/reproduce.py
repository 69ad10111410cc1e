"""Studies of the paper into a folder: cells once through the grid, then tables and pictures of each study."""

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aliquot.cohort.wording import listed
from aliquot.errors import FileError, RunFolderError, SettingsError, known_names
from aliquot.hooks import Progress
from aliquot.paper.captions import provenance, reductions
from aliquot.paper.cohorts import SIMULATION, source_of, titles_of
from aliquot.paper.pages import page_of
from aliquot.paper.published import unplaced
from aliquot.paper.results import Found
from aliquot.paper.scale import scale_of
from aliquot.paper.studies import STUDIES, Line, Plan
from aliquot.paper.writing import write_page
from aliquot.runs.grid import Entry, run_grid
from aliquot.runs.pipeline import versions

ALL = "all"
PRIVATE = {"private"}  # all that is there if a grid was killed as it began


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """What is asked for: studies at a budget on cohorts, and of them only some lines."""

    name: str  # of a study, or ALL
    budget: str = "cpu"
    cohorts: str = SIMULATION  # or a folder with the real files
    seeds: int = 1
    only: tuple[str, ...] = ()

    def command(self, out: Path | None = None) -> str:
        """The command that does it."""
        words = ["aliquot", "reproduce", self.name, "--cohorts", self.cohorts, "--budget", self.budget]
        words += ["--seeds", str(self.seeds), *(["--only", ",".join(self.only)] if self.only else [])]
        return shlex.join([*words, *([] if out is None else ["--out", str(out)])])

    def lines(self) -> dict[str, list[Line]]:
        """The lines of every study that was asked for; a name that does not exist is an error that lists what does."""
        names = list(STUDIES) if self.name == ALL else [self.name]
        if names[0] not in STUDIES:
            raise SettingsError(f"asked to reproduce {self.name!r}; {known_names(self.name, [*STUDIES, ALL])}")
        plan = Plan(self.budget, tuple(range(self.seeds)), scale_of(self.budget))
        return chosen({name: STUDIES[name].lines(plan) for name in names}, self.only)


def chosen(lines: Mapping[str, Sequence[Line]], only: Sequence[str]) -> dict[str, list[Line]]:
    """Of the lines of studies, those of the cohorts, methods and rows per class named in ``only``.

    Several of one kind are alternatives. Full data stays as what others are measured by, and lines without a number of
    rows stay whatever number is asked for. Studies of which nothing but full data stays are left out.
    """
    every = [line for part in lines.values() for line in part]
    kinds = {
        "cohort": list(dict.fromkeys(line.cohort for line in every)),
        "method": list(dict.fromkeys(line.method for line in every if line.method != "full")),
        "rows": sorted({str(line.rows) for line in every if line.rows is not None}, key=int),
    }
    wanted = {kind: [word for word in only if word in known] for kind, known in kinds.items()}
    strange = [word for word in only if not any(word in known for known in kinds.values())]
    if strange:
        texts = [f"{kind} {', '.join(known)}" for kind, known in kinds.items() if known]
        raise SettingsError(f"asked for --only {strange[0]}; known here: {'; '.join(texts)}")

    def stays(line: Line) -> bool:
        return (
            (not wanted["cohort"] or line.cohort in wanted["cohort"])
            and (not wanted["method"] or line.method in (*wanted["method"], "full"))
            and (not wanted["rows"] or line.rows is None or str(line.rows) in wanted["rows"])
        )

    kept = {name: [line for line in part if stays(line)] for name, part in lines.items()}
    kept = {name: part for name, part in kept.items() if any(line.method != "full" for line in part)}
    if not kept:
        raise SettingsError(f"asked for --only {','.join(only)}, but no study has lines of all of these; ask for fewer")
    return kept


def reproduce(folder: Path, asked: Reproduction, executor: Any, progress: Progress) -> dict[str, str]:
    """Run what is not finished, and write every study; the Markdown of each by name.

    Cells that several studies share are run once. ``folder/cells`` keeps finished ones, so that the same call goes on
    where it was stopped, ``folder/NAME`` has table.md, table.csv, table.tex and the pictures.
    """
    studies = asked.lines()
    if folder.is_dir() and not (folder / "grid.json").is_file() and {path.name for path in folder.iterdir()} - PRIVATE:
        raise RunFolderError(f"asked to write to {folder}, but it holds other files; choose an empty or new folder")
    if asked.cohorts != SIMULATION and not Path(asked.cohorts).is_dir():
        raise FileError(
            f"asked for cohorts from {asked.cohorts!r}, but that is no folder; name one that holds curial/, eicu/ and "
            f"mimic3/, or say --cohorts {SIMULATION}"
        )
    scale = scale_of(asked.budget)
    entries: dict[Any, Entry] = {}
    for line in (line for lines in studies.values() for line in lines):
        if _same(line) not in entries:
            entries[_same(line)] = Entry(source_of(line.cohort, asked.cohorts, scale), line.cell)
    results = dict(zip(entries, run_grid(folder, list(entries.values()), executor, progress), strict=True))
    note = f"budget {asked.budget}" + (", simulated patients" if asked.cohorts == SIMULATION else "")
    texts = {}
    for name, lines in studies.items():
        page = page_of(name, [Found(line, results[_same(line)]) for line in lines], titles_of(asked.cohorts))
        caption = captions(asked, name, lines)
        texts[name] = write_page(folder / name, page, STUDIES[name].title, caption, made(asked), note)
    return texts


def _same(line: Line) -> tuple[Any, ...]:
    """What makes lines of two studies one cell: everything but how they call it."""
    return line.cohort, line.cell.kind, line.cell.networks, line.cell.request


def captions(asked: Reproduction, name: str, lines: Sequence[Line]) -> list[str]:
    """Sentences above a study: budget and what it reduces, whose patients, and what else is known of the paper."""
    used = list(dict.fromkeys(line.cohort for line in lines))
    learned = any(line.cell.kind == "rows" for line in lines)
    less = reductions(asked.budget, scale_of(asked.budget), asked.cohorts, used, learned=learned)
    budget = [f"Budget {asked.budget}, which does less than the paper – {' '.join(less)}"] if less else []
    seeds = f"{asked.seeds} condensation seed{'s' * (asked.seeds != 1)}."
    return [
        *(budget or [f"Budget {asked.budget}: the paper's counts."]),
        f"{provenance(asked.cohorts, used)} {seeds}",
        *unplaced(name),
    ]


def made(asked: Reproduction) -> str:
    """How, when and with which versions."""
    used = listed([f"{package} {number}" for package, number in versions().items()])
    return f"`{asked.command()}`, {time.strftime('%Y-%m-%d')}, {used}."
