"""The report of a release written anew, from what the release itself holds."""

import hashlib
import json
from pathlib import Path

from aliquot.drafts import write_atomically
from aliquot.release.bundle import CHECKED, Release, read_release, release_in
from aliquot.release.condensation import Condensation
from aliquot.release.report import report

REPORT, CHECKSUMS = "report.html", "croissant.json"


def rebuild_report(folder: Path) -> Path:
    """Write ``report.html`` of the release in a folder anew, and its new checksum; the path of the report.

    All other files must be unchanged; the report itself may be missing. What an old release did not measure is left
    out.
    """
    folder = release_in(folder)
    release = read_release(folder, checked=[name for name in CHECKED if name != REPORT])
    page = report(condensation_of(release)).encode()
    text = (folder / CHECKSUMS).read_text("utf-8")
    write_atomically(folder / REPORT, page)
    write_atomically(folder / CHECKSUMS, text.replace(_sum_in(text), hashlib.sha256(page).hexdigest()).encode())
    return folder / REPORT


def condensation_of(release: Release) -> Condensation:
    """The condensation that a release describes, as far as the release holds it."""
    labels = release.recipe["labels"]
    return Condensation(
        x=release.x,
        targets=release.targets,
        target=labels["target"],
        classes=tuple(labels["classes"]),
        encoder=release.encoder,
        recipe=release.recipe,
        metrics=release.metrics,
        settings=release.metrics.get("settings", {}),
        notes=tuple(release.metrics.get("notes", ())),
    )


def _sum_in(text: str) -> str:
    return next(entry["sha256"] for entry in json.loads(text)["distribution"] if entry["name"] == REPORT)
