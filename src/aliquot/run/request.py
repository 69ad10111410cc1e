"""What is asked of a run, apart from the data."""

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from aliquot.identity import checksum_text, identity
from aliquot.loading import Positive, typed
from aliquot.methods import REAL_STARTS, Method, get_method
from aliquot.networks import Build
from aliquot.presets.settings import Change, Settings, default_method, load_settings, settings_from

PROTOCOL = ("network", "encoder", "evaluation")  # sections of the settings that decide every result


class _Plan(TypedDict):
    method: str
    rows_per_class: Positive
    seed: Annotated[int, Meta(ge=0)]
    preset: str
    budget: str
    settings: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Request:
    """How to condense: settings, method, size and seed. ``preset`` and ``budget`` only say where settings come from."""

    settings: Settings
    method: str | Method
    rows_per_class: int = 50
    seed: int = 0
    preset: str = "default"
    budget: str = "cpu"
    network: Build | None = field(default=None, repr=False)  # the user's own, instead of the one that settings name

    @property
    def chosen(self) -> Method:
        """The method as a value."""
        return get_method(self.method)

    @property
    def real_rows(self) -> bool:
        """Whether the rows are, or start from, real patients."""
        method = self.chosen
        return method.selects_rows or (method.uses_start and self.settings.start in REAL_STARTS)

    def decisive(self) -> dict[str, Any]:
        """All that decides the rows and their scores, apart from the data."""
        protocol = {name: getattr(self.settings, name) for name in PROTOCOL}
        own = {} if self.network is None else {"own network": _code(self.network)}
        asked = {"rows_per_class": self.rows_per_class, "seed": self.seed}
        return {**protocol, **own, **asked, **self.chosen.decisive(self.settings)}

    def name(self, data: str, *more: Any) -> str:
        """The name of the run on data of a fingerprint; ``more`` decides what is released beside the rows."""
        return identity("run", data, self.decisive(), more)

    def to_plan(self) -> dict[str, Any]:
        """Plain values that :meth:`from_plan` reads back; a method is named, so that it must be registered."""
        plan = {name: getattr(self, name) for name in ("rows_per_class", "seed", "preset", "budget")}
        return {"method": self.chosen.name, **plan, "settings": asdict(self.settings)}

    @classmethod
    def from_plan(cls, plan: dict[str, Any]) -> "Request":
        """The request that a plan holds; a setting that is newer than the plan has its default."""
        asked = typed(plan, _Plan)
        return cls(**{**asked, "settings": settings_from(asked["settings"])})


@dataclass(frozen=True, kw_only=True)
class RequestOptions:
    """A request as a user words it; the settings follow once it is known whether the patients are series."""

    method: str | Method | None = None  # None: the preset's own
    rows_per_class: int = 50
    seed: int = 0
    preset: str = "default"
    budget: str = "cpu"
    changes: tuple[Change, ...] = ()
    network: Build | None = None

    def request(self, *, series: bool = False) -> Request:
        """The request for a table or for series over time."""
        asked = {name: getattr(self, name) for name in ("rows_per_class", "preset", "budget")}
        asked["method"] = self.method or default_method(self.preset, series=series)
        settings = load_settings(**asked, series=series, changes=self.changes)
        return Request(settings=settings, seed=self.seed, network=self.network, **asked)


def _code(build: Build) -> str:
    code = getattr(build, "__code__", None)
    return checksum_text(repr(build) if code is None else f"{code.co_code!r}{code.co_consts!r}{code.co_names!r}")
