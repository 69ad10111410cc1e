"""The run folder: ``private/`` stays, ``release/`` may leave; a killed run continues in it."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from aliquot.cohort import Cohort
from aliquot.digest import checksum_text
from aliquot.drafts import write_atomically
from aliquot.errors import FileError, RunFolderError, TamperedError
from aliquot.hooks import Progress
from aliquot.release.bundle import write_release
from aliquot.runs.pipeline import Request, prepare, run
from aliquot.runs.progress import LogFile, Together
from aliquot.runs.settings import settings_from, settings_to
from aliquot.runs.source import Source
from aliquot.runs.store import Store


def condense_into(
    folder: Path,
    source: Source,
    request: Request,
    progress: Progress,
    *,
    shared: Path | None = None,
    patients: tuple[Cohort, str] | None = None,
) -> Path:
    """Condense a source into a run folder, or continue the same run where it was; the path of the release.

    ``shared`` is a private folder in which several runs on the same patients find each other's experts and curves;
    ``patients`` is what ``source.read()`` gave, if that is known already.
    """
    cohort, data = source.read() if patients is None else patients
    parts = prepare(cohort, request)
    plan = {"source": dataclasses.asdict(source), "request": _request_to(request), "data": data}
    claim(folder, plan)
    release = folder / "release"
    if not release.exists():
        store = Store(folder / "private" / "store")
        listeners = Together(progress, LogFile(folder / "private" / "log.txt"))
        common = None if shared is None else Store(shared)
        write_release(run(cohort, request, parts=parts, memory=store, shared=common, progress=listeners), release)
    return release


def resume(folder: Path, progress: Progress) -> Path:
    """Continue the run in a folder with what its plan says."""
    return condense_into(folder, *plan_of(folder)[:2], progress)


def plan_of(folder: Path) -> tuple[Source, Request, str]:
    """What the run in a folder condenses, how, and the fingerprint of its data."""
    plan = read_plan(folder)
    if "comparison" in plan:
        raise RunFolderError(f"asked for the run in {folder}, which holds a comparison; run the same command again")
    source = Source.from_plan(plan["source"])
    request = Request(**{**plan["request"], "settings": settings_from(plan["request"]["settings"])})
    if not all(path.exists() for path in source.files):
        raise FileError("asked to go on, but the data file of this run is no longer where it was; put it back")
    return source, request, plan["data"]


def read_plan(folder: Path) -> dict[str, Any]:
    """What was asked of the run in a folder."""
    path = folder / "private" / "plan.json"
    if not path.is_file():
        raise FileError(f"asked for the run in {folder}, but there is none; check the path")
    try:
        document = json.loads(path.read_text("utf-8"))
        plan = document["plan"]
        intact = document["sha256"] == checksum_text(json.dumps(plan, sort_keys=True))
    except (ValueError, KeyError, TypeError):
        intact, plan = False, {}
    if not intact:
        raise TamperedError(
            "asked to read the plan of the run, but plan.json was changed; start over in another folder"
        )
    return plan


def claim(folder: Path, plan: dict[str, Any]) -> None:
    """Make the folder this run's own, or find that it is already."""
    plan = json.loads(json.dumps(plan))
    if folder.exists() and not folder.is_dir():
        raise RunFolderError(f"asked to write to {folder}, but that is a file; choose another folder")
    if folder.exists() and any(folder.iterdir()):
        if not (folder / "private" / "plan.json").is_file():
            raise RunFolderError(f"asked to write to {folder}, but it holds other files; choose an empty or new folder")
        _check_same(folder, read_plan(folder), plan)
        return
    private = folder / "private"
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    document = {"plan": plan, "sha256": checksum_text(json.dumps(plan, sort_keys=True))}
    write_atomically(private / "plan.json", json.dumps(document, indent=2).encode())


def _check_same(folder: Path, there: dict[str, Any], asked: dict[str, Any]) -> None:
    there, asked = ({**plan, "source": Source.from_plan(plan["source"])} for plan in (there, asked))
    if there == asked:
        return
    if {**there, "data": ""} == {**asked, "data": ""}:
        raise RunFolderError("asked to continue a run, but its data has changed since it began; choose another folder")
    raise RunFolderError(f"asked to write to {folder}, but another run is in it; choose another folder")


def _request_to(request: Request) -> dict[str, Any]:
    return {**dataclasses.asdict(request), "settings": settings_to(request.settings)}
