"""The command ``aliquot``; one module per group of commands, listed here."""

import errno
import os
import sys

import typer

from aliquot.cli.check import check
from aliquot.cli.compare import compare
from aliquot.cli.condense import condense, demo
from aliquot.cli.expand import expand
from aliquot.cli.grid import grid
from aliquot.cli.groups import with_options
from aliquot.cli.inspect import cohorts, inspect, resume, version
from aliquot.cli.release import encode, evaluate
from aliquot.cli.report import report
from aliquot.cli.reproduce import reproduce
from aliquot.cli.transfer import transfer
from aliquot.cli.typing_mistakes import Command
from aliquot.errors import AliquotError

MISTAKE = 2  # exit code for anything that the user can correct
FAILURE = 1  # a mistake of ours
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

app = typer.Typer(
    name="aliquot",
    help="Condense clinical datasets: a few synthetic rows on which models train as well as on the whole.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,  # a traceback with local variables would print patients
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    *(demo, check, condense, resume, compare, transfer, encode, evaluate, expand, report),
    *(cohorts, inspect, version, reproduce),
):
    app.command(cls=Command)(with_options(command))
app.add_typer(grid)


def main() -> None:
    """Run the command; mistakes end with one sentence and exit code 2, never with a traceback."""
    try:
        app()
    except AliquotError as error:
        _end(str(error), MISTAKE)
    except OSError as error:
        why = "no space is left" if error.errno in _NO_SPACE else os.strerror(error.errno or 0).lower()
        _end(f"could not read or write a file: {why}; correct that, then run the same command again", MISTAKE)
    except MemoryError:
        _end(
            "this needs more memory than there is; use fewer columns or rows, or a smaller expert.block",
            MISTAKE,
        )
    except Exception as error:
        if os.environ.get("ALIQUOT_TRACEBACK"):
            raise
        _end(
            f"internal error ({type(error).__name__}); its message is withheld because it could quote patients; "
            "set ALIQUOT_TRACEBACK=1 to see it, and please report it without data",
            FAILURE,
        )


def _end(sentence: str, code: int) -> None:
    print(f"aliquot: {sentence}", file=sys.stderr)
    sys.exit(code)
