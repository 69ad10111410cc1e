"""Imports go down the order of rooms in scripts/architecture.py, and never in a circle."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).parent.parent
SPEC = spec_from_file_location("architecture", ROOT / "scripts" / "architecture.py")
architecture = module_from_spec(SPEC)
SPEC.loader.exec_module(architecture)


def test_imports_keep_to_the_order_of_rooms():
    modules = architecture.read_package(ROOT / "src" / "aliquot")
    assert architecture.unknown_rooms(modules) == []
    assert architecture.upward_imports(modules) == []
    assert architecture.import_cycles(modules) == []


def test_offenders_are_found(tmp_path):
    package = tmp_path / "house"
    (package / "cohort").mkdir(parents=True)
    read = "from house.cohort.split import cut\nif TYPE_CHECKING:\n    from house.cli import main"
    split = "from . import read\ndef cut(a, b, /, c, *d, e, f, g, **h):\n    from house.cli import main"
    attic = "class A:\n    def a(self, b, c, d, e, f, g, h): ..."
    for name, text in {"cohort/read": read, "cohort/split": split, "attic": attic, "cli": "import house.attic"}.items():
        (package / f"{name}.py").write_text(text)
    modules = architecture.read_package(package)
    assert architecture.unknown_rooms(modules) == ["attic"]
    assert architecture.upward_imports(modules) == [("house.cohort.split", "house.cli")]
    assert architecture.import_cycles(modules) == [["house.cohort.read", "house.cohort.split"]]
    assert architecture.long_signatures(modules) == [("house.cohort.split.cut", 8)]
