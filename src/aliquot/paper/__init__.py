"""The paper's tables and figures as thin configuration over the library.

This module says where each study is and imports none of them, so that the command line can list their names at once.
"""

from aliquot.registry import Registry

ALL_STUDIES = "all"  # instead of the name of one
STUDIES = Registry(
    "aliquot.studies",
    "the study",
    {
        "table-curial": "aliquot.paper.score_studies:TABLE_CURIAL",
        "table-icu": "aliquot.paper.score_studies:TABLE_ICU",
        "cross-architecture": "aliquot.paper.score_studies:CROSS_ARCHITECTURE",
        "initialisation": "aliquot.paper.score_studies:INITIALISATION",
        "storage": "aliquot.paper.geometry_studies:STORAGE",
        "inner-loop": "aliquot.paper.score_studies:INNER_LOOP",
        "figure-1": "aliquot.paper.geometry_studies:FIGURE_1",
        "theorem": "aliquot.paper.geometry_studies:THEOREM",
    },
)
