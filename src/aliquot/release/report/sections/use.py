"""How to train on the rows without Aliquot."""

from aliquot.release.report import snippets
from aliquot.release.report.section import Section

SECTION = Section(
    key="use",
    title="How to train on the rows",
    order=90,
    content=lambda result: {"program": snippets.TRAIN_PROGRAM},
)
