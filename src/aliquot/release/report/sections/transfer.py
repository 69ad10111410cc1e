"""Do the rows train other kinds of models too? Each trained once on rows, records around them, patients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aliquot.cohort import Part
from aliquot.evaluate.evidence import Evidence, TrainingSet
from aliquot.evaluate.other_models import MODELS, WITHOUT_WEIGHTS, ModelScores, ModelTransfer, transfer_metrics
from aliquot.evaluate.protocol import hard_targets
from aliquot.evaluate.record import Record
from aliquot.evaluate.results import Results
from aliquot.release.condensation import Condensation
from aliquot.release.expand import records_around
from aliquot.release.report import facts
from aliquot.release.report.dots import SHORT_NAMES, SOURCE_COLOURS, SOURCE_MARKS, named_lines
from aliquot.release.report.section import Section
from aliquot.release.report.svg import Colour, Drawing, canvas, drawing, styled
from aliquot.seeds import generator, integer

MOST_TRAINED = 20_000  # of all, on whom other models are trained
_SETS = {
    "random": "random real rows",
    "aliquot": "these rows",
    "expanded": "records around them",
    "full": "all patients",
}


@dataclass(frozen=True)
class _Result(Record):
    transfer: Mapping[str, ModelTransfer]  # by kind of model
    transfer_patients: int | None = None  # as many of all patients were drawn; None: all took part
    transfer_records: int | None = None  # drawn around the rows


def _measure(evidence: Evidence) -> _Result:
    held_out, key, records = evidence.parts.held_out, evidence.keys["transfer"], evidence.expanded_records
    patients = some_patients(evidence.parts.train, generator(key))
    data = {
        "random": evidence.draws[0],
        "aliquot": (evidence.x, evidence.targets),
        "expanded": _expanded(evidence),
        "full": (patients.x, hard_targets(patients.labels, evidence.network.n_classes)),
    }
    evidence.progress.stage("other models", len(MODELS))
    result = {}
    for name in MODELS:
        scores: dict[str, Any] = {
            source: transfer_metrics(name, x, targets, held_out.x, held_out.labels, seed=integer(key))
            for source, (x, targets) in data.items()
            if not (source == "expanded" and name in WITHOUT_WEIGHTS)
        }
        result[name] = ModelTransfer(**scores).rounded(evidence.decimals)
        evidence.progress.advance()
    capped = len(patients.labels) < len(evidence.parts.train.labels)
    return _Result(result, MOST_TRAINED if capped else None, records)


def _expanded(evidence: Evidence) -> TrainingSet:
    return records_around(
        evidence.training,
        evidence.parts.encoder,
        (evidence.x, evidence.targets),
        evidence.expanded_records,
        key=evidence.keys["transfer"],
        progress=evidence.progress,
    )


def some_patients(train: Part, rng: np.random.Generator, most: int = MOST_TRAINED) -> Part:
    """All training patients, or about as many as ``most``, of each class its share and at least one."""
    n = len(train.labels)
    if n <= most:
        return train
    order = rng.permutation(n)
    classes = (order[train.labels[order] == code] for code in np.unique(train.labels))
    chosen = np.sort(np.concatenate([members[: max(1, round(most * len(members) / n))] for members in classes]))
    return Part(train.x[chosen], train.labels[chosen])


def transfer_in(results: Results) -> Mapping[str, ModelTransfer]:
    """The other kinds of models that results hold, by name; may be empty."""
    return SECTION.read(results).transfer


def weak_models(results: Results) -> list[str]:
    """Kinds of model that gained nothing from these rows over as many random ones."""
    pairs = ((model, found.aliquot, found.random) for model, found in transfer_in(results).items())
    return [model for model, ours, random in pairs if random is not None and ours.auprc <= random.auprc]


def transfer_table(results: Results) -> list[list[str]]:
    """Scores of other models by what they were trained on; may be empty."""
    models = transfer_in(results)
    if not models:
        return []
    there = [source for source in _SETS if any(getattr(found, source) for found in models.values())]
    table = [["model", *(f"{metric}, {_SETS[source]}" for metric in ("AUPRC", "AUROC") for source in there)]]
    for model, found in models.items():
        sets = [getattr(found, source) for source in there]
        cells = [facts.three_digits(getattr(one, metric, None)) for metric in ("auprc", "auroc") for one in sets]
        table.append([model, *cells])
    return table


def _content(result: Condensation) -> dict[str, Any]:
    measured = SECTION.read(result.results)
    models = measured.transfer
    return {
        "patients": measured.transfer_patients,
        "records": measured.transfer_records,
        "series": result.x.ndim == 3,
        "rows": transfer_table(result.results),
        "figures": [_figure(models, metric) for metric in ("auprc", "auroc")] if models else [],
    }


def _figure(models: Mapping[str, ModelTransfer], metric: str) -> Drawing:
    """One line per kind of model: trained on random rows, on these rows, on all patients."""
    means = {model: _by_source(found, metric) for model, found in models.items()}
    with styled():
        figure, axes = canvas(height=1.05 + 0.33 * len(models))
        for place, found in enumerate(means.values()):
            values = list(found.values())
            axes.plot([min(values), max(values)], [place, place], color=Colour.INK, alpha=0.25, linewidth=1.5, zorder=1)
            for key in ("random", "full", "expanded", "aliquot"):
                if key in found:
                    look = {"color": SOURCE_COLOURS[key], "markersize": 7 if key == "aliquot" else 6}
                    axes.plot(found[key], place, SOURCE_MARKS[key], label=_SETS[key] if place == 0 else None, **look)
        named_lines(axes, list(models))
        axes.set_xlabel(f"{metric.upper()}, held-out patients")
        handles, names = axes.get_legend_handles_labels()
        order = [place for name in _SETS.values() for place in _where(names, name)]
        handles, names = [handles[place] for place in order], [names[place] for place in order]
        beside = {"columnspacing": 1.2, "handletextpad": 0.2, "borderaxespad": 0}
        figure.legend(handles, names, loc="outside upper left", ncols=2, **beside)
        return drawing(
            figure,
            name=f"transfer-{metric}",
            title=f"{metric.upper()} of other kinds of models",
            description="; ".join(
                f"{model}: " + ", ".join(f"{SHORT_NAMES[key]} {mean:.3f}" for key, mean in found.items())
                for model, found in means.items()
            ),
            caption=f"{metric.upper()} of other kinds of models",
        )


def _by_source(found: ModelTransfer, metric: str) -> dict[str, float]:
    scores: dict[str, ModelScores | None] = {source: getattr(found, source) for source in _SETS}
    return {source: getattr(one, metric) for source, one in scores.items() if one is not None}


def _where(names: Sequence[str], name: str) -> list[int]:
    return [place for place, one in enumerate(names) if one == name]


SECTION = Section(
    key="transfer",
    title="Other kinds of models",
    order=50,
    result=_Result,
    measure=_measure,
    content=_content,
)
