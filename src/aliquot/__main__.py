"""The command ``aliquot``, also ``python -m aliquot``: signals are answered before anything else is loaded."""

import os
import sys

from aliquot.stopping import leave, listen


def main() -> None:
    """Run the command as a process of its own."""
    _open_closed_streams()
    listen()
    from aliquot.cli import main as run

    try:
        run()
    except SystemExit as end:
        if isinstance(end.code, int) and end.code != 0:
            leave(end.code)
        raise


def _open_closed_streams() -> None:
    """Whoever closed standard streams (``2>&-``) hears nothing, and no file of ours gets their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 before all imports


if __name__ == "__main__":
    main()
