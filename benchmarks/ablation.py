"""The effect of one thing alone, with everything else equal.

    python benchmarks/ablation.py [--study path|precision] [--cohort support2|physionet2012] [--data DIR] [--out DIR]

path: students follow SGD checkpoints, the same trajectories at equal displacement, the straight line, the Bézier curve
with the paper's fit and with ours; each with the first-order and with the full gradient. All else is BTM's default
recipe. precision: MTT with its trajectories kept in single and in half precision.
PhysioNet 2012 is read as a table from DIR; its encoded values are cut at 5 standard deviations, since it has outliers
of more than 1,000. A stopped comparison continues with the same command.
"""

import argparse
from pathlib import Path

from aliquot.cli.progress import progress_of
from aliquot.cli.tables import comparison_tables, console
from aliquot.cohort import Columns
from aliquot.cohort.readers.physionet2012 import DIED, STAY_ID, physionet2012_table
from aliquot.grid.cell import Conditions, Variant, compared_cells
from aliquot.grid.compare import compare_into
from aliquot.run.source import EMBEDDED, Source
from aliquot.stopping import listen

PAPER_FIT = ("curve.steps=300", "curve.learning_rate=0.01", "curve.check_every=0")
PATHS = {  # name of the path: method, settings
    "SGD checkpoints": ("btm+sgd", ()),
    "SGD, equal displacement": ("btm+displacement", ()),
    "straight line": ("btm+linear", ()),
    "Bézier, paper's fit": ("btm", PAPER_FIT),
    "Bézier, default fit": ("btm", ()),
}
GRADIENTS = {"first-order": "slots.gradient=first_order", "full": "slots.gradient=full"}


STUDIES = {
    "path": [
        Variant(f"{path}; {gradient}", method, changes=(*settings, override))
        for gradient, override in GRADIENTS.items()
        for path, (method, settings) in PATHS.items()
    ],
    "precision": [
        Variant(f"mtt, {kind}", "mtt", changes=(f"expert.keep_as={kind}",))
        for kind in ("float32", "float16", "bfloat16")
    ],
}


def source_of(cohort: str, data: Path, out: Path) -> Source:
    """The cohort."""
    if cohort == "support2":
        return Source(file=EMBEDDED)
    table = out.with_name(f"{out.name}-{cohort}.parquet")
    if not table.exists():
        table.parent.mkdir(parents=True, exist_ok=True)
        physionet2012_table(data).to_parquet(table)
    return Source(file=str(table), columns=Columns(target=DIED, patient_id=STAY_ID))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", choices=tuple(STUDIES), default="path")
    parser.add_argument("--cohort", choices=("support2", "physionet2012"), default="support2")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/physionet2012"))
    parser.add_argument("--rows-per-class", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budget", default="cpu")
    parser.add_argument("--out", type=Path, default=None)
    asked = parser.parse_args()
    listen()
    out = asked.out or Path(f"runs/{asked.study}-{asked.cohort}")
    source, conditions = source_of(asked.cohort, asked.data, out), Conditions(budget=asked.budget)
    cells = compared_cells(STUDIES[asked.study], [asked.rows_per_class], range(asked.seeds), conditions)
    with progress_of("the same command", quiet=False) as progress:
        table = compare_into(out, source, cells, progress)
    shown = console(width=140)
    for one in comparison_tables(table):
        shown.print(one)


if __name__ == "__main__":
    main()
