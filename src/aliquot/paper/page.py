"""What is written of a study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from aliquot.paper.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Page:
    """Tables, the numbers behind them, and pictures by name."""

    tables: Sequence[Table]
    frame: pd.DataFrame
    pictures: Mapping[str, "Figure"] = field(default_factory=dict)
