"""All settings of a run: frozen, typed, from presets, budgets, TOML files and ``name=value``."""

import copy
import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from aliquot.cohort import EncoderSettings
from aliquot.cohort.values import LARGEST
from aliquot.errors import FileError, SettingsError, known_names
from aliquot.evaluate.protocol import EvaluationSettings
from aliquot.loading import DEEPEST, MOST_TOML, NotAsWrittenError, content_of, expecting, toml_of
from aliquot.methods import Method, MethodSettings, get_method
from aliquot.networks import Build, Network, get_network, own_network
from aliquot.networks.architecture import small_network
from aliquot.presets import BUDGETS, PRESETS, preset_text
from aliquot.registry import NETWORKS

LARGEST_COUNT = 2**31 - 1
Change = Mapping[str, Any] | str | Path  # nested values, ``section.name=value``, or a TOML file


class Networks(NamedTuple):
    """The network that is trained on the rows, and the one whose training is matched."""

    trained: Network
    matched: Network  # of experts and students

    @property
    def share(self) -> float:
        """Parameters of the matched network, as a share of those of the other."""
        return self.matched.n_parameters / self.trained.n_parameters


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """The network which is trained on the rows, and the one whose training is matched."""

    kind: str = "auto"  # a name of the registry; "auto": mlp for tables, tcn for series
    hidden: tuple[int, ...] = (64,)  # of an MLP
    dropout: float = 0.25  # of an MLP
    matched: Literal["same", "small"] = "same"  # "small": experts and students of a TCN are narrow ones

    def build(self, shape: tuple[int, ...], n_classes: int, own: Build | None = None) -> Networks:
        """Both networks for rows of a shape: those of that name, or the user's own."""
        if own is not None:
            network = own_network(own, shape, n_classes)
            return Networks(network, network)
        network = self.named(self.kind, shape, n_classes)
        small = small_network(self.kind, shape, n_classes) if self.matched == "small" else None
        return Networks(network, network if small is None else small)

    def named(self, name: str, shape: tuple[int, ...], n_classes: int) -> Network:
        """Another network, of the same width where it is an MLP."""
        return get_network(name, shape, n_classes, self.hidden, self.dropout)


@dataclass(frozen=True, kw_only=True)
class Settings(MethodSettings):
    """Everything that decides a result, apart from the data and the seed; defaults are the paper's."""

    network: NetworkSettings = field(default_factory=NetworkSettings)
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)


def load_settings(
    preset: str = "default",
    budget: str = "cpu",
    *,
    method: str | Method | None = None,
    rows_per_class: int = 50,
    series: bool = False,
    changes: Change | Sequence[Change] = (),
) -> Settings:
    """Settings of a method: of a preset at a budget, then with changes, one after the other.

    Without a method, those of the preset's own. For ``series`` over time a preset may have settings and budgets of its
    own, in a section of that name.

    >>> load_settings("paper").match.data_lr
    100.0
    >>> load_settings("paper", method="datm", rows_per_class=200).match.segment.last
    100
    >>> load_settings(changes="match.student_steps=7").match.student_steps
    7
    """
    if budget not in BUDGETS:
        raise SettingsError(f"asked for budget {budget!r}; {known_names(budget, BUDGETS)}")
    method = get_method(method or default_method(preset, series=series))
    values = _of_kind(preset, series=series)
    del values["default_method"]
    methods, budgets = values.pop("method", {}), values.pop("budget", {})
    _merge(values, method.changes)
    _merge(values, _for_rows(methods.get(method.family, {}), rows_per_class))
    _merge(values, budgets.get(budget, {}))
    for change in [changes] if isinstance(changes, Mapping | str | Path) else changes:
        _merge(values, _as_values(change))
    settings = settings_from(values)
    _check_path(method, settings)
    return settings


def default_method(preset: str = "default", *, series: bool = False) -> str:
    """The method that a preset runs unless another is asked for.

    >>> default_method(), default_method("paper")
    ('bfm', 'btm')
    """
    return _of_kind(preset, series=series)["default_method"]


def with_choices(
    settings: Mapping[str, Any] | None = None, *, start: str | None = None, network: object = None
) -> dict[str, Any]:
    """Changes to settings, with a start and a network by name where they were chosen.

    >>> with_choices({"network": {"hidden": [32]}}, network="mlp-2")
    {'network': {'hidden': [32], 'kind': 'mlp-2'}}
    """
    changes: dict[str, Any] = {}
    _merge(changes, settings or {})
    _merge(changes, {} if start is None else {"start": start})
    _merge(changes, {"network": {"kind": network}} if isinstance(network, str) else {})
    return changes


def _check_path(method: Method, settings: Settings) -> None:
    """The path is what a trajectory method is about: it is chosen with the method, not behind its back."""
    own = method.changes.get("slots", {}).get("path", settings.slots.path)
    if own != settings.slots.path:
        raise SettingsError(
            f"asked to set slots.path to {settings.slots.path!r} for the method {method.name!r}; ask for the method "
            f"{method.family}+{settings.slots.path} instead"
        )


