"""The programs in the documentation run as they stand."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("page", ["series.md"])
def test_the_programs_of_a_page_run_one_after_the_other(page, capsys):
    programs = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), flags=re.DOTALL)
    assert programs
    names: dict = {}
    for program in programs:
        exec(compile(program, page, "exec"), names)
    assert capsys.readouterr().out
