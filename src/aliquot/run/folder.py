"""The run folder: ``private/`` stays, ``release/`` may leave; a killed run continues in it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from aliquot.cohort import Cohort
from aliquot.context import Context, Progress
from aliquot.drafts import write_atomically
from aliquot.errors import FileError, RunFolderError, TamperedError
from aliquot.identity import check_versions, checksum_text, versions
from aliquot.loading import Versions, expecting, json_in, require, typed
from aliquot.release.bundle import write_release
from aliquot.run.pipeline import PIPELINE
from aliquot.run.private import LOCK, locked
from aliquot.run.progress import LogFile, Together
from aliquot.run.request import Request
from aliquot.run.source import Source
from aliquot.run.stage import Run, run_stages
from aliquot.run.stages.prepare import prepare
from aliquot.run.store import FolderStore

COMPARISON = "comparison"  # kind of a plan; the other one is "run"


@dataclass(frozen=True)
class _Document:
    plan: dict[str, Any]
    sha256: str


class _Plan(TypedDict, total=False):
    kind: str
    name: str
    versions: Versions | None


class _RunPlan(TypedDict):
    name: str
    source: dict[str, Any]
    request: dict[str, Any]
    store: str | None


def condense_into(
    folder: Path,
    source: Source,
    request: Request,
    progress: Progress,
    *,
    shared: Path | None = None,
    cohort: Cohort | None = None,
) -> Path:
    """Condense a source into a run folder, or continue the same run where it was; the path of the release.

    ``shared`` is a private folder in which several runs on the same patients find each other's experts and curves;
    ``cohort`` is what ``source.read()`` gave, if that is known already.
    """
    cohort = source.read() if cohort is None else cohort
    run = prepare(Run(cohort=cohort, request=request, keep_paths=shared is not None))
    name = request.name(run.parts.fingerprint, cohort.licence)
    where = None if shared is None else str(shared.resolve())
    plan = {"source": asdict(source), "request": request.to_plan(), "store": where}
    with claimed(folder, {"kind": "run", "name": name, "versions": versions(), **plan}) as private:
        release = folder / "release"
        if not release.exists():
            context = Context(
                judge=run.context.judge,
                store=FolderStore(private / "store"),
                progress=Together(progress, LogFile(private / "log.txt")),
                shared=None if shared is None else FolderStore(shared.resolve()),
            )
            _, *stages = PIPELINE  # it is prepared
            found = run_stages(replace(run, context=context), stages)
            write_release(found.condensation, release)
    return release


def resume(folder: Path, progress: Progress) -> Path:
    """Continue the run in a folder with what its plan says."""
    plan = run_plan(folder)
    store = plan["store"]
    shared = None if store is None else Path(store)
    return condense_into(folder, source_of(plan), request_of(plan), progress, shared=shared)


def run_plan(folder: Path) -> dict[str, Any]:
    """The plan of the run in a folder, if it is one and was begun with the versions that are here."""
    plan = read_plan(folder)
    if plan.get("kind") == COMPARISON or COMPARISON in plan:
        raise RunFolderError(f"asked for the run in {folder}, which holds a comparison; run the same command again")
    _check_plan_versions(folder, plan)
    with expecting(_changed()):
        typed(plan, _RunPlan)
    return plan


def request_of(plan: dict[str, Any]) -> Request:
    """What was asked of the run of a plan."""
    with expecting(_changed()):
        return Request.from_plan(plan["request"])


def source_of(plan: dict[str, Any]) -> Source:
    """Where the patients of a plan are, if they are still there."""
    with expecting(_changed()):
        source = Source.from_plan(plan["source"])
    if not all(path.exists() for path in source.files):
        raise FileError("asked to go on, but the data file of this run is no longer where it was; put it back")
    return source


def read_plan(folder: Path) -> dict[str, Any]:
    """What was asked of the run in a folder."""
    path = _plan(folder)
    if not path.is_file():
        raise FileError(f"asked for the run in {folder}, but there is none; check the path")
    with expecting(_changed()):
        document = json_in(path, _Document)
        require(document.sha256 == checksum_text(json.dumps(document.plan, sort_keys=True)))
        typed(document.plan, _Plan)
    return document.plan


def _changed() -> TamperedError:
    return TamperedError("asked to read the plan of the run, but plan.json was changed; start over in another folder")


@contextmanager
def claimed(folder: Path, plan: dict[str, Any]) -> Iterator[Path]:
    """The private folder, for one process while the block lasts, in a folder that is new or the plan's own already.

    Plans are the same if their names are.
    """
    if folder.exists() and not folder.is_dir():
        raise RunFolderError(f"asked to write to {folder}, but that is a file; choose another folder")
    if folder.exists() and not _plan(folder).is_file() and not _is_unused(folder):
        raise RunFolderError(f"asked to write to {folder}, but it holds other files; choose an empty or new folder")
    with locked(private := folder / "private"):
        if _plan(folder).is_file():
            _check_same(folder, read_plan(folder), plan)
        else:
            plan = json.loads(json.dumps(plan))
            document = {"plan": plan, "sha256": checksum_text(json.dumps(plan, sort_keys=True))}
            write_atomically(_plan(folder), json.dumps(document, indent=2).encode(), private=True)
        yield private


def _is_unused(folder: Path) -> bool:
    """Whether a folder is empty, or as a run leaves it that could not write its plan."""
    names = {path.name for path in folder.iterdir()}
    return not names or (names == {"private"} and {path.name for path in _plan(folder).parent.iterdir()} <= {LOCK})


def _check_same(folder: Path, there: dict[str, Any], asked: dict[str, Any]) -> None:
    _check_plan_versions(folder, there)
    if there.get("name") == asked["name"]:
        return
    if _without_data(there) == _without_data(json.loads(json.dumps(asked))):
        what = "data" if asked["source"]["columns"]["schema"] is None else "data or its schema file"
        raise RunFolderError(
            f"asked to continue a run, but its {what} has changed since it began; choose another folder"
        )
    raise RunFolderError(f"asked to write to {folder}, but another run is in it; choose another folder")


def _check_plan_versions(folder: Path, plan: dict[str, Any]) -> None:
    check_versions(plan.get("versions"), f"a run in {folder}", "install these versions, or choose another folder")


def _without_data(plan: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plan.items() if name not in ("name", "versions", "store")}


def _plan(folder: Path) -> Path:
    return folder / "private" / "plan.json"
