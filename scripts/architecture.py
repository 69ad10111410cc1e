"""The shape of the package as a table: sizes, long signatures, repeated names, string look-ups, order of imports.

``python scripts/architecture.py`` measures ``src/aliquot``; several folders give one column each, for example
``python scripts/architecture.py /path/to/old/src/aliquot src/aliquot --labels before,after``. Everything is read from
the source text; only ``--run`` imports anything. A module that is only named in a string is not seen.
"""

import argparse
import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

# Lowest first: a room may import rooms of its own level and of levels below.
ROOMS: tuple[str | tuple[str, ...], ...] = (
    ("errors", "loading", "identity", "seeds", "drafts", "context", "registry", "disclosure"),
    "cohort",
    "networks",
    "experts",
    "curves",
    "matching",
    "methods",
    "evaluate",
    "presets",
    "release",
    "run",
    "grid",
    "paper",
    ("api", "estimator"),
    "cli",
)
MOST_PARAMETERS = 7
SMALL_MODULE = 60  # lines
RESULTS = ("metrics",)
PARTS_OF_RESULTS = (  # what a part of a result, or the result of one cell, is called where it is read
    *("result", "results", "held_out", "scores", "ours", "chance", "calibration", "transfer", "ranking", "curves"),
    *("learning", "history", "copying", "histogram", "quantiles", "outside", "paths", "group", "line", "found"),
)
TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
TEMPLATE_LOOKUP = re.compile(r"\bmetrics[.\[]|(?<![\w.])(?!(?:\w+\.)*metrics\b)\w[\w.]*(?:\.get\(|\[)[\"']")

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    """One file of the package, parsed."""

    name: str  # dotted, as it is imported; an ``__init__.py`` goes by the name of its package
    is_package: bool
    tree: ast.Module
    lines: int


class Import(NamedTuple):
    """A module of the package that another one imports, and the place of the import."""

    target: str
    place: str  # "module", "function" or "typing"


Package = dict[str, Module]


def read_package(folder: Path) -> Package:
    """Every ``.py`` file below ``folder``, by its dotted name; the folder's own name is that of the package."""
    modules = (_read_module(path, folder.resolve()) for path in sorted(folder.resolve().rglob("*.py")))
    return {module.name: module for module in modules}


def _read_module(path: Path, folder: Path) -> Module:
    """One file, parsed."""
    text, is_package = path.read_text("utf-8"), path.name == "__init__.py"
    parts = path.parent.parts if is_package else path.with_suffix("").parts
    return Module(".".join(parts[len(folder.parts) - 1 :]), is_package, ast.parse(text), len(text.splitlines()))


