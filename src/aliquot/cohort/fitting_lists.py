"""What an encoder learns from a column of codes: which stay, and what the others count as."""

from collections import Counter

import numpy as np
import pandas as pd

from aliquot.cohort.code_lists import groups_of_codes, key_of, scheme_of
from aliquot.cohort.codes import MISSING, RARE, ListCode
from aliquot.cohort.schema import Column
from aliquot.cohort.values import levels_of, loose_spelling
from aliquot.disclosure import patients_in, patients_per


def fit_list(
    column: Column, cells: pd.Series, patients: np.ndarray | None = None, *, fewest: int, most: int
) -> ListCode:
    """The ``most`` frequent codes that ``fewest`` patients have, and prefixes and chapters for the others.

    A code that a file may hand back as another one (``0389`` as ``389``) is never kept, but goes to its prefix.

    >>> cells = pd.Series(["I21.4"] * 12 + ["I48.0"] * 6 + ["I48.1"] * 5 + ["J18.9"] * 3)
    >>> fit_list(Column(name="dx", kind="code"), cells, fewest=10, most=30).features
    ('dx=I21.4', 'dx=I48.-', 'dx=(rare)')
    """
    codes, levels = levels_of(cells)
    counts = patients_per(codes, patients, len(levels))
    spellings = Counter(loose_spelling(level) for level in levels)
    own = [place for place, level in enumerate(levels) if spellings[loose_spelling(level)] == 1]
    own = [place for place in own if counts[place] >= fewest and levels[place] not in (RARE, MISSING)]
    own = sorted(own, key=lambda place: (-counts[place], levels[place]))[:most]
    scheme = column.scheme or scheme_of(levels, np.bincount(codes[codes >= 0], minlength=len(levels)))
    padded = scheme == "icd9"
    others = np.setdiff1d(np.arange(len(levels)), own)
    place = np.full(len(levels) + 1, -1)
    place[others] = np.arange(len(others))
    keys = [key_of(levels[number], padded=padded) for number in others]
    groups = groups_of_codes(keys, place[codes], patients, scheme=scheme, fewest=fewest, most=most)
    return ListCode(
        name=column.name,
        kind=column.kind,
        dtype=str(cells.dtype),
        levels=tuple(sorted(levels[place] for place in own)),
        missing=patients_in(codes < 0, patients) >= fewest,
        parents=groups.parents,
        chapters=groups.chapters,
        padded=padded,
    )
