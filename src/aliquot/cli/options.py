"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from aliquot.cli.names import BUDGETS, COHORTS, METHODS, NETWORKS, PRESETS, STARTS, completing, one_of

Out = Annotated[Path, typer.Option("--out", help="Folder for this run; new, empty, or the same run to continue.")]
RowsPerClass = Annotated[int, typer.Option(help="Synthetic rows to learn for each outcome class.", min=1)]
Seed = Annotated[int, typer.Option(help="Same seed, same data, same machine: same rows.", min=0)]
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
        help="default: the recipe that measured best; paper: its numbers literally (both also for one dataset, as "
        "default-eicu or paper-mimic3); official: those of each method's released code.",
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
NetworkChoice = Annotated[
    str | None,
    typer.Option(
        "--network",
        help="The network to train: mlp, mlp-1 … mlp-4 for tables; tcn, tcn-1, tcn-2, lstm-1, lstm-2 for series. "
        "By default mlp or tcn.",
        metavar="NAME",
        autocompletion=completing(NETWORKS),
        callback=one_of("the network", NETWORKS),
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results only, no progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say every second what is going on.")]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON, and nothing else, on standard output.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change one setting, as in --set match.iterations=500. May be repeated.",
        metavar="NAME=VALUE",
    ),
]
MethodName = Annotated[
    str,
    typer.Option(
        help="How to condense: btm, mtt, tesla, ftd, datm, m3d, dm, dc, kmeans, herding, kcentre, soft-random, random; "
        "trajectory methods also on another path, as in mtt+bezier.",
        metavar="NAME",
        autocompletion=completing(METHODS),
    ),
]
TableFile = Annotated[
    Path | None, typer.Argument(help="Table of patients: .csv, .tsv, .parquet, .feather or .npz.", show_default=False)
]
Target = Annotated[str | None, typer.Option(help="Column with the outcome: two or more classes.")]
CohortName = Annotated[
    str | None,
    typer.Option(
        "--cohort",
        help="A known dataset instead of a table; `aliquot cohorts` lists them.",
        metavar="NAME",
        autocompletion=completing(COHORTS),
    ),
]
CohortPath = Annotated[Path | None, typer.Option("--path", help="The folder of the known dataset.", metavar="DIR")]
Read = Annotated[
    list[str] | None,
    typer.Option("--read", help="Option of the dataset's reader. May be repeated.", metavar="NAME=VALUE"),
]
PatientId = Annotated[
    str | None,
    typer.Option(help="Column that names the patient, when one has several rows.", metavar="COLUMN"),
]
Split = Annotated[
    str | None,
    typer.Option(help="Your own split: a column of train, tuning and held_out.", metavar="COLUMN"),
]
Positive = Annotated[
    str | None,
    typer.Option(help="The class that is the event, where that is not clear.", metavar="CLASS"),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", help="Corrected kinds of columns; `aliquot schema` writes a first one.", metavar="TOML"),
]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out. May be repeated.", metavar="COLUMN")]
SettingsFile = Annotated[Path | None, typer.Option("--settings", help="File with settings to change.", metavar="TOML")]
Licence = Annotated[
    str | None,
    typer.Option(
        help="Source of the patients and its licence or data use agreement, for card and metadata; of a known dataset "
        "it is known.",
        metavar="TEXT",
    ),
]
Subgroup = Annotated[
    list[str] | None,
    typer.Option(
        help="Column, a feature or not, by whose levels results are also told apart; bands of age are told apart "
        "anyway. May be repeated.",
        metavar="COLUMN",
    ),
]
ExecutorName = Annotated[
    str,
    typer.Option(
        "--executor",
        help="Where cells are run: local, one after the other; joblib, several processes; ray, several machines. "
        "Results of tables are the same.",
        metavar="local|joblib|ray",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(help="How many at once; by default as many as CPUs.", min=1, metavar="N"),
]
Address = Annotated[
    str | None,
    typer.Option(help="The Ray cluster to use; by default one is started here.", metavar="HOST:PORT|auto"),
]
SharedStore = Annotated[
    str,
    typer.Option(
        "--store",
        help="How Ray's machines share experts: folder, OUT, which all of them see; objects, Ray's object store.",
        metavar="folder|objects",
    ),
]
