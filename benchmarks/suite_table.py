"""Lines of the development suite in a file, and as a table in Markdown."""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from suite_line import Line

KEY = """\
† blind: had no say in any choice. Share: AUPRC of networks on the rows over that of networks on all patients, mean of
the splits; its interval is that of held-out patients. Worst: the lowest share of a split. The bar: the best of network,
logistic regression and gradient boosting on all patients. Other models: each on the rows as weighted rows, over itself
on all patients. Slope: of calibration, after the recipe's correction. Outside: numbers of the rows outside the training
patients' range. Exact: rows.csv, read and encoded, is rows.parquet. Condensing: without experts that an earlier recipe
or the networks on all patients had trained. In all: with the evaluation and all models on all patients, which recipes
of a split share."""


def write_line(path: Path, line: Line) -> None:
    """Append a line to the file, after whatever a killed suite left unfinished there."""
    with path.open("ab+") as file:
        torn = file.tell() > 0 and file.seek(-1, 2) >= 0 and file.read(1) != b"\n"
        file.write(b"\n" * torn + json.dumps(line.to_json()).encode() + b"\n")


def read_lines(path: Path) -> list[Line]:
    """All whole lines of a file; none where there is no file. Of lines of one name the last one counts."""
    found: dict[tuple[str, int, int, str], Line] = {}
    for text in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            line = Line.from_json(json.loads(text))
        except ValueError:  # a killed suite was writing it
            continue
        found[line.name] = line
    return list(found.values())


def markdown(lines: Sequence[Line]) -> str:
    """A table for each recipe and number of rows: one line per cohort, then means of the cohorts."""
    kinds: dict[tuple[str, int], list[Line]] = {}
    for line in lines:
        kinds.setdefault((line.recipe, line.rows), []).append(line)
    tables = [_table(recipe, rows, some) for (recipe, rows), some in kinds.items()]
    return "\n\n".join([*tables, KEY])


def pooled_interval(shares: Sequence[float], intervals: Iterable[Sequence[float]]) -> tuple[float, float]:
    """The interval of the mean of several shares, each with its own; as of independent estimates.

    >>> low, high = pooled_interval([0.9, 1.1], [(0.87, 0.93), (1.06, 1.14)])
    >>> round(low, 3), round(high, 3)
    (0.975, 1.025)
    """
    mean, ends = np.mean(shares), np.array(list(intervals))
    below, above = (np.sqrt(np.sum((ends[:, side] - shares) ** 2)) / len(ends) for side in (0, 1))
    return float(mean - below), float(mean + above)


def _table(recipe: str, rows: int, lines: Sequence[Line]) -> str:
    cohorts = [[line for line in lines if line.cohort == name] for name in dict.fromkeys(x.cohort for x in lines)]
    blind = [one for one in cohorts if one[0].blind]
    means = [("**mean of the blind**", blind)] if 0 < len(blind) < len(cohorts) else []
    body = [_entry(one) for one in cohorts] + [_mean(name, some) for name, some in [*means, ("**mean**", cohorts)]]
    head = list(body[0])
    listed = [head, ["---", *["--:"] * (len(head) - 1)], *([entry[name] for name in head] for entry in body)]
    return "\n".join([f"`{recipe}`, {rows} rows per class\n", *(f"| {' | '.join(cells)} |" for cells in listed)])


def _entry(lines: Sequence[Line]) -> dict[str, str]:
    """One cohort, by the heads of the columns."""
    first, shares = lines[0], [line.share for line in lines]
    low, high = pooled_interval(shares, [line.interval for line in lines])
    sampled = "" if first.sampled == 1 else f" ({first.sampled:.0%})"
    auroc = (_over(lines, lambda line: line.on_all.auroc), _over(lines, lambda line: line.on_rows.auroc))
    exact = sum(line.exact is True for line in lines)
    return {
        "cohort": f"{first.cohort}{sampled}{' †' if first.blind else ''}",
        "patients": f"{first.patients:,}",
        "features": str(first.features),
        "held-out events": f"{_over(lines, lambda line: line.positives):.0f}",
        "splits": ", ".join(str(seed) for seed in sorted(line.split for line in lines)),
        "AUPRC on all": f"{_over(lines, lambda line: line.on_all.auprc):.3f}",
        "on rows": f"{_over(lines, lambda line: line.on_rows.auprc):.3f}",
        "share (95 %)": f"{100 * np.mean(shares):.1f} ({100 * low:.1f}–{100 * high:.1f})",
        "worst": f"{100 * min(shares):.1f}",
        "AUROC on all, on rows": "{:.3f}, {:.3f}".format(*auroc),
        **{name: f"{100 * _over(lines, share):.1f}" for name, share in _other_shares(first).items()},
        "slope": f"{_over(lines, lambda line: line.slope):.2f}",
        "outside": f"{_over(lines, lambda line: line.outside):.0f}",
        "exact": "–" if first.exact is None else f"{exact} of {len(lines)}",
        "condensing, s": f"{_over(lines, lambda line: line.seconds.condensing):.0f}",
        "networks on all, s": f"{_over(lines, lambda line: line.seconds.networks):.0f}",
        "in all, s": f"{_over(lines, lambda line: line.seconds.total):.0f}",
    }


def _mean(name: str, cohorts: Sequence[Sequence[Line]]) -> dict[str, str]:
    """Means over cohorts, each counting once; the worst split is that of all."""
    shares = {"share (95 %)": lambda line: line.share, **_other_shares(cohorts[0][0])}
    means = {head: np.mean([_over(one, share) for one in cohorts]) for head, share in shares.items()}
    worst = min(line.share for one in cohorts for line in one)
    empty, shown = dict.fromkeys(_entry(cohorts[0]), ""), {head: f"{100 * mean:.1f}" for head, mean in means.items()}
    return {**empty, **shown, "cohort": name, "worst": f"{100 * worst:.1f}"}


def _other_shares(line: Line) -> dict[str, Callable[[Line], float]]:
    """The shares beside that of networks, by the heads of their columns: of the bar, and of every outside model."""
    models = [(trained_on, model) for trained_on, scores in line.clients.items() for model in scores]
    named = {f"{model}, {on}": partial(Line.client_share, model=model, trained_on=on) for on, model in models}
    return {"of the bar": lambda line: line.share_of_bar, **named}


def _over(lines: Sequence[Line], figure: Callable[[Line], float]) -> float:
    """The mean of a figure over the splits of a cohort."""
    return float(np.mean([figure(line) for line in lines]))
