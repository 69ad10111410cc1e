"""The sections of the report: each module here has a ``SECTION``, and a template of the same name beside it.

A section is found by being in this package. To add one, write the two files; what it measures travels in
``metrics.json``, and is read back, drawn and checked like that of all others.
"""

from dataclasses import fields
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from aliquot.evaluate.evidence import Evidence
from aliquot.evaluate.results import Results
from aliquot.release.report.section import Section

_OF_EVERY_RUN = {field.name for field in fields(Results)}  # names in metrics.json that are no section's


def all_sections() -> tuple[Section[Any], ...]:
    """Every section, in the order of the page."""
    found = [import_module(f"{__name__}.{module.name}").SECTION for module in iter_modules(__path__)]
    return tuple(sorted(found, key=lambda section: section.order))


def measure_sections(evidence: Evidence) -> dict[str, Any]:
    """What all sections measure, as JSON by its name in ``metrics.json``."""
    found: dict[str, Any] = {}
    for section in all_sections():
        measured = {} if section.measure is None else section.measure(evidence).to_json()
        if taken := measured.keys() & {*found, *_OF_EVERY_RUN}:
            raise ValueError(f"section {section.key!r} measures {sorted(taken)}, which others have; rename its fields")
        found |= measured
    return found
