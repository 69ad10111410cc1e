"""What a run gives: synthetic rows, how to train on them, and how well that works."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aliquot.cohort import Cohort, Encoder, SeriesEncoder, Stays
from aliquot.cohort.parts import encode
from aliquot.cohort.series import as_long
from aliquot.errors import SettingsError
from aliquot.evaluate.metrics import row_classes
from aliquot.evaluate.results import Results

if TYPE_CHECKING:
    from aliquot.release.expand import Expansion


@dataclass(frozen=True, eq=False)
class Condensation:
    """Synthetic rows with everything that may leave the building beside them.

    ``rows`` is what models train on; ``readable`` shows the same rows in the units of the source, for people.
    """

    x: np.ndarray = field(repr=False)  # (n, features) or (n, T, features) encoded, float32
    targets: np.ndarray = field(repr=False)  # (n,) or (n, C): classes or soft probabilities
    target: str
    classes: tuple[Any, ...]
    encoder: Encoder | SeriesEncoder = field(repr=False)
    recipe: dict[str, Any] = field(repr=False)  # network, training, labels, calibration: how to train on the rows
    results: Results = field(repr=False)
    settings: dict[str, Any] = field(repr=False)
    history: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    curves: dict[str, Any] | None = field(default=None, repr=False)  # geometry of the curves, where there are any
    notes: tuple[str, ...] = ()  # what the user should know: columns left out, real rows used, …

    @property
    def metrics(self) -> dict[str, Any]:
        """The results as in ``metrics.json``."""
        return self.results.to_json()

    @property
    def codes(self) -> np.ndarray:
        """The class that each row was made for, as code."""
        return row_classes(self.targets)

    @property
    def labels(self) -> np.ndarray:
        """The class that each row was made for, as the source names it."""
        return np.asarray(self.classes)[self.codes]

    @property
    def rows(self) -> pd.DataFrame:
        """Encoded features of the rows, one float32 column each; the steps of series side by side."""
        return pd.DataFrame(self.x.reshape(len(self.x), -1), columns=list(self.encoder.column_names))

    @property
    def readable(self) -> pd.DataFrame:
        """The rows in the columns and units of the source, then the target; series as one line per value."""
        if isinstance(self.encoder, SeriesEncoder):
            series, frame = self.encoder.inverse(self.x)
            return as_long(series, frame.assign(**{self.target: self.labels}))
        return self.encoder.inverse(self.x).assign(**{self.target: self.labels})

    @property
    def table(self) -> pd.DataFrame:
        """Encoded features, then the target; soft labels add one probability column per class."""
        table = self.rows
        if self.soft:
            p = np.column_stack([1 - self.targets, self.targets]) if self.targets.ndim == 1 else self.targets
            for code, name in enumerate(self.classes):
                table[f"{self.target}={name}"] = p[:, code].astype(np.float32)
        table[self.target] = self.labels
        return table

    @property
    def soft(self) -> bool:
        """Whether the labels are probabilities."""
        return not np.isin(self.targets, (0, 1)).all()

    def encode(self, patients: pd.DataFrame | Stays | Cohort) -> pd.DataFrame:
        """New patients as the columns of ``rows``, which models trained on them take; one row each, in their order.

        A table is a DataFrame with the columns of the source. Series are ``Stays``, which need no outcome: those of
        :func:`aliquot.cohort.on_grid`, or ``Stays(table, Series(values, channels))``; or a cohort. Their channels may
        be in any order; ``.to_numpy().reshape(-1, *result.encoder.shape)`` gives (stays, steps, features).
        """
        stays = Stays(patients) if isinstance(patients, pd.DataFrame) else patients
        x = encode(self.encoder, stays)
        return pd.DataFrame(x.reshape(len(x), -1), columns=list(self.encoder.column_names), index=stays.frame.index)

    def expand(self, n: int, seed: int = 0) -> "Expansion":
        """``n`` labelled records around the rows, for models to which so few rows say too little; touches no patient.

        Records are drawn around the rows, and labelled by ten networks trained on them. ``table`` of what is returned
        has the features, then probabilities, class and weight, and ``readable`` the units of the source.
        """
        from aliquot.release.expand import expand

        return expand(self, n, seed=seed)

    def save(self, folder: str | Path, *, allow_real_rows: bool = False) -> Path:
        """Write the release: rows, encoder, recipe, metrics, card, croissant and report.

        Rows that are real patients are written only where ``allow_real_rows`` says that this is meant.
        """
        if self.results.method_facts.selects_rows and not allow_real_rows:
            raise SettingsError(
                f"asked to save rows by {self.results.method!r}, which are real patients; pass allow_real_rows=True "
                "if that is meant"
            )
        from aliquot.release.bundle import write_release

        return write_release(self, Path(folder))

    def _repr_html_(self) -> str:
        from aliquot.release.report import summary_html

        return summary_html(self)
