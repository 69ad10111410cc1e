"""How to cite, and whose licence holds."""

from aliquot.release.report import facts
from aliquot.release.report.section import Section

SECTION = Section(
    key="cite",
    title="How to cite",
    order=110,
    content=lambda result: {"paper": facts.CITATION, "version": facts.aliquot_version(result.results)},
)
