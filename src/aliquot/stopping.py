"""Ctrl-C and a polite kill end the command at once, with whole files and one line on how to go on.

A signal is not made an exception here. Compiled work keeps running in threads of its own while Python cleans up after
an exception, and takes the process down with it (exit code 139); and an exception that arrives while some callback
runs is lost. Instead a thread waits for the signal, however long the main thread is inside compiled work, and ends the
process from there.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, kill, a terminal that was closed
SAYING, CLOSING = 2.0, 10.0  # seconds for the last line, and for files that are being written

_farewells: list[Callable[[], None]] = []
_closing: list[Callable[[float], None]] = []


def listen() -> None:
    """Answer signals from now on; one that whoever started the process wants ignored stays ignored.

    To be called once, by the main thread. The first signal counts, later ones change nothing.
    """
    receive, send = os.pipe()
    os.set_blocking(send, False)
    signal.set_wakeup_fd(send, warn_on_full_buffer=False)
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)  # the number is in the pipe by then
    threading.Thread(target=_wait, args=(receive,), name="waits for a signal", daemon=True).start()


@contextmanager
def before_stopping(farewell: Callable[[], None]) -> Iterator[None]:
    """Within the block, ``farewell`` is called when the process is about to stop, in another thread."""
    _farewells.append(farewell)
    try:
        yield
    finally:
        _farewells.remove(farewell)


def close_with(close: Callable[[float], None]) -> None:
    """Have ``close`` called, with the seconds that it may take, after farewells and before the process stops."""
    _closing.append(close)


def _wait(receive: int) -> None:
    number = 0
    while number not in SIGNALS:
        number = os.read(receive, 1)[0]
    # Not here: whoever holds a lock of the terminal may wait for a reader that never comes.
    saying = threading.Thread(target=_say, daemon=True)
    saying.start()
    saying.join(SAYING)
    for close in _closing:
        close(CLOSING)
    os._exit(128 + number)


def leave(code: int) -> NoReturn:
    """End the process now, with an exit code other than 0: compiled work may be running."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # nobody reads it
            stream.flush()
    os._exit(code)


def _say() -> None:
    with suppress(OSError):  # the terminal is gone
        for farewell in reversed(_farewells):
            farewell()
        if not _farewells:
            print("aliquot: stopped; continue with: the same command", file=sys.stderr)
        sys.stdout.flush()
