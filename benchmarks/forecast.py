"""Was a run right about the minutes it had left? What its log foretold beside what it then took.

    python benchmarks/forecast.py RUN

RUN is the folder of a run that was not interrupted. The last minute is left out: who cares by then.
"""

import argparse
from datetime import datetime
from pathlib import Path

TOLERANCE = 0.25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    run = parser.parse_args().run
    began, ended, told = told_by(run)
    print(f"the run took {(ended - began).total_seconds() / 60:.1f} minutes")
    print(f"{'after':>6} {'foretold':>8} {'left':>6} {'ratio':>6}")
    ratios = []
    for when, foretold in told:
        left = (ended - when).total_seconds() / 60
        if left >= 1:
            ratios.append(foretold / left)
            print(f"{(when - began).total_seconds() / 60:>6.1f} {foretold:>8.1f} {left:>6.1f} {ratios[-1]:>6.2f}")
    right = sum(abs(ratio - 1) <= TOLERANCE for ratio in ratios)
    print(f"{right} of {len(ratios)} within {TOLERANCE:.0%}")


def told_by(run: Path) -> tuple[datetime, datetime, list[tuple[datetime, float]]]:
    """When the run began and ended, and when it foretold how many minutes."""
    lines = (run / "private" / "log.txt").read_text("utf-8").splitlines()
    stamped = [(datetime.fromisoformat(line[:19]), line[20:]) for line in lines]
    told = [(when, float(line.split()[1])) for when, line in stamped if line.endswith("minutes left")]
    return stamped[0][0], datetime.fromtimestamp((run / "release").stat().st_mtime), told


if __name__ == "__main__":
    main()
