"""Record a command as a picture: runs it in a terminal of its own and draws the last screen as SVG.

    python scripts/record.py docs/figures/demo.svg -- aliquot demo --out runs/demo

What is drawn is what the command printed, colours and all; nothing is added but the line with the command itself. The
picture needs no font and no script from elsewhere.
"""

import argparse
import codecs
import fcntl
import io
import os
import pty
import re
import shlex
import struct
import sys
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

COLUMNS, LINES = 96, 60
SIGNS = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\][^\x07]*\x07|\r|\n|\x07|[^\x1b\r\n\x07]+|\x1b")


class Screen:
    """The lines that a terminal shows: enough of one for bars that redraw themselves.

    Knows line breaks, carriage returns, the cursor going up (``A``), erased lines (``K``) and colours (``m``).
    """

    def __init__(self):
        self._lines: list[list[tuple[str, str]]] = [[]]  # per line, the signs with the style in which each was written
        self._row = self._column = 0
        self._style = ""

    def feed(self, text: str) -> None:
        """Take what the command wrote."""
        for match in SIGNS.finditer(text):
            sign, numbers, order = match[0], match[1], match[2]
            if order is not None:
                self._obey(order, numbers, sign)
            elif sign == "\r":
                self._column = 0
            elif sign == "\n":
                self._row += 1
                self._column = 0
                self._lines += [[] for _ in range(self._row + 1 - len(self._lines))]
            elif sign[0] not in "\x07\x1b":
                self._write(sign)

    def lines(self) -> list[Text]:
        """What is to be seen, without empty lines at the end."""
        shown = [Text.from_ansi("".join(style + sign for style, sign in line)) for line in self._lines]
        while shown and not shown[-1].plain.strip():
            shown.pop()
        return shown

    def _obey(self, order: str, numbers: str, sign: str) -> None:
        if order == "m":
            self._style = "\x1b[0m" if numbers in ("", "0") else self._style + sign
        elif order == "A":
            self._row = max(0, self._row - int(numbers or 1))
        elif order == "K":
            line = self._lines[self._row]
            del line[0 if numbers == "2" else self._column :]
            if numbers == "2":
                self._column = min(self._column, 0)

    def _write(self, text: str) -> None:
        line = self._lines[self._row]
        line += [("", " ")] * (self._column - len(line))
        line[self._column : self._column + len(text)] = [(self._style, sign) for sign in text]
        self._column += len(text)


def run(words: list[str]) -> tuple[Screen, int]:
    """Run a command in a terminal of its own; what it shows at the end, and its exit code."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PATH": f"{_here()}:{os.environ['PATH']}"}
        os.environ.pop("NO_COLOR", None)
        os.execvp(words[0], words)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    screen, decoder = Screen(), codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    while True:
        try:
            read = os.read(terminal, 65536)
        except OSError:  # the command has ended
            break
        if not read:
            break
        text = rest + decoder.decode(read)
        cut = _unfinished(text)
        rest = text[cut:]
        screen.feed(text[:cut])
    return screen, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def picture(words: list[str], screen: Screen) -> str:
    """The screen as SVG, in whatever font for programs the reader has."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold green"), (shlex.join(words), "bold")), soft_wrap=True)
    for line in screen.lines():
        console.print(line, soft_wrap=True, highlight=False)
    drawn = console.export_svg(title="", theme=SVG_EXPORT_THEME, unique_id="aliquot")
    drawn = re.sub(r"@font-face\s*\{[^}]*\}", "", drawn)  # rich would fetch a font
    drawn = re.sub(r"font-family: Fira Code, monospace", "font-family: ui-monospace, Menlo, Consolas, monospace", drawn)
    return re.sub(r"[ \t]+\n", "\n", re.sub(r"<!--.*?-->", "", drawn, flags=re.DOTALL))


def _here() -> str:
    return str(Path(sys.executable).parent)


def _unfinished(text: str) -> int:
    """Where an escape sequence begins that has not ended yet; the end of the text if there is none."""
    start = text.rfind("\x1b")
    return start if start >= 0 and re.fullmatch(r"\x1b(\[[0-9;?]*|\][^\x07]*)?", text[start:]) else len(text)


def main() -> int:
    """Record one command; its exit code is ours."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", type=Path, help="SVG file to write")
    parser.add_argument("words", nargs="+", help="the command, after --")
    asked = parser.parse_args()
    screen, code = run(asked.words)
    print("\n".join(line.plain for line in screen.lines()))
    if code == 0:
        asked.picture.write_text(picture(asked.words, screen), "utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
