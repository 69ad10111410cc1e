"""The command as people and scripts meet it: JSON, suggestions, completion, verbosity, colours, Ctrl-C."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from aliquot import registry

CHANGES = ("match.iterations=4", "network.hidden=[4]", "curve.steps=20", "evaluation.search_epochs=3")
TINY = ("--budget", "smoke", "--rows-per-class", "4", *(word for change in CHANGES for word in ("--set", change)))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(2)
    died = rng.integers(0, 2, 200)
    path = tmp_path_factory.mktemp("data") / "table.csv"
    ward = rng.choice(["icu", "hospice"], 200)
    pd.DataFrame({"age": rng.normal(60, 10, 200) + 8 * died, "ward": ward, "died": died}).to_csv(path, index=False)
    return path


# A process that makes the terminal on its standard input its own, as a login does, and becomes the command.
LOGIN = (
    "import fcntl, os, signal, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); "  # who runs tests in the background may ignore it
    "os.execv(sys.executable, [sys.executable, '-m', 'aliquot', *sys.argv[1:]])"
)


def in_a_terminal(words, *, ctrl_c_when=lambda: False, **environment):
    """Run the command in a terminal of its own, and press Ctrl-C there at a moment; exit code and what was shown."""
    terminal, other = pty.openpty()
    asked = [sys.executable, "-c", LOGIN, *map(str, words)]
    process = subprocess.Popen(asked, stdin=other, stdout=other, stderr=other, env={**os.environ, **environment})
    os.close(other)
    said, pressed, began = b"", False, time.monotonic()
    while time.monotonic() - began < 300:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                said += os.read(terminal, 65536)
            except OSError:  # the command has ended
                break
        if not pressed and ctrl_c_when():
            os.write(terminal, b"\x03")
            pressed = True
    code = process.wait()
    os.close(terminal)
    return code, said.decode()


@pytest.fixture(scope="module")
def stopped(table, tmp_path_factory):
    """A run that was stopped by Ctrl-C in a terminal, in a folder whose name needs quotes."""
    out = tmp_path_factory.mktemp("runs") / "my run"
    log = out / "private" / "log.txt"
    words = ("condense", table, "--target", "died", "--out", out, *TINY)
    return out, *in_a_terminal(words, ctrl_c_when=lambda: log.exists() and " experts (" in log.read_text())


@pytest.fixture(scope="module")
def run(stopped):
    """The same run, continued with the command that was printed."""
    out, _, said = stopped
    again = re.search(r"continue with: aliquot (.*?)\r?\n", said)[1]
    words = f"{sys.executable} -m aliquot {again} --verbose --json"
    done = subprocess.run(words, shell=True, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == 0, done.stderr
    return out, done.stdout, done.stderr


def test_ctrl_c_in_a_terminal_says_how_to_continue(stopped):
    out, code, said = stopped
    assert code == 130
    assert f"aliquot: stopped; continue with: aliquot resume '{out}'" in said
    assert "Traceback" not in said
    assert "expert length" in said  # a bar


def test_continued_as_printed_it_ends_and_prints_json_only(run):
    out, said, _ = run
    document = json.loads(said)
    assert document["release"] == str(out / "release")
    assert document["metrics"] == json.loads((out / "release" / "metrics.json").read_text("utf-8"))


def test_verbose_tells_stages_with_the_time_and_no_colours(run):
    _, _, said = run
    assert re.search(r"^\[ +\d+\.\d s\] matching: begins, 4 to do$", said, re.MULTILINE)
    assert "matching: done in" in said
    assert "\x1b" not in said


def test_json_is_all_that_is_on_standard_output(run, table, tmp_path, tell):
    out, *_ = run

    def document(*words):
        code, said, _ = tell(*words, "--json")
        assert code == 0
        return json.loads(said)

    metrics = json.loads((out / "release" / "metrics.json").read_text("utf-8"))
    assert document("inspect", out) == {"finished": True, "metrics": metrics}
    scores = document("evaluate", "--release", out, "--data", table, "--networks", "2")
    assert scores["patients"] == 200
    assert set(scores["after"]["auprc"]) == {"mean", "std", "n"}
    encoded = document("encode", "--release", out, table, "--out", tmp_path / "new.parquet")
    assert encoded["patients"] == len(pd.read_parquet(encoded["file"]))
    tried = document("transfer", out, "--networks", "mlp-1", "--count", "2", "--quiet")
    assert [line["network"] for line in tried["scores"]] == ["mlp-1", "mlp-1"]
    assert set(document("cohorts")) == set(registry.READERS)
    assert "jax" in document("version")


def test_an_unfinished_run_is_told_as_json(stopped, run, tmp_path, tell):
    (tmp_path / "private" / "store").mkdir(parents=True)
    code, said, _ = tell("inspect", tmp_path, "--json")
    assert code == 0
    assert json.loads(said) == {"finished": False, "kept": [], "continue": "the same command"}


@pytest.mark.parametrize(
    ("words", "suggested"),
    [
        (("condens",), "Did you mean 'condense'?"),
        (("condense", "--taget", "died"), "Did you mean --target?"),
        (("inspect", "--jsno", "x"), "Did you mean --json?"),
        (("--preset", "defualt"), "did you mean 'default'?"),
        (("--budget", "smok"), "did you mean 'smoke'?"),
        (("--method", "btn"), "did you mean 'btm'?"),
        (("--start", "gausian"), "did you mean 'gaussian'?"),
        (("--network", "lstm1"), "did you mean 'lstm-1'?"),
        (("--target", "dyed"), "did you mean 'died'?"),
        (("--target", "died", "--drop", "Age"), "did you mean 'age'?"),
        (("--target", "died", "--patient-id", "wards"), "did you mean 'ward'?"),
    ],
)
def test_a_typing_mistake_is_met_with_the_nearest_name(words, suggested, table, tmp_path, tell):
    known = ("condense", table, "--out", tmp_path / "x", "--target", "died")
    code, _, said = tell(*(words if words[0] in ("condens", "condense", "inspect") else (*known, *words)))
    assert code == 2
    assert suggested in " ".join(re.sub("[│╭╮╰╯─]", " ", said).split())
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("cohort", "suggested"), [("physionet", "physionet2012"), ("curail", "curial"), ("simulated:ohu", "simulated:ouh")]
)
def test_a_cohort_is_suggested(cohort, suggested, tmp_path, tell):
    path = () if ":" in cohort else ("--path", tmp_path)
    code, _, said = tell("condense", "--cohort", cohort, *path, "--out", tmp_path / "x")
    assert code == 2
    assert f"did you mean '{suggested}'?" in said


def test_another_network_is_suggested(run, tell):
    code, _, said = tell("transfer", run[0], "--networks", "mpl-1", "--quiet")
    assert code == 2
    assert "did you mean 'mlp-1'?" in said


def test_categories_are_never_suggested(table, tmp_path, tell):
    code, _, said = tell("condense", table, "--target", "ward", "--positive", "hospise", "--out", tmp_path / "x")
    assert code == 2
    assert "hospice" not in said


def test_quiet_and_verbose_at_once_is_a_mistake(table, tmp_path, tell):
    code, _, said = tell("condense", table, "--target", "died", "--out", tmp_path / "x", "-q", "-v")
    assert code == 2
    assert "both --quiet and --verbose" in said


def complete(*words):
    asked = {
        "_ALIQUOT_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("aliquot", *words)),
        "COMP_CWORD": str(len(words)),
    }
    code = "import sys; sys.argv = ['aliquot']; import aliquot.cli as c; c.app(prog_name='aliquot')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **asked})
    return done.stdout.split()


def test_the_shell_completes_names():
    assert complete("condense", "--method", "m") == ["mtt", "m3d"]
    assert complete("condense", "--preset", "paper-e") == ["paper-eicu"]
    assert complete("condense", "--preset", "nonsense", "--cohort", "physio") == [
        "physionet2012",
        "physionet2012-table",
    ]
    assert complete("transfer", "--networks", "mlp-1,ls") == ["mlp-1,lstm-1", "mlp-1,lstm-2"]
    assert "condense" in complete("con")


def test_the_shell_does_not_wait_for_jax():
    code = "import sys, aliquot.cli; sys.exit(bool({'jax', 'pandas', 'sklearn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("wanted", [True, False])
def test_no_colours_on_a_terminal_where_they_are_not_wanted(wanted, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    code, said = in_a_terminal(["condens"], TERM="xterm-256color", **({} if wanted else {"NO_COLOR": "1"}))
    assert code == 2
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-7]m", said)) == wanted
