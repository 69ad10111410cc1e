"""The command ``aliquot``; one module per group of commands, listed here."""

import os
import re
import sys

import typer

from aliquot.cli.check import check
from aliquot.cli.compare import compare
from aliquot.cli.condense import condense, demo
from aliquot.cli.expand import expand
from aliquot.cli.grid import grid
from aliquot.cli.groups import with_options
from aliquot.cli.inspect import cohorts, inspect, resume, version
from aliquot.cli.limits import check_address_space
from aliquot.cli.printing import print_anywhere
from aliquot.cli.release import encode, evaluate
from aliquot.cli.report import report
from aliquot.cli.reproduce import reproduce
from aliquot.cli.transfer import transfer
from aliquot.cli.typing_mistakes import Command
from aliquot.errors import remedy_of

MISTAKE = 2  # exit code for anything that the user can correct
FAILURE = 1  # a mistake of ours

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
    print_anywhere(sys.stdout, sys.stderr)
    try:
        check_address_space()
        app()
    except Exception as error:
        if (remedy := remedy_of(error)) is not None:
            _end(in_options(remedy), MISTAKE)
        if os.environ.get("ALIQUOT_TRACEBACK"):
            raise
        _end(
            f"internal error ({type(error).__name__}); its message is withheld because it could quote patients; "
            "set ALIQUOT_TRACEBACK=1 to see it, and please report it without data",
            FAILURE,
        )


def in_options(sentence: str) -> str:
    """A sentence on arguments of Python, in which they are options of the command; ``…`` stands for their values.

    >>> in_options("leave columns out (drop=[…]), or name the target: target=…")
    'leave columns out (--drop COLUMN), or name the target: --target COLUMN'
    """
    return re.sub(r"\b([a-z_]+)=(?:\[…\]|…)", lambda argument: _option(argument[1]), sentence)


def _option(name: str) -> str:
    for command in typer.main.get_group(app).commands.values():
        for option in command.params:
            if option.name == name and option.param_type_name == "option":
                return f"{option.opts[0]} {option.metavar or ''}".rstrip()
    return f"--{name.replace('_', '-')}"


def _end(sentence: str, code: int) -> None:
    print(f"aliquot: {sentence}", file=sys.stderr)
    sys.exit(code)
