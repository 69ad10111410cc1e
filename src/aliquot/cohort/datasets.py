"""Datasets that Aliquot knows how to read: what to download, where it goes, under which licence.

Each reader has its :class:`Dataset` in its own file; ``aliquot.registry.READERS`` lists them by name, and another
package adds its own there through an entry point. ``aliquot cohorts`` prints the list.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aliquot.cohort.options import Option
from aliquot.cohort.records import Records
from aliquot.errors import FileError, SettingsError, known_names
from aliquot.registry import READERS


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A dataset with a reader: ``read(folder, **options)``, or ``read(**options)`` where there is no folder."""

    name: str
    title: str
    files: str = ""  # what the folder holds; empty: no folder is needed
    licence: str  # and where it comes from
    read: Callable[..., Records]
    options: Mapping[str, Option] = field(default_factory=dict)
    needed: tuple[str, ...] = ()  # options without which it cannot be read

    def records(self, folder: Path | None = None, given: Mapping[str, Any] | None = None) -> Records:
        """The records in a folder; a wrong option is an error that lists what is known."""
        given = given or {}
        self._check_options(given)
        values = {name: self.options[name].value(name, value) for name, value in given.items()}
        if not self.files:
            return self.read(**values)
        if folder is None or not folder.is_dir():
            raise FileError(
                f"asked to read {self.name!r} from {str(folder)!r}, but that is no folder; it should hold {self.files}"
            )
        return self.read(folder, **values)

    def absolute(self, name: str, value: str) -> str:
        """The value of an option as it means the same from any folder."""
        return self.options[name].absolute(value) if name in self.options else value

    def _check_options(self, given: Mapping[str, Any]) -> None:
        unknown = [name for name in given if name not in self.options]
        if unknown:
            known = known_names(unknown[0], self.options, "its options are")
            raise SettingsError(f"asked to read {self.name!r} with the option {unknown[0]!r}; {known}")
        absent = [name for name in self.needed if name not in given]
        if absent:
            text = self.options[absent[0]].text
            raise SettingsError(f"to read {self.name!r} add --read {absent[0]}=VALUE; {absent[0]}: {text}")


def read_dataset(name: str, folder: Path | None = None, options: Mapping[str, Any] | None = None) -> Records:
    """The records of a known dataset; a wrong name or option is an error that lists what is known.

    >>> read_dataset("simulated:puh", options={"fraction": 0.05}).frame.shape
    (1936, 27)
    """
    return READERS[name].records(folder, options)
