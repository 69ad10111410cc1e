"""Quality on SUPPORT2 over several splits: held-out AUPRC as a share of full data at its best epoch.

    python benchmarks/quality.py [--seeds 5] [--presets default,paper] [--out FILE.json]

One seed is one split, one set of experts, one set of evaluation networks. Cases of one seed and preset share experts,
curves and full-data networks; results are printed as they come and written to FILE after each.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from aliquot.cohort.embedded import support2
from aliquot.context import Context, InMemoryStore
from aliquot.run.pipeline import PIPELINE
from aliquot.run.request import RequestOptions
from aliquot.run.stage import Run, run_stages

CASES = [  # preset, rows per class, start, share of full data that is asked for
    ("default", 50, "gaussian", 0.98),
    ("default", 50, "real", 0.98),
    ("default", 10, "gaussian", 0.95),
    ("default", 10, "real", 0.95),
    ("paper", 50, "real", None),
    ("paper", 10, "real", None),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--presets", default="default,paper")
    parser.add_argument("--budget", default="cpu")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    cases = [case for case in CASES if case[0] in asked.presets.split(",")]
    results = []
    for seed in range(asked.seeds):
        shared = {preset: InMemoryStore() for preset, *_ in cases}
        for preset, rows, start, _ in cases:
            results.append(measure(seed, preset, rows, start, asked.budget, shared[preset]))
            print("  ".join(f"{name} {value}" for name, value in results[-1].items()), flush=True)
            if asked.out:
                asked.out.write_text(json.dumps(results, indent=1))
    print_means(results, cases)


def measure(seed: int, preset: str, rows: int, start: str, budget: str, shared: InMemoryStore) -> dict:
    """Held-out AUPRC of one case on one split."""
    options = RequestOptions(rows_per_class=rows, seed=seed, preset=preset, budget=budget, changes=({"start": start},))
    run = Run(cohort=support2(), request=options.request(), context=Context(shared=shared))
    results = run_stages(run, PIPELINE).condensation.results
    auprc = {name: round(scores.auprc.mean, 4) for name, scores in results.held_out.by_source().items()}
    return {"seed": seed, "preset": preset, "rows": rows, "start": start, **auprc, "at": results.tuning.best_iteration}


def print_means(results: list[dict], cases: list[tuple]) -> None:
    """One line per case: means over seeds, spread, and whether the goal is reached."""
    print(f"\n{'case':<26} {'random':>7} {'Aliquot':>15} {'full best':>9} {'full fixed':>10} {'share':>7}  goal")
    for preset, rows, start, goal in cases:
        chosen = [r for r in results if (r["preset"], r["rows"], r["start"]) == (preset, rows, start)]
        random, ours, best, fixed = (
            np.array([r[name] for r in chosen]) for name in ("random", "aliquot", "full_best_epoch", "full")
        )
        share = ours.mean() / best.mean()
        verdict = "" if goal is None else f"≥ {goal:.0%} {'reached' if share >= goal else 'MISSED'}"
        spread = ours.std(ddof=1) if len(ours) > 1 else 0.0
        print(
            f"{preset:<8} {rows:>3} {start:<13} {random.mean():7.3f} {ours.mean():7.4f} ± {spread:.4f} "
            f"{best.mean():9.4f} {fixed.mean():10.4f} {share:7.1%}  {verdict}"
        )


if __name__ == "__main__":
    main()
