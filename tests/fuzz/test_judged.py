"""What the fuzz would say of loaders that are broken: it can fail."""

import time

import pytest

from aliquot.errors import FileError
from aliquot.release import bundle

from . import judged
from .cases import Case
from .made import PLANTED


@pytest.fixture
def said(whole, tmp_path, monkeypatch):
    """What is wrong with reading a whole release where results are read in another way."""

    def ask(read_results, words=("inspect",)) -> list[str]:
        monkeypatch.setattr(bundle, "read_results", read_results)
        case = Case("planted", [*words, str(whole / "table")])
        before = set(tmp_path.rglob("*"))
        return judged.problems(case, judged.run(case), before, set(tmp_path.rglob("*")))

    return ask


def raising(error):
    def read(*_):
        raise error

    return read


def test_a_loader_that_is_right_has_no_problem(said):
    assert said(bundle.read_results) == []


def test_an_unexpected_exception_is_reported(said):
    (problem,) = said(raising(KeyError("held_out")))
    assert problem.startswith("planted: exit code 1: aliquot: internal error (KeyError)")


@pytest.mark.parametrize("secret", PLANTED)
def test_what_was_planted_is_reported(said, secret):
    assert any("says what was planted" in problem for problem in said(raising(FileError(f"found {secret}"))))


def test_a_small_count_is_reported(said):
    assert any("a small count" in problem for problem in said(raising(FileError("found 7 patients"))))
    assert said(raising(FileError("found 17 patients or <10 patients"))) == []


def test_more_than_a_sentence_is_reported(said):
    assert any("more than a sentence" in problem for problem in said(raising(FileError("one\ntwo"))))


def test_what_is_left_behind_is_reported(said, tmp_path):
    def read(*_):
        (tmp_path / ".x.draft").write_text("half")
        raise FileError("too late")

    problems = said(read)
    assert any("left behind" in problem for problem in problems)
    assert any("left a draft" in problem for problem in problems)


def test_a_hang_is_reported(monkeypatch):
    monkeypatch.setattr(judged, "SECONDS", 0.05)
    case = Case("planted", call=lambda: time.sleep(60))
    assert judged.problems(case, judged.run(case), set(), set()) == ["planted: exit code none, it hangs: "]


def test_a_loader_that_checks_nothing_is_found(whole, tmp_path, monkeypatch):
    monkeypatch.setattr("aliquot.loading.require", lambda holds: None)
    monkeypatch.setattr("aliquot.release.contents.require", lambda holds: None)
    monkeypatch.setattr("aliquot.loading.typed", lambda values, kind: values)
    monkeypatch.setattr("aliquot.evaluate.record.typed", lambda values, kind: values)
    assert judged.found(whole, tmp_path, range(0, 40), seed=1) != []