def _as_values(change: Change) -> Mapping[str, Any]:
    if isinstance(change, Mapping):
        return change
    return _read_toml(change) if isinstance(change, Path) else _parse_override(change)


def _of_kind(preset: str, *, series: bool) -> dict[str, Any]:
    """The values of a preset for tables, or for series."""
    values = copy.deepcopy(_preset(preset))
    over_time = values.pop("series", {})
    _merge(values, over_time if series else {})
    return values


@cache
def _preset(name: str) -> dict[str, Any]:
    """A shipped preset; one that names a ``base`` changes that one."""
    if name not in PRESETS:
        raise SettingsError(f"asked for preset {name!r}; {known_names(name, PRESETS)}")
    values = tomllib.loads(preset_text(name))
    base = values.pop("base", None)
    if base is None:
        return values
    whole = copy.deepcopy(_preset(base))
    _merge(whole, values)
    return whole


def _for_rows(values: dict[str, Any], rows_per_class: int) -> dict[str, Any]:
    """A method's settings for a number of rows: those of the table's largest ``rows.N`` that is not above it.

    Below the smallest N the smallest holds.
    """
    tables = {int(n): table for n, table in values.pop("rows", {}).items()}
    if tables:
        _merge(values, tables[max((n for n in tables if n <= rows_per_class), default=min(tables))])
    return values


def settings_from(values: dict[str, Any]) -> Settings:
    """Settings from nested dictionaries; an unknown name or an impossible value is an error."""
    settings = _build(Settings, values, "")
    kind = settings.network.kind
    if kind not in ("auto", "own", *NETWORKS):
        raise SettingsError(f"asked to set network.kind to {kind!r}; {known_names(kind, ('auto', *NETWORKS))}")
    return settings


def _read_toml(file: Path) -> dict[str, Any]:
    if not Path(file).is_file():
        raise FileError(f"asked for the settings file {file}, but there is none; check the path")
    with expecting(FileError(f"asked for the settings file {file}, but it is not TOML; check its syntax")):
        return toml_of(content_of(Path(file), MOST_TOML))


def _parse_override(override: str) -> dict[str, Any]:
    """``a.b=1`` as nested dictionaries; the value is TOML, and text without quotes is taken as text."""
    name, equals, text = override.partition("=")
    if not equals or not name.strip():
        raise SettingsError(f"asked to set {override!r}; write section.name=value, as in match.student_steps=20")
    try:
        value = toml_of(f"value = {text}".encode())["value"]
    except NotAsWrittenError:
        value = text.strip()
    *sections, last = name.strip().split(".", DEEPEST)
    nested: dict[str, Any] = {last: value}
    for section in reversed(sections):
        nested = {section: nested}
    return nested


def _merge(values: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for name, change in changes.items():
        if isinstance(change, Mapping):
            inner = values.setdefault(name, {})
            if isinstance(inner, dict):
                _merge(inner, change)
                continue
        values[name] = change


def _build(kind: type, values: dict[str, Any], section: str) -> Any:
    """A settings dataclass from a dictionary, checked name by name."""
    hints = get_type_hints(kind)
    defaults = kind()
    if not isinstance(values, dict):
        raise SettingsError(f"asked to set {section.rstrip('.')!r} to one value, but it is a section; set a name in it")
    for name in values:
        if name not in hints:
            where = f"in section {section.rstrip('.')!r}" if section else "at the top"
            raise SettingsError(f"unknown setting {name!r} {where}; known: {', '.join(sorted(hints))}")
    made = {}
    for name, value in values.items():
        default = getattr(defaults, name)
        if dataclasses.is_dataclass(default):
            made[name] = _build(type(default), value, f"{section}{name}.")
        else:
            made[name] = _checked(value, hints[name], default, section + name)
    return dataclasses.replace(defaults, **made)


def _checked(value: Any, hint: Any, default: Any, name: str) -> Any:
    """The value as the hinted type. Numbers are bounded and not negative; counts with a positive default positive."""
    if get_origin(hint) is Literal:
        if value in get_args(hint):
            return value
        raise SettingsError(f"asked to set {name} to {value!r}; known: {', '.join(map(str, get_args(hint)))}")
    if get_origin(hint) is tuple:
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(_checked(item, get_args(hint)[0], 1, name) for item in items)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not hint:
        raise SettingsError(f"asked to set {name} to {value!r}; it must be of type {hint.__name__}")
    lowest = 1 if hint is int and default > 0 else 0
    largest = LARGEST_COUNT if hint is int else LARGEST
    if hint in (int, float) and not (lowest <= value <= largest):
        raise SettingsError(
            f"asked to set {name} to {value!r}; it must be a finite number of at least {lowest} and at most {largest:g}"
        )
    return value
