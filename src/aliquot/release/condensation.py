"""What a run gives: synthetic rows, how to train on them, and how well that works."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aliquot.cohort import Cohort, Encoder, SeriesEncoder, Stays
from aliquot.cohort.parts import encode
from aliquot.cohort.series import as_long
from aliquot.errors import SettingsError
from aliquot.evaluate.labels import WEIGHT, LabelLines, lines_of, probabilities_of, with_labels
from aliquot.evaluate.metrics import row_classes
from aliquot.evaluate.results import Results

if TYPE_CHECKING:
    from aliquot.release.expand import Expansion


@dataclass(frozen=True, eq=False)
class Condensation:
    """Synthetic rows with everything that may leave the building beside them.

    ``model.fit(rows, labels, sample_weight=weights)`` trains any model; ``readable`` shows the same in the units of the
    source, for people. A row with a soft label stands in these once per class, weighted by its probability; ``x`` and
    ``targets`` hold each row once.
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
        """The class that each of ``x`` was made for, as code."""
        return row_classes(self.targets)

    @property
    def rows(self) -> pd.DataFrame:
        """Encoded features, one float32 column each, the steps of series side by side; aligned with ``labels``."""
        x = self.x.reshape(len(self.x), -1)
        return pd.DataFrame(x[self._lines.row], columns=list(self.encoder.column_names))

    @property
    def labels(self) -> np.ndarray:
        """The class of each of ``rows``, as the source names it."""
        return np.asarray(self.classes)[self._lines.code]

    @property
    def weights(self) -> np.ndarray:
        """The weight of each of ``rows``: the probability of its class; 1 where labels are hard."""
        return self._lines.weight

    @property
    def readable(self) -> pd.DataFrame:
        """The columns of ``table`` with features in the columns and units of the source.

        Series have one line per value, and each row once, with the class that it was made for.
        """
        if isinstance(self.encoder, SeriesEncoder):
            series, frame = self.encoder.inverse(self.x)
            made_for = np.asarray(self.classes)[self.codes]
            return as_long(series, frame.assign(**self._probabilities, **{self.target: made_for}))
        return self._with_labels(self.encoder.inverse(self.x))

    @property
    def table(self) -> pd.DataFrame:
        """``rows`` and the target; soft labels add one probability per class before it, and the weight after it."""
        x = self.x.reshape(len(self.x), -1)
        return self._with_labels(pd.DataFrame(x, columns=list(self.encoder.column_names)))

    @cached_property
    def _lines(self) -> LabelLines:
        return lines_of(self.targets)

    @property
    def _probabilities(self) -> dict[str, np.ndarray]:
        """Probabilities of ``x`` by the names of their columns, where labels are soft."""
        names = [f"{self.target}={name}" for name in self.classes] if self.soft else []
        return dict(zip(names, probabilities_of(self.targets).T, strict=False))

    def _with_labels(self, features: pd.DataFrame) -> pd.DataFrame:
        weight = self.weight_name if self.soft else None
        return with_labels(features, self.targets, self.target, self.classes, weight=weight)

    @property
    def weight_name(self) -> str:
        """The column of weights in ``table`` and ``readable``, where labels are soft."""
        return self.recipe["labels"].get("weight", WEIGHT)

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
