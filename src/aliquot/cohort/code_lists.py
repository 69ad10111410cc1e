"""Codes of diagnoses, procedures, drugs and wards, and what a rare one counts as: its prefix, or its chapter."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from aliquot.disclosure import patients_per

SCHEMES = ("icd9", "icd10", "prefix")
SCHEME_SHARE = 0.9  # of the codes look like those of the classification

_ICD10 = re.compile(r"[A-TV-Z]\d[0-9A-Z](\.?[0-9X][0-9A-Z]{0,3})?\.?[-*+!]?", re.IGNORECASE)
_ICD9 = re.compile(r"\d{1,3}(\.\d{0,2})?|\d{4,5}|V\d{2}(\.?\d{0,2})?|E\d{3}(\.?\d?)?", re.IGNORECASE)
_ICD9_LETTER = re.compile(r"[VE]\d.*", re.IGNORECASE)

_CHAPTERS = {  # the first and the last category of each
    "icd9": "001-139 140-239 240-279 280-289 290-319 320-389 390-459 460-519 520-579 580-629 630-679 680-709 710-739 "
    "740-759 760-779 780-799 800-999 E00-E99 V01-V91",
    "icd10": "A00-B99 C00-D49 D50-D89 E00-E90 F00-F99 G00-G99 H00-H59 H60-H95 I00-I99 J00-J99 K00-K95 L00-L99 M00-M99 "
    "N00-N99 O00-O99 P00-P96 Q00-Q99 R00-R99 S00-T98 V00-Y99 Z00-Z99",
    "prefix": "",
}


@dataclass(frozen=True)
class Groups:
    """Where codes go that are no level of their own."""

    parents: tuple[tuple[str, str], ...]  # prefix, and how it is written: ("I21", "I21.-")
    chapters: tuple[tuple[str, str, str], ...]  # how it is written, its first and last category


def scheme_of(levels: list[str], rows: np.ndarray) -> str:
    """The classification that most cells look like; ``prefix`` where it is neither of the known ones.

    >>> scheme_of(["250", "V45", "E888"], np.array([5, 1, 1])), scheme_of(["I21.4", "J18"], np.array([1, 1]))
    ('icd9', 'icd10')
    >>> scheme_of(["B01AC06", "C07AB02"], np.array([1, 1]))
    'prefix'
    """
    texts = [level.strip() for level in levels]
    share = {
        name: np.array([one.fullmatch(text) is not None for text in texts]) @ rows / rows.sum()
        for name, one in (("icd9", _ICD9), ("icd10", _ICD10))
    }
    if not any(_ICD9_LETTER.fullmatch(text) for text in texts):  # numbers alone may be anything
        share["icd9"] = 0.0
    best = max(share, key=lambda name: share[name])
    return best if share[best] >= SCHEME_SHARE else "prefix"


def key_of(code: str, *, padded: bool) -> str:
    """A code without dots, in capitals; where ``padded``, numbers have three digits before the dot.

    >>> key_of("i21.4", padded=False), key_of("I21.-", padded=False), key_of("8.45", padded=True)
    ('I214', 'I21', '00845')
    """
    text = code.strip().upper()
    whole, _, rest = text.rstrip("-").partition(".")
    if padded and whole.isdigit() and not text.endswith("-"):
        whole = whole.zfill(3)
    return whole + rest.replace(".", "")


def chapter_of(key: str, chapters: tuple[tuple[str, str, str], ...]) -> str | None:
    """The chapter whose categories a key lies between.

    >>> chapter_of("I214", (("I00-I99", "I00", "I99"),))
    'I00-I99'
    """
    return next((name for name, first, last in chapters if first <= key[:3] <= last), None)


def groups_of_codes(
    keys: list[str], members: np.ndarray, patients: np.ndarray | None, *, scheme: str, fewest: int, most: int
) -> Groups:
    """Prefixes and chapters for codes that are no level of their own.

    ``members`` has, for each cell, the place of its code in ``keys``, -1 where it is none of them. A code goes to the
    longest prefix that ``fewest`` patients share, then to its chapter, if they share that. Where there were more than
    ``most`` prefixes, they need an eighth more patients, and so on.

    >>> keys = ["I210", "I214", "I48"]
    >>> groups_of_codes(keys, np.repeat([0, 1, 2], [6, 7, 12]), None, scheme="icd10", fewest=10, most=9)
    Groups(parents=(('I21', 'I21.-'), ('I48', 'I48.-')), chapters=())
    """
    if patients is not None:  # a patient counts once for a code
        members, patients = np.unique([members, patients], axis=1)
    needed = fewest
    while len(parents := _parents(keys, members, patients, scheme, needed)) > most:
        needed += -(-needed // 8)
    taken = [any(key.startswith(prefix) for prefix in parents) for key in keys]
    known = tuple((text, text.partition("-")[0], text.partition("-")[2]) for text in _CHAPTERS[scheme].split())
    chapters = [None if done else chapter_of(key, known) for key, done in zip(keys, taken, strict=True)]
    shared = _backed(chapters, members, patients, fewest)
    return Groups(
        tuple((prefix, _written(prefix, scheme)) for prefix in sorted(parents)),
        tuple((name, first, last) for name, first, last in known if name in shared),
    )


def _parents(keys: list[str], members: np.ndarray, patients: np.ndarray | None, scheme: str, fewest: int) -> set[str]:
    """Prefixes that ``fewest`` patients share whose code has no longer one."""
    found: set[str] = set()
    shortest = 1 if scheme == "prefix" else 2
    free: list[str | None] = [*keys]
    for length in range(max(map(len, keys), default=0) - 1, shortest - 1, -1):
        groups = [key[:length] if key is not None and len(key) >= length else None for key in free]
        shared = _backed(groups, members, patients, fewest)
        free = [None if group in shared else key for key, group in zip(free, groups, strict=True)]
        found |= shared
    return found


def _backed(groups: list[str | None], members: np.ndarray, patients: np.ndarray | None, fewest: int) -> set[str]:
    """The groups that so many patients share; ``groups`` has that of each key, None where it has none."""
    places, names = pd.factorize(np.array([*groups, None], dtype=object))
    counts = patients_per(places[members], patients, len(names))
    return {name for name, count in zip(names, counts, strict=True) if count >= fewest}


def _written(prefix: str, scheme: str) -> str:
    """A prefix as clinicians write all codes that begin with it: ``I21.-``, ``I2-``, ``E88-``, ``B01-``."""
    category = 4 if scheme == "icd9" and prefix.startswith("E") else 3
    dotted = scheme != "prefix" and len(prefix) >= category
    return f"{prefix[:category]}.{prefix[category:]}-" if dotted else f"{prefix}-"
