"""On which patients should the correction of logits be fitted: tuning, training, or both?

    python benchmarks/calibration.py --cohort support2
    python benchmarks/calibration.py --cohort simulated:uhb --read fraction=0.3 [--splits 3] [--iterations 100]

Per split: scale and offset of networks trained on rows of a short run, and log loss and calibration slope of their
probabilities on patients who were in no fit. The splits are of the patients outside the cohort's own held_out.
"""

import argparse
from dataclasses import replace

from aliquot.cohort import HELD_OUT, encode_parts, split_patients
from aliquot.cohort.embedded import support2
from aliquot.evaluate import score_logits
from aliquot.evaluate.held_out import score_rows
from aliquot.run.request import RequestOptions
from aliquot.run.source import Source
from aliquot.run.stage import Run, run_stages
from aliquot.run.stages.condense import CONDENSE
from aliquot.run.stages.prepare import PREPARE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohort", required=True)
    parser.add_argument("--read", nargs="*", default=[], metavar="NAME=VALUE", help="options of the cohort's reader")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=100)
    asked = parser.parse_args()
    embedded = asked.cohort == "support2"
    read = tuple(tuple(option.split("=")) for option in asked.read)
    cohort = support2() if embedded else Source(file=asked.cohort, cohort=asked.cohort, read_options=read).read()
    known = replace(cohort.take(split_patients(cohort, seed=0) != HELD_OUT), split=None)
    short = {"match": {"iterations": asked.iterations}, "expert": {"count": 4, "pilots": 4, "epochs": 30}}
    for seed in range(1, asked.splits + 1):
        request = RequestOptions(method="bfm", rows_per_class=50, seed=seed, changes=(short,)).request()
        parts = encode_parts(known, seed=seed, settings=request.settings.encoder, rows_per_class=50)
        run = run_stages(Run(request=request, parts=parts), (PREPARE, CONDENSE))
        rows, how = [(run.condensed.x, run.condensed.targets)], replace(request.settings.evaluation, final_networks=5)
        print(f"split {seed}, {parts.tuning.labels.sum():,} tuning patients with the event")
        fits = {"tuning": [parts.tuning], "train": [parts.train], "both": [parts.train, parts.tuning]}
        for name, patients in fits.items():
            fitted, logits = score_rows(run.networks.trained, how, parts, rows, run.keys, correct_on=patients)
            found = score_logits(parts.held_out.labels, logits, fitted)
            print(
                f"{name:>7}  scale {fitted.scale:.3f}  offset {fitted.offset:+.3f}  "
                f"log loss {found.log_loss.mean:.5f}  slope {found.calibration_slope.mean:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
