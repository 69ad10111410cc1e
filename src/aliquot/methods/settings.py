"""How methods are set: each part of a method has a section."""

from dataclasses import dataclass, field
from typing import Literal

from aliquot.curves import CurveSettings
from aliquot.experts import ExpertSettings
from aliquot.matching import DistributionSettings, GradientSettings, MatchSettings, Slots


@dataclass(frozen=True, kw_only=True)
class MethodSettings:
    """Where rows start, and the sections of the methods; defaults are the paper's for BTM."""

    start: Literal["real", "recognised", "gaussian", "kmeans", "spread", "noise"] = (
        "real"  # methods/start.py says what each means
    )
    slots: Slots = field(default_factory=Slots)  # of trajectory matching
    expert: ExpertSettings = field(default_factory=ExpertSettings)
    curve: CurveSettings = field(default_factory=CurveSettings)
    match: MatchSettings = field(default_factory=MatchSettings)
    distribution: DistributionSettings = field(default_factory=DistributionSettings)  # of M3D and DM
    gradients: GradientSettings = field(default_factory=GradientSettings)  # of DC