def read_templates(folder: Path) -> dict[str, str]:
    """The text of every ``.html`` and ``.md`` file below ``folder``, by its path."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".md"))
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in paths}


def files(modules: Package) -> int:
    """The number of ``.py`` files."""
    return len(modules)


def lines(modules: Package) -> int:
    """The number of lines of all ``.py`` files, empty ones and comments included."""
    return sum(module.lines for module in modules.values())


def functions(modules: Package) -> list[tuple[str, Function]]:
    """Every ``def`` and ``async def`` with its dotted name: decorated ones, methods and nested ones too."""
    return [found for module in modules.values() for found in _functions(module.tree, module.name)]


def _functions(node: ast.AST, name: str) -> Iterator[tuple[str, Function]]:
    """The functions below a node, with their dotted names."""
    for child in ast.iter_child_nodes(node):
        below = f"{name}.{child.name}" if isinstance(child, Function | ast.ClassDef) else name
        if isinstance(child, Function):
            yield below, child
        yield from _functions(child, below)


def parameters(function: Function) -> int:
    """The number of parameters: positional, keyword-only, ``*args``, ``**kwargs``; not a first ``self`` or ``cls``."""
    given = function.args
    named = [one.arg for one in (*given.posonlyargs, *given.args)]
    packed = [one for one in (given.vararg, given.kwarg) if one]
    return len(named) + len(given.kwonlyargs) + len(packed) - (named[:1] in (["self"], ["cls"]))


def long_signatures(modules: Package) -> list[tuple[str, int]]:
    """Functions with more than ``MOST_PARAMETERS`` parameters, longest first; commands in ``cli`` count as well."""
    counts = [(name, parameters(function)) for name, function in functions(modules)]
    return sorted((one for one in counts if one[1] > MOST_PARAMETERS), key=lambda one: -one[1])


def longest_functions(modules: Package, most: int = 5) -> list[tuple[str, int]]:
    """The functions with most lines, from ``def`` to the end: docstring included, decorators not."""
    lengths = [(name, (node.end_lineno or node.lineno) - node.lineno + 1) for name, node in functions(modules)]
    return sorted(lengths, key=lambda one: -one[1])[:most]


def definitions(module: Module) -> set[str]:
    """Names that a module defines at its top level by ``def``, ``class`` or assignment, not by import."""
    found: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            stored = (one for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
            found |= {one.id for one in stored if isinstance(one.ctx, ast.Store)}
    return found


def repeated_names(modules: Package) -> dict[str, list[str]]:
    """Public names (no leading underscore) that two or more modules define at their top level, with these modules."""
    homes: dict[str, list[str]] = {}
    for module in modules.values():
        for name in definitions(module):
            homes.setdefault(name, []).append(module.name)
    return {name: homes[name] for name in sorted(homes) if len(homes[name]) > 1 and not name.startswith("_")}


def string_lookups(modules: Package, names: Sequence[str] = RESULTS) -> dict[str, int]:
    """Per module, how often something called by one of ``names`` is read with a constant string key.

    Counted are ``x["key"]`` (not as the target of an assignment) and ``x.get("key", …)`` where ``x`` is a variable or
    an attribute of that name. A chain such as ``result.metrics["data"]["train"]`` counts once. A search of the text
    for ``metrics["`` and ``metrics.get(`` finds somewhat less: it misses single quotes, as within f-strings.
    """
    counts = {module.name: sum(_looks_up(n, names) for n in ast.walk(module.tree)) for module in modules.values()}
    return {name: count for name, count in counts.items() if count}


def _looks_up(node: ast.AST, names: Sequence[str]) -> bool:
    """Whether a node reads something called by one of ``names`` with a constant string key."""
    match node:
        case (
            ast.Subscript(value=whole, slice=ast.Constant(value=str()), ctx=ast.Load())
            | ast.Call(func=ast.Attribute(value=whole, attr="get"), args=[ast.Constant(value=str()), *_])
        ):
            return getattr(whole, "id", getattr(whole, "attr", None)) in names
    return False


def template_lookups(templates: dict[str, str]) -> dict[str, int]:
    """Per template, the look-ups within its ``{{ … }}`` and ``{% … %}``.

    Counted are ``metrics.…`` and ``metrics[…]``, once per chain, and ``x.get("key")`` and ``x["key"]`` of all else.
    Jinja writes attributes of objects and keys of dictionaries alike: ``metrics.…`` counts whatever ``metrics`` is.
    """
    counts = {name: len(TEMPLATE_LOOKUP.findall(" ".join(TAG.findall(text)))) for name, text in templates.items()}
    return {name: count for name, count in counts.items() if count}


def placed(node: ast.AST, place: str = "module") -> Iterator[tuple[ast.AST, str]]:
    """A node and all statements below it, each with its place: at module level, in a function, or for typing only."""
    yield node, place
    inner = "function" if place == "module" and isinstance(node, Function) else place
    typing_only = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    guarded = node.body if isinstance(node, ast.If) and ast.unparse(node.test) in typing_only else []
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from placed(child, "typing" if child in guarded else inner)


def imports(modules: Package) -> dict[str, set[Import]]:
    """Per module, the modules of the package that it imports, each with the place of the import.

    ``from a.b import c`` imports ``a.b.c`` if that is a module, unless ``a/b/__init__.py`` gives ``c`` another meaning.
    """
    meanings = {name: _meanings(module) for name, module in modules.items() if module.is_package}
    return {
        module.name: {
            Import(target, place)
            for node, place in placed(module.tree)
            for target in _targets(node, module, modules, meanings)
        }
        for module in modules.values()
    }


def _meanings(package: Module) -> set[str]:
    """Names that an ``__init__.py`` defines or imports from elsewhere: they are not modules of the package."""
    found = definitions(package)
    for node, place in placed(package.tree):
        if isinstance(node, ast.ImportFrom) and place == "module" and _base(node, package) != package.name:
            found |= {one.asname or one.name for one in node.names}
    return found


def _targets(node: ast.AST, module: Module, modules: Package, meanings: dict[str, set[str]]) -> set[str]:
    """The modules of the package that a statement imports; none if it is no import."""
    if isinstance(node, ast.Import):
        return {one.name for one in node.names} & modules.keys()
    if not isinstance(node, ast.ImportFrom):
        return set()
    base = _base(node, module)
    names = {one.name for one in node.names}
    below = {name for name in names - meanings.get(base, set()) if f"{base}.{name}" in modules}
    return {f"{base}.{name}" for name in below} | ({base} & modules.keys() if names - below else set())


def _base(node: ast.ImportFrom, module: Module) -> str:
    """The absolute name of what ``from … import`` imports from."""
    package = module.name.split(".")[: None if module.is_package else -1]
    start = package[: len(package) - node.level + 1] if node.level else []
    return ".".join([*start, *([node.module] if node.module else [])])


def single_use_modules(modules: Package) -> dict[str, str]:
    """Modules under ``SMALL_MODULE`` lines that exactly one other module imports, with that importer.

    Imports in functions and for the type checker count, and so does a package's ``__init__.py``; ``__init__.py`` files
    are themselves not listed.
    """
    importers: dict[str, set[str]] = {}
    for name, found in imports(modules).items():
        for one in found:
            importers.setdefault(one.target, set()).add(name)
    return {
        name: next(iter(users))
        for name, users in sorted(importers.items())
        if len(users) == 1 and not modules[name].is_package and modules[name].lines < SMALL_MODULE
    }


def import_cycles(modules: Package) -> list[list[str]]:
    """Groups of modules that import each other, directly or in a circle, by imports at module level.

    Imports in functions and under ``TYPE_CHECKING`` do not count. To import ``a.b.c`` also runs ``a/b/__init__.py``:
    that counts as an import of ``a.b`` by every module outside ``a.b``.
    """
    graph = {
        name: {ran for one in found if one.place == "module" for ran in _runs(one.target, name)}
        for name, found in imports(modules).items()
    }
    reached = {name: _reached(graph, name) for name in graph}
    cycles = {frozenset(other for other in reached[name] if name in reached[other]) for name in graph}
    return sorted(sorted(cycle) for cycle in cycles if cycle)


def _runs(target: str, importer: str) -> Iterator[str]:
    """A module and the packages around it that do not contain the importer."""
    yield target
    while target := target.rpartition(".")[0]:
        if not f"{importer}.".startswith(f"{target}."):
            yield target


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """All that can be reached from ``start``; ``start`` itself only if a circle leads back to it."""
    reached: set[str] = set()
    ahead = [start]
    while ahead:
        new = graph.get(ahead.pop(), set()) - reached
        reached |= new
        ahead.extend(new)
    return reached


def room_of(name: str) -> str:
    """The top-level module or sub-package that a dotted name is in; empty for the package's own ``__init__``."""
    return name.split(".")[1] if "." in name else ""


def unknown_rooms(modules: Package, rooms: Sequence[str | tuple[str, ...]] = ROOMS) -> list[str]:
    """Rooms that the order of rooms does not name; ``__init__.py`` and ``__main__.py`` of the package need no place."""
    return sorted({room_of(name) for name in modules} - _levels(rooms).keys() - {"", "__main__"})


def upward_imports(modules: Package, rooms: Sequence[str | tuple[str, ...]] = ROOMS) -> list[tuple[str, str]]:
    """Pairs of modules of which the first imports the second from a room above its own.

    Imports in functions count, those under ``TYPE_CHECKING`` do not. The package's own ``__init__.py`` and
    ``__main__.py`` may import anything; unknown rooms are left to :func:`unknown_rooms`.
    """
    levels = _levels(rooms)
    pairs = {(name, one.target) for name, found in imports(modules).items() for one in found if one.place != "typing"}
    ranked = ((pair, [levels.get(room_of(name)) for name in pair]) for pair in pairs)
    return sorted(pair for pair, (own, other) in ranked if own is not None and other is not None and own < other)


def _levels(rooms: Sequence[str | tuple[str, ...]]) -> dict[str, int]:
    """The level of each room, from the order of rooms."""
    return {
        room: level for level, named in enumerate(rooms) for room in ((named,) if isinstance(named, str) else named)
    }


class Figure(NamedTuple):
    """One cell of the table, and the lines that ``--details`` shows for it."""

    shown: str
    details: Sequence[str] = ()


def measured(folder: Path) -> dict[str, Figure]:
    """All measures of one package, by title."""
    modules = read_package(folder)
    signatures, longest = long_signatures(modules), longest_functions(modules)
    commands = sum(room_of(name) == "cli" for name, _ in signatures)
    split = f"in cli/: {commands}, elsewhere: {len(signatures) - commands}"
    return {
        "files": Figure(str(files(modules))),
        "lines": Figure(str(lines(modules))),
        f"functions with more than {MOST_PARAMETERS} parameters": Figure(
            str(len(signatures)), [split, *(f"{name}: {count}" for name, count in signatures)]
        ),
        "public names defined in more than one module": _counted(
            [f"{name}: {', '.join(homes)}" for name, homes in repeated_names(modules).items()]
        ),
        "string look-ups into `metrics`": _summed(string_lookups(modules), "modules"),
        "string look-ups into parts of results": _summed(string_lookups(modules, PARTS_OF_RESULTS), "modules"),
        "look-ups into results in templates": _summed(template_lookups(read_templates(folder)), "templates"),
        f"modules under {SMALL_MODULE} lines with one importer": _counted(
            [f"{name} (by {user})" for name, user in single_use_modules(modules).items()]
        ),
        "lines of the longest function": Figure(
            " ".join(f"{count} (`{name}`)" for name, count in longest[:1]),
            [f"{name}: {count}" for name, count in longest],
        ),
        "import cycles": _counted([", ".join(cycle) for cycle in import_cycles(modules)]),
        "imports of a higher room": _counted([f"{name} imports {other}" for name, other in upward_imports(modules)]),
        "rooms without a place in the order": _counted(unknown_rooms(modules)),
    }


def calls_per_run(folder: Path, function: str = "split_patients") -> Figure:
    """How often a function is called in a whole small run, condensed in a process of its own."""
    code = f"""
import sys
calls = 0
def watch(frame, event, _):
    global calls
    calls += event == "call" and frame.f_code.co_name == {function!r}
sys.setprofile(watch)
import aliquot
from aliquot.cohort.embedded import support2_frame
aliquot.condense(support2_frame(), "died_within_30_days", method="kmeans", rows_per_class=3, budget="smoke")
print(calls)
"""
    environment = {**os.environ, "PYTHONPATH": str(folder.resolve().parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return Figure(done.stdout.strip())


def _counted(found: Sequence[str]) -> Figure:
    """A number of offenders."""
    return Figure(str(len(found)), found)


def _summed(counts: dict[str, int], what: str) -> Figure:
    """A sum over modules or templates."""
    most = sorted(counts.items(), key=lambda item: -item[1])
    return Figure(f"{sum(counts.values())} in {len(counts)} {what}", [f"{name}: {count}" for name, count in most])


def table(columns: dict[str, dict[str, Figure]]) -> str:
    """The Markdown table: one line per measure, one column per folder."""
    titles = next(iter(columns.values()))
    body = ([title, *(figures[title].shown for figures in columns.values())] for title in titles)
    rows = (["measure", *columns], ["---", *("---:" for _ in columns)], *body)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def details(columns: dict[str, dict[str, Figure]]) -> str:
    """What stands behind the table: a heading and a list per measure and folder."""
    return "\n".join(
        f"\n## {title} ({label})\n\n" + "\n".join(f"- {line}" for line in figures[title].details)
        for title in next(iter(columns.values()))
        for label, figures in columns.items()
        if figures[title].details
    )


def main() -> None:
    """Print the table for the folders named on the command line."""
    parser = argparse.ArgumentParser(description="The shape of the package as a Markdown table.")
    parser.add_argument("folders", nargs="*", type=Path, default=[Path("src/aliquot")], metavar="SRC_DIR")
    parser.add_argument("--labels", help="titles of the columns, separated by commas; otherwise the folders")
    parser.add_argument("--details", action="store_true", help="also list what was counted")
    parser.add_argument("--run", action="store_true", help="also count calls in a small run, which takes a minute")
    asked = parser.parse_args()
    labels = asked.labels.split(",") if asked.labels else [str(folder) for folder in asked.folders]
    if not len(asked.folders) == len(labels) == len(set(labels)):
        parser.error(f"{len(asked.folders)} folders need as many different labels")
    if missing := [str(folder) for folder in asked.folders if not (folder / "__init__.py").is_file()]:
        parser.error(f"no package in {', '.join(missing)}")
    columns = {label: measured(folder) for label, folder in zip(labels, asked.folders, strict=True)}
    if asked.run:
        for label, folder in zip(labels, asked.folders, strict=True):
            columns[label]["`split_patients` calls per run"] = calls_per_run(folder)
    print(table(columns))
    if asked.details:
        print(details(columns))


if __name__ == "__main__":
    main()
