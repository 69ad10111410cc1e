"""The documentation is true: its programs run, its commands and options exist, its links lead somewhere."""

import re
import shlex
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer.main

from aliquot.cli import app, main
from aliquot.cohort import embedded

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
FORBIDDEN = re.compile(r"/(?:work|tmp|root|home)/|pypi\.org|registry\.npmjs")  # of one machine, or of a registry
RUN = ("quickstart.md", "command-line.md")  # pages whose commands in ```sh fences are run


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def programs(page: Path) -> list[str]:
    return [code for language, code in FENCE.findall(page.read_text("utf-8")) if language == "python"]


def commands(page: Path, *languages: str) -> list[list[str]]:
    """The words of each ``aliquot …`` line in fences, up to a comment, a pipe or a redirection."""
    blocks = [code for language, code in FENCE.findall(page.read_text("utf-8")) if language in languages]
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    found = [shlex.split(line, comments=True) for line in lines if line.startswith("aliquot ")]
    return [words[1 : next((i for i, word in enumerate(words) if word in "|>&&"), None)] for words in found]


def inline_commands(page: Path) -> list[list[str]]:
    text = FENCE.sub("", page.read_text("utf-8"))
    return [shlex.split(code)[1:] for code in re.findall(r"`(aliquot [a-z][^`]*)`", text)]


@pytest.fixture(scope="module")
def ward(tmp_path_factory):
    """A folder with the table that the quick start speaks of."""
    folder = tmp_path_factory.mktemp("ward")
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 200)
    table = {"mrn": np.arange(200), "age": rng.normal(60, 10, 200) + 9 * died, "ward": rng.choice(["icu", "hdu"], 200)}
    pd.DataFrame({**table, "died": died}).to_csv(folder / "admissions.csv", index=False)
    return folder


@pytest.mark.parametrize("page", [page for page in PAGES if programs(page)], ids=name_of)
def test_the_programs_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch, capsys):
    some = embedded.support2_frame().head(2000)  # the same programs on fewer patients: seconds matter here
    monkeypatch.setattr(embedded, "support2_frame", lambda: some.copy())
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for program in programs(page):
        if "import torch" in program and find_spec("torch") is None:
            continue  # of the extra `bench`
        exec(compile(program, page.name, "exec"), names)
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", RUN)
def test_the_commands_of_a_page_run_as_printed(name, ward, monkeypatch, capsys):
    monkeypatch.chdir(ward)
    asked = commands(DOCS / name, "sh")
    assert asked
    for words in asked:
        monkeypatch.setattr(sys, "argv", ["aliquot", *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code, (words, capsys.readouterr())


def test_the_page_of_files_says_what_the_terminal_says(tmp_path, monkeypatch):
    spec = spec_from_file_location("intake", ROOT / "scripts" / "intake.py")
    intake = module_from_spec(spec)
    spec.loader.exec_module(intake)
    monkeypatch.setenv("COLUMNS", "80")
    intake.make_files(tmp_path)
    page = intake.PAGE.read_text("utf-8")
    assert intake.told(page, tmp_path) == page, "run: python scripts/intake.py"
    assert not list((tmp_path / "run").glob("*"))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_and_options_exist(page):
    for words in [*commands(page, "", "sh", "console", "bash"), *inline_commands(page)]:
        command, said = typer.main.get_command(app), f"aliquot {' '.join(words)}"
        while words and words[0] in getattr(command, "commands", {}):
            command, words = command.commands[words[0]], words[1:]
        assert words[:1] == ["--help"] or not getattr(command, "commands", {}) or words[0].startswith("--"), said
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for word in words:
            if re.match(r"-{1,2}[a-z]", word):
                assert word.partition("=")[0] in known | {"--help"}, f"{word} in: {said}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings(page):
    text = FENCE.sub("", page.read_text("utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, heading = target.partition("#")
        if target.startswith(("https://", "http://")):
            continue
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        if heading:
            assert heading in headings(there), target


def headings(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text("utf-8")), flags=re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_no_path_of_a_machine_and_no_registry(page):
    assert not FORBIDDEN.search(page.read_text("utf-8"))


def test_every_page_is_in_the_navigation():
    listed = {
        DOCS / name for name in re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    }
    assert all(page.is_file() for page in listed)
    decisions = DOCS / "decisions" / "index.md"
    listed |= {decisions.parent / name for name in re.findall(r"\(([\w-]+\.md)\)", decisions.read_text("utf-8"))}
    assert set(DOCS.rglob("*.md")) <= listed


def test_pictures_fetch_nothing():
    drawn = (DOCS / "figures" / "demo.svg").read_text("utf-8")
    assert set(re.findall(r"https?://[^\s\"')<]+", drawn)) == {"http://www.w3.org/2000/svg"}
    assert "<script" not in drawn


def test_the_numbers_on_the_page_of_sizes_were_printed_elsewhere():
    printed = " ".join((DOCS / name).read_text("utf-8") for name in ("results.md", "methods.md"))
    said = set(re.findall(r"\d+\.\d(?= %)", (DOCS / "sizes.md").read_text("utf-8")))
    assert said
    assert not {number for number in said if number not in printed}


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="`make docs` installs it")
def test_the_site_builds_and_fetches_nothing(tmp_path):
    import subprocess

    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    for page in tmp_path.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.findall(r"<(?:script|img|iframe|source)[^>]*\bsrc=[\"']?https?:", text)
        assert not re.findall(r"<link[^>]*\brel=[\"']?(?:stylesheet|preconnect|preload)[^>]*https?:", text)
