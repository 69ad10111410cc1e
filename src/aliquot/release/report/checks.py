"""What a custodian asks first, each question with its answer; what must be heeded comes before what is fine."""

from dataclasses import dataclass
from typing import Any

from aliquot.release.condensation import Condensation
from aliquot.release.report import facts

NO_FORMAL = (
    "No formal privacy guarantee, no differential privacy; no attack was tried. "
    "Treat the bundle as derived from patient data."
)
WELL = 0.97  # of what all patients reach


@dataclass(frozen=True)
class Check:
    """A question, its answer, and whether it must be heeded."""

    question: str
    answer: str
    heed: bool
    loud: bool = False
    section: str | None = None  # where more is said


def checks(result: Condensation) -> list[Check]:
    """The answers of a condensation."""
    metrics = result.metrics
    found = [
        _real(result),
        Check("Is there a guarantee?", NO_FORMAL, heed=True),
        _better_than_chance(metrics),
        _classes(result),
        _chosen(metrics),
        _groups(metrics),
        _copies(metrics),
        _range(metrics),
    ]
    return sorted((check for check in found if check is not None), key=lambda check: (not check.loud, not check.heed))


def _real(result: Condensation) -> Check:
    asked = "Is a row a patient?"
    if facts.uses_real_rows(result):
        return Check(asked, facts.origin(result), heed=True, loud=True, section="making")
    grouped = {"kmeans", "spread"} & {result.metrics["method"], result.metrics.get("start")}
    means = " Rows began as means of groups of patients, which may be as few as two." if grouped else ""
    return Check(asked, f"No: none is, or began as, one patient's record.{means}", heed=False, section="making")


def _better_than_chance(metrics: dict[str, Any]) -> Check | None:
    ours, chance = metrics["held_out"]["aliquot"]["auprc"]["mean"], metrics["held_out"].get("random")
    if chance is None or metrics["method"] == "random" or ours > chance["auprc"]["mean"]:
        return None
    return Check("Was it worth it?", facts.NOT_BETTER, heed=True)


def _classes(result: Condensation) -> Check:
    counts = result.metrics["data"]["train"]
    few = [facts.few_patients(name, n) for name, n in zip(result.classes, counts, strict=True) if facts.are_few(n)]
    if few:
        return Check("Enough patients?", " ".join(few), heed=True, section="making")
    fewest = min(int(n) for n in counts)
    return Check(
        "Enough patients?", f"Yes: every class has {facts.FEW_PATIENTS} or more, the smallest {fewest:,}.", heed=False
    )


def _chosen(metrics: dict[str, Any]) -> Check | None:
    learning = metrics.get("learning") or {}
    if len(learning.get("judged_at", ())) < facts.FEWEST_LOOKS:
        return None
    noise = facts.within_noise(metrics)
    said = (
        "No: on tuning patients they stand out by more than networks differ." if noise is None else f"Perhaps, {noise}."
    )
    return Check("Chosen by luck?", said, heed=noise is not None, section="learning")


def _groups(metrics: dict[str, Any]) -> Check:
    scored = [
        (column, group)
        for column, groups in (metrics.get("subgroups") or {}).items()
        for group in groups
        if "aliquot" in group
    ]
    if not scored:
        return Check("For whom less well?", facts.NO_SUBGROUPS, heed=True)
    column, worst = min(scored, key=lambda pair: _behind(pair[1]))
    ours, whole = (worst[key]["auroc"]["mean"] for key in ("aliquot", "full_best_epoch"))
    return Check(
        "For whom less well?",
        f"Of {len(scored)} groups most for {column} = {worst['name']}: AUROC {ours:.3f}, all patients {whole:.3f}.",
        heed=ours < WELL * whole,
        section="subgroups",
    )


def _behind(group: dict[str, Any]) -> float:
    return group["aliquot"]["auroc"]["mean"] - group["full_best_epoch"]["auroc"]["mean"]


def _copies(metrics: dict[str, Any]) -> Check | None:
    copying = metrics.get("copying")
    if not copying:
        return None
    rows = sum(copying["histogram"]["rows"])
    said = (
        f"First look, no proof: {copying['equal']} of {rows:,} rows equal a training patient, "
        f"{copying['nearer']} are unusually near."
    )
    heed = bool(copying["equal"]) or copying["nearer"] > 2 * copying["level"] * rows
    return Check("Near copies?", said, heed=heed, section="copying")


def _range(metrics: dict[str, Any]) -> Check | None:
    outside = metrics.get("outside_range")
    if not outside or not outside["of"]:
        return None
    share = facts.percent(outside["values"] / outside["of"], 1)
    said = f"{outside['values']:,} of {outside['of']:,} numbers ({share}) lie outside the range of training patients."
    return Check("Plausible values?", said, heed=outside["values"] > 0, section="features")
