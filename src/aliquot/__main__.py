"""The command ``aliquot``, also ``python -m aliquot``: signals are answered before anything else is loaded."""

from aliquot.stopping import leave, listen


def main() -> None:
    """Run the command as a process of its own."""
    listen()
    from aliquot.cli import main as run

    try:
        run()
    except SystemExit as end:
        if isinstance(end.code, int) and end.code != 0:
            leave(end.code)
        raise


if __name__ == "__main__":
    main()
