"""Ctrl-C, kill and kill -9 in every stage, resume, same bytes."""

import contextlib
import random
import shutil
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest

SETTINGS = [
    "network.hidden=[4]",
    "expert.count=4",
    "expert.block=2",
    "expert.epochs=3",
    "curve.steps=40",
    "curve.check_every=20",
    "match.iterations=60",
    "match.judge_every=5",
    "match.student_steps=3",
    "evaluation.full_epochs=3",
    "evaluation.final_networks=2",
    "evaluation.search_epochs=3",
]
STAGES = [
    "expert length",
    "experts",
    "curves",
    "matching",
    "matching-*.safetensors",
    "full data",
    "held-out evaluation",
]


def command(*words):
    return [sys.executable, "-m", "aliquot", *words]


@pytest.fixture(scope="module")
def begin(tmp_path_factory):
    """The command that begins a run in a folder."""
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 400)
    table = tmp_path_factory.mktemp("data") / "table.csv"
    pd.DataFrame({"age": rng.normal(60, 10, 400) + 8 * died, "died": died}).to_csv(table, index=False)
    changes = [word for setting in SETTINGS for word in ("--set", setting)]
    asked = ["--target", "died", "--budget", "smoke", "--rows-per-class", "5", "--quiet", *changes]
    return lambda out: command("condense", str(table), *asked, "--out", str(out))


def reached(folder, stage) -> bool:
    if stage.endswith(".safetensors"):
        return any((folder / "private" / "store").glob(stage))
    log = folder / "private" / "log.txt"
    return log.exists() and f" {stage} (" in log.read_text()


def kill_in(stage, words, folder, rng) -> None:
    """Run a command and kill it at a random moment soon after it has reached a stage."""
    log = folder / "private" / "log.txt"
    if log.exists():
        log.unlink()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while not reached(folder, stage):
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.02)
        time.sleep(rng.random() * 0.2)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL


def attentive(words):
    """The command as a terminal runs it: in the background of a script, tests and all they start ignore Ctrl-C."""
    listening = "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); from aliquot.__main__ import main; main()"
    return [sys.executable, "-c", listening, *words[3:]]


def same_release(folder, other) -> bool:
    """Whether two runs released the same rows, and nothing is left of what was being written."""
    assert sorted(path.name for path in folder.iterdir()) == ["private", "release"]
    assert not list(folder.rglob("*.draft"))
    names = ("rows.parquet", "rows.csv", "encoder.json", "recipe.toml")
    return all((folder / "release" / name).read_bytes() == (other / "release" / name).read_bytes() for name in names)


@pytest.mark.parametrize("stages", [["matching-*.safetensors"], pytest.param(STAGES, marks=pytest.mark.slow)])
def test_killed_and_resumed_gives_the_same_bytes(begin, tmp_path, stages):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run(begin(whole), check=True, stdout=subprocess.DEVNULL)
    rng = random.Random(0)
    for number, stage in enumerate(stages):
        kill_in(stage, begin(broken) if number % 2 == 0 else command("resume", str(broken), "--quiet"), broken, rng)
        assert not (broken / "release").exists()
    subprocess.run(command("resume", str(broken), "--quiet"), check=True, stdout=subprocess.DEVNULL)
    assert same_release(broken, whole)


def stopped(words, numbers, *, when):
    """Exit code and standard error of a command that gets signals at a moment; None if it ended before."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if not when(process):
        return None, process.communicate()[1]
    for number in numbers:
        process.send_signal(number)
    return process.wait(), process.communicate()[1]


@pytest.mark.parametrize(
    ("numbers", "code"), [([signal.SIGINT] * 3, 130), ([signal.SIGTERM], 143)], ids=["Ctrl-C thrice", "kill"]
)
def test_stopped_by_the_user_says_how_to_continue(begin, tmp_path, numbers, code):
    out = tmp_path / "run"

    def when(process):
        while process.poll() is None and not reached(out, "experts"):
            time.sleep(0.02)
        return process.poll() is None

    found, said = stopped(attentive(begin(out)), numbers, when=when)
    assert found == code
    assert said == f"aliquot: stopped; continue with: aliquot resume {out}\n"
    assert not list(out.rglob("*.draft"))


@pytest.mark.slow
def test_stopped_and_killed_at_any_moment_gives_the_same_bytes(begin, tmp_path):
    """Forty stops, half of them Ctrl-C; each continues what the one before left, until a run ends before its moment."""
    whole, rng = tmp_path / "whole", random.Random(0)
    subprocess.run(begin(whole), check=True, stdout=subprocess.DEVNULL)
    began = time.monotonic()
    subprocess.run(begin(tmp_path / "again"), check=True, stdout=subprocess.DEVNULL)
    lasts = time.monotonic() - began
    left, broken, ends = {signal.SIGINT: 20, signal.SIGKILL: 20}, tmp_path / "broken", 0
    while any(left.values()) or broken.exists():
        number = rng.choice([one for one, times in left.items() if times] or [signal.SIGINT])
        moment = rng.uniform(0.1, 1.0) * lasts if any(left.values()) else None
        begun = (broken / "private" / "plan.json").exists()
        words = attentive(command("resume", str(broken), "--quiet") if begun else begin(broken))
        code, said = stopped(words, [number] * rng.choice([1, 1, 2]), when=partial(lasts_longer, moment))
        assert "Traceback" not in said
        if code is None:
            assert same_release(broken, whole)
            shutil.rmtree(broken)
            ends += 1
        else:
            assert as_a_shell_says(code) == 128 + number, said
            left[number] -= 1
    assert ends > 0


def as_a_shell_says(code: int) -> int:
    """The exit code; that of a process which a signal met before it listened is the signal's too."""
    return code if code >= 0 else 128 - code


def lasts_longer(seconds, process) -> bool:
    """Whether a process runs for more than so many seconds; None: until its end."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.poll() is None
