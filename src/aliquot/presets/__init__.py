"""Settings: typed, from shipped presets at a budget, TOML files and single changes.

A preset is a TOML file in this folder; to add one is to add a file. This module imports nothing heavy, so that the
command line can list presets and budgets at once.
"""

from importlib.resources import files

BUDGETS = ("smoke", "cpu", "paper")
_FIRST = ("default", "paper", "official")


def preset_text(name: str) -> str:
    """The TOML of a shipped preset."""
    return files(__name__).joinpath(f"{name}.toml").read_text("utf-8")


def _names() -> tuple[str, ...]:
    """Names of the shipped presets, a family after the other, its general one first."""
    found = [entry.name.removesuffix(".toml") for entry in files(__name__).iterdir() if entry.name.endswith(".toml")]
    return tuple(sorted(found, key=lambda name: (_FIRST.index(name.partition("-")[0]), name)))


PRESETS = _names()
