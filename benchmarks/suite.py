"""The development suite: one recipe on many cohorts, its rows against all patients, for networks and outside models.

    python benchmarks/suite.py --data DIR --out FILE                           # splits 0 and 1, to choose by
    python benchmarks/suite.py --data DIR --splits 2,3,4 --rows 50,10 --out FILE  # the final table
    python benchmarks/suite.py --cohorts support2,rhc --try "match.window=50 match.iterations=400" --out FILE
    python benchmarks/suite.py --table FILE...

DIR holds PhysioNet 2012; tables of other packages need the extra ``suite`` (``make suite``). A split is a seed: of the
patients' parts, of the rows and of all networks. Splits from 2 on are for final tables, and cohorts marked blind have
no say in the choice of a recipe (decision 15). ``--set`` changes every recipe, every ``--try`` makes one more; networks
on all patients are trained as the unchanged preset says, once for all recipes of a split. Lines are appended to FILE as
they come; a stopped suite goes on with the same command. ``--cohorts chosen`` are those that are not blind.
"""

import argparse
import os
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from joblib import Parallel, delayed

from aliquot.grid.executors.threads import limit_threads
from aliquot.run.store import FolderStore
from suite_cohorts import COHORTS
from suite_line import AllPatients, Line, Recipe, measure
from suite_table import markdown, read_lines, write_line

CHOSEN = "chosen"  # the cohorts that may choose a recipe


@dataclass(frozen=True, kw_only=True)
class Split:
    """One split of one cohort, and what is left to measure of it: the piece of work of a process."""

    cohort: str
    seed: int
    left: tuple[tuple[int, Recipe], ...]  # rows per class, recipe
    data: Path | None
    out: Path | None
    store: Path | None

    def lines(self) -> Iterator[Line]:
        """Measure what is left, one line after the other; each is printed and kept as soon as it is there."""
        about = COHORTS[self.cohort]
        cohort = replace(about.read(self.data), split=None)
        with tempfile.TemporaryDirectory() as scratch:
            shared = FolderStore(self.store or Path(scratch))
            rows, recipe = self.left[0]
            full = AllPatients.of(cohort, recipe.request(cohort, rows, self.seed, changed=False), shared)
            for rows, recipe in self.left:
                request = recipe.request(cohort, rows, self.seed)
                try:
                    line = measure(self.cohort, about, cohort, recipe, request, full, shared)
                except Exception:
                    traceback.print_exc()  # the others go on; the same command tries this one again
                    continue
                if self.out is not None:
                    write_line(self.out, line)
                print(shown(line), flush=True)
                yield line


def main() -> None:
    asked = options()
    if asked.table:
        print(markdown([line for path in asked.table for line in read_lines(path)]))
        return
    splits = tuple(work(asked, done=() if asked.out is None else read_lines(asked.out)))
    if asked.jobs == 1:
        found = [line for split in splits for line in split.lines()]
    else:
        pool = Parallel(asked.jobs, backend="loky", pre_dispatch="all", batch_size=1)
        found = [line for lines in pool(delayed(alone)(split) for split in splits) for line in lines]
    lines = found if asked.out is None else read_lines(asked.out)
    print(f"\n{markdown(lines)}" if lines else "nothing to measure")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", default=",".join(COHORTS))
    parser.add_argument("--splits", default="0,1")
    parser.add_argument("--rows", default="50")
    parser.add_argument("--method", default="bfm")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--budget", default="cpu")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--try", action="append", default=[], dest="tries", metavar="NAME=VALUE …")
    parser.add_argument("--data", type=Path, help="folder with PhysioNet 2012")
    parser.add_argument("--out", type=Path, help="file of lines in JSON")
    parser.add_argument("--store", type=Path, help="folder for experts and full-data networks, kept between calls")
    parser.add_argument("--jobs", type=int, default=1, help="processes; each then computes with one thread")
    parser.add_argument("--table", type=Path, nargs="+", help="only print the table of these files")
    asked = parser.parse_args()
    unknown = [name for name in cohorts_of(asked.cohorts) if name not in COHORTS]
    if unknown:
        parser.error(f"unknown cohort {unknown[0]!r}; known: {CHOSEN}, {', '.join(COHORTS)}")
    if asked.data is None and not asked.table and "physionet2012-table" in cohorts_of(asked.cohorts):
        parser.error("physionet2012-table needs --data DIR; or name other cohorts")
    return asked


def cohorts_of(names: str) -> tuple[str, ...]:
    """The cohorts that were asked for."""
    if names == CHOSEN:
        return tuple(name for name, about in COHORTS.items() if not about.blind)
    return tuple(names.split(","))


def work(asked: argparse.Namespace, done: Iterable[Line]) -> Iterator[Split]:
    """What is still to measure, split by split."""
    common = Recipe(method=asked.method, preset=asked.preset, budget=asked.budget, common=tuple(asked.set))
    recipes = [common, *(replace(common, own=tuple(one.split())) for one in asked.tries)]
    sizes, finished = [int(rows) for rows in asked.rows.split(",")], {line.name for line in done}
    for cohort in cohorts_of(asked.cohorts):
        for seed in map(int, asked.splits.split(",")):
            wanted = [(rows, recipe) for rows in sizes for recipe in recipes]
            left = tuple(one for one in wanted if (cohort, seed, one[0], str(one[1])) not in finished)
            if left:
                named = {"data": asked.data, "out": asked.out, "store": asked.store}
                yield Split(cohort=cohort, seed=seed, left=left, **named)


def alone(split: Split) -> list[Line]:
    """The lines of a split in a process with one thread, beside others."""
    limit_threads(1)
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    return list(split.lines())


def shown(line: Line) -> str:
    """A line as it is printed."""
    low, high = line.interval
    clients = " ".join(
        f"{model} {line.client_share(model, trained_on):.1%}"
        for trained_on, scores in line.clients.items()
        for model in scores
    )
    return (
        f"{line.cohort:<20} split {line.split} rows {line.rows:>3}  {line.on_rows.auprc:.4f} of {line.on_all.auprc:.4f}"
        f" = {line.share:6.1%} ({low:.1%} to {high:.1%}), of the bar {line.share_of_bar:.1%}; {clients}; "
        f"slope {line.slope:.2f}, outside {line.outside}, exact {line.exact}; {line.seconds.condensing:.0f} s of "
        f"{line.seconds.total:.0f}  {line.recipe}"
    )


if __name__ == "__main__":
    main()
