"""Sentences of errors: what they name is an argument of Python, and an option where the command says them."""

import ast
import errno
import re
from pathlib import Path

import numpy as np
import pytest

import aliquot
from aliquot.cli import in_options
from aliquot.errors import remedy_of

PACKAGE = Path(aliquot.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z]")
ARGUMENT = re.compile(r"\b[a-z_]+=(?:\[…\]|…)")
THE_COMMANDS_OWN = ("cli/", "paper/", "run/source.py", "cohort/datasets.py", "cohort/options.py")  # only it gets there
OTHER_PROGRAMS = ("ray start --head",)


def sentences():
    """Every text in the code but documentation, with its file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        spoken = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in spoken:
                yield str(path.relative_to(PACKAGE)), node.value


def test_errors_that_python_raises_name_no_options_of_the_command():
    found = [
        (file, text)
        for file, text in sentences()
        if OPTION.search(text) and not file.startswith(THE_COMMANDS_OWN) and not any(o in text for o in OTHER_PROGRAMS)
    ]
    assert found == []


def test_the_command_has_an_option_for_every_argument_that_errors_name():
    named = [text for file, text in sentences() if ARGUMENT.search(text) and not file.startswith("cli/")]
    assert any("drop=[…]" in text for text in named)
    for text in named:
        said = in_options(text)
        assert not ARGUMENT.search(said), text
        assert "–" not in said


def test_in_options_knows_the_names_and_what_they_take():
    assert in_options("hours=… or step_hours=…") == "--hours N or --step-hours N"
    assert in_options("the column 'a=b' stays") == "the column 'a=b' stays"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        np._core._exceptions._ArrayMemoryError((10**6, 10**6), np.dtype("f4")),
        RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1 bytes."),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("x.so: failed to map segment from shared object"),
    ],
    ids=repr,
)
def test_too_little_memory_is_one_sentence(error):
    assert "more memory than there is" in remedy_of(error)
