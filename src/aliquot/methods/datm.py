"""DATM: Difficulty-Aligned Trajectory Matching (Guo et al., ICLR 2024).

As MTT with GSAM experts, but

* the start epoch lies in a window [T⁻, U) that grows, U = min(T⁺, T + ⌊(T⁺ - T) · iteration / Q⌋): few rows learn from
  the experts' easy early epochs, many rows from late ones (``match.segment``: first, until, last, expansion);
* a gate: iterations with L above a threshold move nothing;
* in the official code, label logits are learned beside the rows, starting from the experts' own, and rows start from
  patients that the experts recognise; the paper keeps labels hard (presets ``official`` and ``paper``).
"""

from aliquot.matching import Slots
from aliquot.methods.trajectory import trajectory_method

DATM = trajectory_method(
    "datm",
    "Difficulty-Aligned Trajectory Matching (DATM)",
    Slots(path="sgd", experts="gsam", gradient="full", labels="hard", gate=1.0),
)
