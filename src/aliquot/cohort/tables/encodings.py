"""How text is encoded: by its mark, by whether all of it is UTF-8, and otherwise as Windows or Unix wrote it."""

import codecs
import gzip
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from aliquot.errors import FileError

SPOKEN = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252",
    "latin-1": "Latin-1",
}

_AT_ONCE = 1 << 20  # bytes
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_NO_TEXT = bytes([*range(9), 14, 15, *range(16, 26), *range(28, 32)])  # control characters that no text has
_NOT_WINDOWS = b"\x81\x8d\x8f\x90\x9d"  # bytes without a meaning in Windows-1252


def encoding_of(path: Path) -> str:
    """Name of the encoding; the whole file is looked at, since its only umlaut may be in the last line."""
    pieces = _pieces(path)
    first = next(pieces, b"")
    marked = next((name for mark, name in _MARKS if first.startswith(mark)), None)
    if marked == "utf-16":
        return marked
    decoder = codecs.getincrementaldecoder("utf-8")()
    unicode, windows = True, True
    for piece in chain((first,), pieces):
        if len(piece.translate(None, _NO_TEXT)) < len(piece):
            raise FileError(
                f"the file {str(path)!r} is not text; check that it is a table and has the right ending, and that "
                "text is saved as UTF-8"
            )
        windows = windows and len(piece.translate(None, _NOT_WINDOWS)) == len(piece)
        unicode = unicode and _continues(decoder, piece)
    if unicode and _continues(decoder, b"", final=True):
        return marked or "utf-8"
    return "cp1252" if windows else "latin-1"


def _continues(decoder: codecs.IncrementalDecoder, piece: bytes, *, final: bool = False) -> bool:
    """Whether the bytes may follow those before."""
    try:
        decoder.decode(piece, final)
    except UnicodeDecodeError:
        return False
    return True


def _pieces(path: Path) -> Iterator[bytes]:
    with (gzip.open if path.name.lower().endswith(".gz") else open)(path, "rb") as file:
        while piece := file.read(_AT_ONCE):
            yield piece
