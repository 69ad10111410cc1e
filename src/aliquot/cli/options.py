"""Options that several commands share, alone and in groups."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aliquot.cli.names import completing, one_of
from aliquot.cli.progress import Silent, StageBars, StageLines, progress_of
from aliquot.presets import BUDGETS, PRESETS
from aliquot.registry import METHODS, NETWORKS, STARTS

if TYPE_CHECKING:
    from aliquot.grid.executors import Executor

LARGEST_SEED = 2**63 - 1
Out = Annotated[Path, typer.Option("--out", help="Folder for this run; new, empty, or the same run to continue.")]
RowsPerClass = Annotated[int, typer.Option(help="Synthetic rows to learn for each outcome class.", min=1)]
Seed = Annotated[int, typer.Option(help="Same seed, same data, same machine: same rows.", min=0, max=LARGEST_SEED)]
Budget = Annotated[
    str,
    typer.Option(
        help="smoke: the whole path in seconds, to try things out; cpu: the best result for minutes; "
        "paper: the paper's iteration counts, hours.",
        metavar="|".join(BUDGETS),
        autocompletion=completing(BUDGETS),
        callback=one_of("budget", BUDGETS),
    ),
]
Preset = Annotated[
    str,
    typer.Option(
        help="default: the recipe that measured best; paper: its numbers literally (also for one dataset, as "
        "paper-mimic3); official: those of each method's released code.",
        metavar="NAME",
        autocompletion=completing(PRESETS),
        callback=one_of("preset", PRESETS),
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        help="Where rows start: gaussian (drawn per class), kmeans (means of groups of patients), spread (the same, "
        "moved apart), noise, real (from real patients; said on the card) or recognised (from those whom the experts "
        "classify rightly).",
        metavar="|".join(STARTS),
        autocompletion=completing(STARTS),
        callback=one_of("start", STARTS),
    ),
]
SettingsFile = Annotated[Path | None, typer.Option("--settings", help="File with settings to change.", metavar="TOML")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change one setting, as in --set match.iterations=500. May be repeated.",
        metavar="NAME=VALUE",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON, and nothing else, on standard output.")]

_NETWORKS = ("auto", *NETWORKS.names)


@dataclass(frozen=True, kw_only=True)
class Output:
    """What is printed while a command runs and when it ends."""

    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results only, no progress.")] = False
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say every second what is going on.")] = False
    json: Json = False

    def progress(
        self, again: str | Callable[[], str] = "the same command"
    ) -> AbstractContextManager[StageBars | StageLines | Silent]:
        """Progress as these options ask for it; ``again`` is the command that continues after Ctrl-C."""
        return progress_of(again, quiet=self.quiet, verbose=self.verbose)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What to learn, and how."""

    rows_per_class: RowsPerClass = 50
    method: Annotated[
        str | None,
        typer.Option(
            help=f"How to condense: {', '.join(METHODS.names)}; trajectory methods also on another path, as in "
            "mtt+bezier. By default the preset's: bfm for tables, btm for series and the paper.",
            metavar="NAME",
            autocompletion=completing(METHODS),
        ),
    ] = None
    preset: Preset = "default"
    budget: Budget = "cpu"
    start: Start = None
    network: Annotated[
        str | None,
        typer.Option(
            help=f"The network to train: {', '.join(NETWORKS.names)}; mlp … are for tables, tcn … and lstm … for "
            "series. By default mlp or tcn.",
            metavar="NAME",
            autocompletion=completing(_NETWORKS),
            callback=one_of("the network", _NETWORKS),
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Where the cells of a grid are run."""

    executor: Annotated[
        str,
        typer.Option(
            help="Where cells are run: local, one after the other; joblib, several processes; ray, several machines. "
            "Results of tables are the same.",
            metavar="local|joblib|ray",
        ),
    ] = "local"
    workers: Annotated[
        int | None, typer.Option(help="How many at once; by default as many as CPUs.", min=1, metavar="N")
    ] = None
    address: Annotated[
        str | None,
        typer.Option(help="The Ray cluster to use; by default one is started here.", metavar="HOST:PORT|auto"),
    ] = None
    store: Annotated[
        str,
        typer.Option(
            help="How Ray's machines share experts: folder, OUT, which all of them see; objects, Ray's object store.",
            metavar="folder|objects",
        ),
    ] = "folder"

    def chosen(self) -> "Executor":
        """The executor of that name."""
        from aliquot.grid.executors import executor_named

        return executor_named(self.executor, workers=self.workers, address=self.address, store=self.store)


def changes_of(options: Any, *more: Any) -> tuple[Any, ...]:
    """What --settings, --set and ``more`` change in the settings, in that order."""
    file = () if options.settings is None else (options.settings,)
    return (*file, *(options.set_ or ()), *more)
