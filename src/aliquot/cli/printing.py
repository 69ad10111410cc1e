"""Text for terminals that know few signs: what they cannot show is written with what they can."""

import codecs
import io
from typing import TextIO

_SPELLED = {
    **{"±": "+-", "–": "-", "—": "-", "−": "-", "…": "...", "×": "x", "→": "->", "·": "-", "≥": ">=", "≤": "<="},
    **{"“": '"', "”": '"', "‘": "'", "’": "'"},
}


def spelled(error: UnicodeError) -> tuple[str, int]:
    """What to print for signs that an encoding lacks, and where to go on; an error handler of :mod:`codecs`.

    >>> "0.7 ± 0.1 – naïve".encode("ascii", "aliquot-spelled")
    b'0.7 +- 0.1 - na?ve'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_SPELLED.get(sign, "?") for sign in signs), error.end


codecs.register_error("aliquot-spelled", spelled)


def print_anywhere(*streams: TextIO) -> None:
    """Let streams print any text, whatever their encoding."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="aliquot-spelled")
